//! The ini store: sections of `name = value`, read and written as Go's ini.v1 does for sops.
//!
//! A section's comment is its first item, a key's comment the item behind the key: that is
//! the order in which sops encrypts them. Comments below the last key are lost, as in sops.

use super::flat;
use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Comment, Document, Item, Value};

/// The section of the keys above the first header.
const DEFAULT: &str = "DEFAULT";

pub(super) fn load(bytes: &[u8]) -> Result<Vec<Document>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::invalid("the text is not UTF-8").at(format!("byte {}", error.valid_up_to()))
    })?;
    let mut reader = Reader::new(text);
    while let Some(line) = reader.next_line() {
        let number = reader.number;
        reader.read(line.trim_start()).map_err(|error| error.at(format!("line {number}")))?;
    }
    let sections = reader.sections.into_iter();
    Ok(vec![sections.map(|(name, items)| Item::Pair(name, Value::Map(items))).collect()])
}

struct Reader<'a> {
    lines: std::str::SplitInclusive<'a, char>,
    number: usize,
    sections: Vec<(String, Vec<Item>)>,
    comment: String,
    unnamed: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            lines: text.split_inclusive('\n'),
            number: 0,
            sections: vec![(DEFAULT.to_owned(), Vec::new())],
            comment: String::new(),
            unnamed: 0,
        }
    }

    fn next_line(&mut self) -> Option<&'a str> {
        self.number += 1;
        self.lines.next()
    }

    fn read(&mut self, line: &'a str) -> Result<()> {
        match line.chars().next() {
            None => Ok(()),
            Some('#' | ';') => {
                self.comment.push_str(line);
                Ok(())
            }
            Some('[') => self.read_header(line),
            Some(_) => self.read_key(line),
        }
    }

    fn read_header(&mut self, line: &str) -> Result<()> {
        let Some(end) = line.rfind(']') else {
            return Err(Error::invalid("a section has no `]`"));
        };
        if end == 1 {
            return Err(Error::invalid("a section has no name"));
        }
        if let Some(at) = line[end..].find(['#', ';']) {
            self.comment.push_str(&line[end + at..]);
        }
        let comment = self.take_comment().into_iter().collect();
        match &line[1..end] {
            DEFAULT => self.sections.push((DEFAULT.to_owned(), comment)),
            name => self.sections.push((name.to_owned(), comment)),
        }
        self.unnamed = 0;
        Ok(())
    }

    /// Takes the comment gathered so far, without the sign of its first line.
    fn take_comment(&mut self) -> Option<Item> {
        let comment = std::mem::take(&mut self.comment);
        let comment = comment.trim();
        let text = match comment.chars().next()? {
            ';' => comment.trim_start_matches([';', ' ']),
            '#' => comment.trim_start_matches(['#', ' ']),
            _ => comment,
        };
        Some(Item::Comment(Comment { text: text.to_owned().into(), beside: false }))
    }

    fn read_key(&mut self, line: &'a str) -> Result<()> {
        let (mut name, rest) = split_key(line)?;
        if name == "-" {
            self.unnamed += 1;
            name = format!("#{}", self.unnamed);
        }
        let value = self.read_value(rest)?;
        let comment = self.take_comment();
        let Some((section, items)) = self.sections.last_mut() else { return Ok(()) };
        if items.iter().any(|item| matches!(item, Item::Pair(known, _) if *known == name)) {
            return Err(Error::invalid(format!("the key `{name}` is there twice in section `{section}`")));
        }
        items.push(Item::Pair(name, Value::text(value)));
        items.extend(comment);
        Ok(())
    }

    fn read_value(&mut self, rest: &str) -> Result<String> {
        let rest = rest.trim_start();
        for quote in ["\"\"\"", "`"] {
            if let Some(inner) = rest.strip_prefix(quote).filter(|_| quote.len() == 1 || rest.len() > 3) {
                return match inner.rfind(quote) {
                    Some(end) => Ok(inner[..end].to_owned()),
                    None => self.read_lines(inner, quote),
                };
            }
        }
        let mut value = rest.trim();
        if let Some(start) = value.strip_suffix('\\') {
            return Ok(self.read_continued(start));
        }
        if let Some(at) = value.find(['#', ';']) {
            self.comment.push_str(&value[at..]);
            value = value[..at].trim();
        }
        Ok(unquoted(value).to_owned())
    }

    /// Reads a quoted value over several lines.
    fn read_lines(&mut self, start: &str, quote: &str) -> Result<String> {
        let mut value = start.to_owned();
        while let Some(line) = self.next_line() {
            let Some(end) = line.rfind(quote) else {
                value.push_str(line);
                continue;
            };
            let behind = &line[end + quote.len()..];
            if behind.trim().ends_with('\\') {
                value.push_str(line);
                continue;
            }
            value.push_str(&line[..end]);
            if let Some(at) = behind.find(['#', ';']) {
                self.comment.push_str(behind[at..].trim());
            }
            return Ok(value);
        }
        Err(Error::invalid("a quoted value does not end"))
    }

    /// Reads a value whose lines end with a backslash.
    fn read_continued(&mut self, start: &str) -> String {
        let mut value = start.to_owned();
        while let Some(line) = self.next_line().map(str::trim).filter(|line| !line.is_empty()) {
            value.push_str(line);
            let Some(start) = value.strip_suffix('\\') else { break };
            value.truncate(start.len());
        }
        value
    }
}

/// Parts a line into its key and what stands behind the sign.
fn split_key(line: &str) -> Result<(String, &str)> {
    let without = || Error::invalid("a line has neither `=` nor `:`");
    let quote = match line.chars().next() {
        Some('"') if line.len() > 6 && line.starts_with("\"\"\"") => "\"\"\"",
        Some('"') => "\"",
        Some('`') => "`",
        _ => "",
    };
    let quoted = &line[quote.len()..];
    let end = if quote.is_empty() {
        line.find(['=', ':']).ok_or_else(without)?
    } else {
        quoted.find(quote).ok_or_else(|| Error::invalid("a quoted key does not end"))?
    };
    if quote.is_empty() && end == 0 {
        return Err(Error::invalid("a line has no key"));
    }
    let behind = &quoted[end + quote.len()..];
    let sign = behind.find(['=', ':']).ok_or_else(without)?;
    Ok((quoted[..end].trim().to_owned(), &behind[sign + 1..]))
}

fn unquoted(value: &str) -> &str {
    for quote in ['\'', '"'] {
        let inner = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            return inner;
        }
    }
    value
}

pub(super) fn write(documents: &[Document]) -> Result<Vec<u8>> {
    let mut out = String::new();
    let sections: Vec<(&String, &Value)> = documents
        .iter()
        .flatten()
        .filter_map(|item| match item {
            Item::Pair(name, value) => Some((name, value)),
            Item::Comment(_) => None,
        })
        .collect();
    for (at, (name, value)) in sections.iter().enumerate() {
        let Value::Map(items) = value else {
            return Err(Error::invalid(format!("ini cannot hold a value outside a section, as `{name}` is")));
        };
        let section = Section::of(items);
        out.push_str(&section.comment.map_or_else(String::new, |comment| written_comment(comment, "")));
        if at == 0 && name.to_uppercase() == DEFAULT {
            if section.keys.is_empty() {
                continue;
            }
        } else {
            out.push_str(&format!("[{name}]\n"));
        }
        section.write(name, &mut out)?;
        if at + 1 < sections.len() {
            out.push('\n');
        }
    }
    Ok(out.into_bytes())
}

/// A section as ini.v1 holds it: every key has at most one comment.
struct Section<'a> {
    comment: Option<&'a str>,
    keys: Vec<(&'a str, &'a Value, Option<&'a str>)>,
}

impl<'a> Section<'a> {
    fn of(items: &'a [Item]) -> Self {
        let mut section = Self { comment: None, keys: Vec::new() };
        for (at, item) in items.iter().enumerate() {
            match (item, section.keys.last_mut()) {
                (Item::Comment(comment), _) if at == 0 => section.comment = Some(comment.text.as_str()),
                (Item::Comment(comment), Some(key)) => key.2 = Some(comment.text.as_str()),
                (Item::Comment(_), None) => {}
                (Item::Pair(name, value), _) => section.keys.push((name, value, None)),
            }
        }
        section
    }

    fn write(&self, section: &str, out: &mut String) -> Result<()> {
        let width = self.keys.iter().map(|(name, ..)| written_key(name).len()).max().unwrap_or(0);
        for (name, value, comment) in &self.keys {
            let Some(value) = flat::plain(value) else {
                let message = format!("ini cannot hold the map or list at `{name}` in section `{section}`");
                return Err(Error::invalid(message));
            };
            out.push_str(&comment.map_or_else(String::new, |comment| written_comment(comment, " \t\r")));
            let name = written_key(name);
            let gap = " ".repeat(width - name.len());
            out.push_str(&format!("{name}{gap} = {}\n", written_value(&value)));
        }
        Ok(())
    }
}

/// Writes a comment line by line; `trimmed` are the signs taken from lines that have no sign.
fn written_comment(comment: &str, trimmed: &str) -> String {
    if comment.is_empty() {
        return String::new();
    }
    let lines = comment.split('\n').map(|line| match line.chars().next() {
        Some(sign @ ('#' | ';')) => format!("{sign} {}\n", line[1..].trim()),
        _ => format!("; {}\n", line.trim_matches(|sign| trimmed.contains(sign))),
    });
    lines.collect()
}

fn written_key(name: &str) -> String {
    if name.contains(['"', '=', ':']) {
        format!("`{name}`")
    } else if name.contains('`') {
        format!("\"\"\"{name}\"\"\"")
    } else {
        name.to_owned()
    }
}

fn written_value(value: &str) -> String {
    if value.contains(['\n', '`']) {
        format!("\"\"\"{value}\"\"\"")
    } else if value.contains(['#', ';']) {
        format!("`{value}`")
    } else if value.trim().len() != value.len() {
        format!("\"{value}\"")
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        String::from_utf8(write(&load(text.as_bytes()).unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn a_file_in_the_layout_of_sops_comes_back() {
        let text =
            "top = 1\n\n; about a\n[a]\n; about key\nkey    = value\nlonger = `x # y`\n\n[b]\n`q=r` = 1\n";

        assert_eq!(again(text), text);
    }

    #[test]
    fn quotes_continuations_and_inline_comments_are_read() {
        let text = "[a]\nq = \"two words\"\ns='x'\nc = one \\\n  two\nm = \"\"\"l1\nl2\"\"\"\ni = v ; why\n";

        let written = again(text);

        assert_eq!(written, "[a]\nq = two words\ns = x\nc = one two\nm = \"\"\"l1\nl2\"\"\"\n; why\ni = v\n");
    }

    #[test]
    fn what_is_wrong_is_told_by_its_line_without_the_value() {
        for text in
            ["[a\n", "[a]\nhunter2\n", "[a]\nk=hunter2\nk=2\n", "[a]\n=hunter2\n", "[a]\nk=`hunter2\n"]
        {
            let error = load(text.as_bytes()).unwrap_err().to_string();

            assert!(error.contains("line "), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_value_outside_a_section_is_refused() {
        assert!(write(&[vec![Item::Pair("a".into(), Value::text("x"))]]).is_err());
    }
}
