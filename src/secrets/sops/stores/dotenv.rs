//! The dotenv store: lines of `NAME=value` and comments; nothing is quoted or trimmed.

use zeroize::Zeroizing;

use super::flat;
use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Comment, Document, Item, Value};

pub(super) fn load(bytes: &[u8]) -> Result<Vec<Document>> {
    let mut items = Document::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !line.is_empty() {
            items.push(read_line(line).map_err(|error| error.at(format!("line {}", at + 1)))?);
        }
    }
    Ok(vec![items])
}

fn read_line(line: &[u8]) -> Result<Item> {
    if let Some(comment) = line.strip_prefix(b"#") {
        let text = utf8(comment)?.to_owned().into();
        return Ok(Item::Comment(Comment { text, beside: false }));
    }
    let Some(at) = line.iter().position(|byte| *byte == b'=') else {
        return Err(Error::invalid("a line has no `=`"));
    };
    let name = utf8(&line[..at])?.to_owned();
    Ok(Item::Pair(name, Value::Text(Zeroizing::new(flat::replace(&line[at + 1..], b"\\n", b"\n")))))
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::invalid("a name or comment is not UTF-8"))
}

pub(super) fn write(documents: &[Document]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for item in documents.first().into_iter().flatten() {
        match item {
            Item::Comment(comment) => out.extend([b"#", comment.text.as_bytes()].concat()),
            Item::Pair(name, value) => {
                out.extend([name.as_bytes(), b"="].concat());
                out.extend(written(name, value)?);
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}

fn written(name: &str, value: &Value) -> Result<Vec<u8>> {
    match value {
        Value::Text(bytes) => Ok(flat::replace(bytes, b"\n", b"\\n")),
        value => flat::plain(value)
            .map(String::into_bytes)
            .ok_or_else(|| Error::invalid(format!("dotenv cannot hold the map or list at `{name}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
        let text = b"# top\nA=b=c\n\nEMPTY=\n#\nQ=\"x y\" # not a comment\nCR=x\r\n";

        let documents = load(text).unwrap();

        let without_empty_line = b"# top\nA=b=c\nEMPTY=\n#\nQ=\"x y\" # not a comment\nCR=x\r\n";
        assert_eq!(write(&documents).unwrap(), without_empty_line);
    }

    #[test]
    fn a_line_break_is_written_as_two_signs() {
        let documents = load(b"KEY=one\\ntwo\n").unwrap();

        assert_eq!(documents[0][0], Item::Pair("KEY".into(), Value::text("one\ntwo")));
        assert_eq!(write(&documents).unwrap(), b"KEY=one\\ntwo\n");
    }

    #[test]
    fn a_line_without_a_value_is_refused_by_its_number() {
        let error = load(b"A=1\nhunter2\n").unwrap_err().to_string();

        assert!(error.contains("line 2"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_map_is_refused() {
        let documents = [vec![Item::Pair("a".into(), Value::Map(Vec::new()))]];

        assert!(write(&documents).unwrap_err().message().contains("`a`"));
    }
}
