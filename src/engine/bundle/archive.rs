//! The archive that a plan file is, read in memory: names and contents, and nothing on a disk.
//!
//! Whoever made it may be hostile, so sizes are bounded, no name may be there twice, and what does not
//! add up is no archive. Formats beyond what Go writes for a plan are not known.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// The most bytes of all contents together.
const LARGEST: usize = 1 << 30;

/// The signatures of the parts.
const END: [u8; 4] = *b"PK\x05\x06";
const LISTED: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// The sizes of the parts before their names.
const END_SIZE: usize = 22;
const LISTED_SIZE: usize = 46;
const LOCAL_SIZE: usize = 30;

/// How far from the end the last part may begin: a comment may follow it.
const LONGEST_COMMENT: usize = 1 << 16;

const STORED: usize = 0;
const DEFLATED: usize = 8;

/// Returns what is in an archive, by name; nothing if it cannot be read as a whole.
pub(super) fn entries(bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let end = end_of(bytes)?;
    let (count, mut at) = (number(bytes, end + 10, 2)?, number(bytes, end + 16, 4)?);
    let (mut found, mut room) = (BTreeMap::new(), LARGEST);
    for _ in 0..count {
        let entry = Listed::at(bytes, at)?;
        let content = entry.content(bytes, room)?;
        room = room.checked_sub(content.len())?;
        at = entry.next;
        if found.insert(entry.name, content).is_some() {
            return None;
        }
    }
    Some(found)
}

fn end_of(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_SIZE)?;
    let first = last.saturating_sub(LONGEST_COMMENT);
    (first..=last).rev().find(|at| bytes.get(*at..at + END.len()) == Some(&END))
}

/// One entry of the list at the end.
struct Listed {
    name: String,
    method: usize,
    packed: usize,
    size: usize,
    begins: usize,
    next: usize,
}

impl Listed {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        if bytes.get(at..at.checked_add(LISTED.len())?)? != LISTED {
            return None;
        }
        let field = |offset: usize, size: usize| number(bytes, at + offset, size);
        let name_ends = at.checked_add(LISTED_SIZE)?.checked_add(field(28, 2)?)?;
        Some(Self {
            name: String::from_utf8(bytes.get(at + LISTED_SIZE..name_ends)?.to_vec()).ok()?,
            method: field(10, 2)?,
            packed: field(20, 4)?,
            size: field(24, 4)?,
            begins: field(42, 4)?,
            next: name_ends.checked_add(field(30, 2)?)?.checked_add(field(32, 2)?)?,
        })
    }

    fn content(&self, bytes: &[u8], room: usize) -> Option<Vec<u8>> {
        let at = self.begins;
        if self.size > room || bytes.get(at..at.checked_add(LOCAL.len())?)? != LOCAL {
            return None;
        }
        let (name, extra) = (number(bytes, at + 26, 2)?, number(bytes, at + 28, 2)?);
        let data = at.checked_add(LOCAL_SIZE)?.checked_add(name)?.checked_add(extra)?;
        let packed = bytes.get(data..data.checked_add(self.packed)?)?;
        let content = match self.method {
            STORED => packed.to_vec(),
            DEFLATED => {
                let mut content = Vec::new();
                let limit = u64::try_from(self.size).ok()?.checked_add(1)?;
                DeflateDecoder::new(packed).take(limit).read_to_end(&mut content).ok()?;
                content
            }
            _ => return None,
        };
        (content.len() == self.size).then_some(content)
    }
}

/// Reads a number of a few bytes, the smallest first.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(size)?)?;
    Some(digits.iter().rev().fold(0, |number, digit| number << 8 | usize::from(*digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an archive with one stored entry for each pair.
    fn archive(pairs: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        let short = |number: usize| u16::try_from(number).expect("small").to_le_bytes();
        let long = |number: usize| u32::try_from(number).expect("small").to_le_bytes();
        for (name, content) in pairs {
            let begins = bytes.len();
            let sizes = [long(content.len()), long(content.len())].concat();
            bytes.extend(LOCAL.iter().chain(&[0; 14]).chain(&sizes));
            bytes.extend(short(name.len()).iter().chain(&[0; 2]).chain(name.as_bytes()).chain(*content));
            list.extend(LISTED.iter().chain(&[0; 16]).chain(&sizes));
            list.extend(short(name.len()).iter().chain(&[0; 12]).chain(&long(begins)).chain(name.as_bytes()));
        }
        let at = bytes.len();
        bytes.extend(&list);
        bytes.extend(END.iter().chain(&[0; 4]).chain(&short(pairs.len())).chain(&short(pairs.len())));
        bytes.extend(long(list.len()).iter().chain(&long(at)).chain(&[0; 2]));
        bytes
    }

    #[test]
    fn what_is_in_an_archive_is_read_by_name() {
        let read = entries(&archive(&[("a", b"one"), ("b/c", b"")])).expect("an archive");

        assert_eq!(read.get("a").map(Vec::as_slice), Some(b"one".as_slice()));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn a_name_that_is_there_twice_makes_it_no_archive() {
        assert!(entries(&archive(&[("a", b"one"), ("a", b"two")])).is_none());
    }

    #[test]
    fn no_damage_is_a_panic_and_no_size_is_believed() {
        let whole = archive(&[("a", b"one"), ("b", b"two")]);
        for end in 0..whole.len() {
            let _ = entries(&whole[..end]);
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut odd = whole.clone();
                odd[at] = value;
                let _ = entries(&odd);
            }
        }
        assert!(entries(b"").is_none() && entries(&[0xff; 64]).is_none());
    }
}
