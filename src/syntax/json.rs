//! The JSON form of the language. A name may stand twice in an object, where it is two blocks, so
//! all entries are kept in their order. Begin at [`read`].

use std::ops::Range;

use super::Fault;
use super::scan::end_while;

/// How deep values are kept; deeper ones are passed over.
const DEEPEST: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonNode {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<JsonNode>),
    /// An object.
    Object(Vec<JsonEntry>),
    /// What is too deep to be looked into.
    Deep,
}

impl JsonNode {
    /// Returns what stands under a name: blocks are objects, or lists of them, and may be repeated.
    pub fn all(&self, name: &str) -> Vec<&Self> {
        match self {
            Self::Object(entries) => {
                let named = entries.iter().filter(|entry| entry.name == name);
                named.flat_map(|entry| entry.value.listed()).collect()
            }
            Self::List(nodes) => nodes.iter().flat_map(|node| node.all(name)).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns it as it could have been written.
    pub fn text(&self) -> String {
        let listed = |parts: Vec<String>| parts.join(", ");
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            // What is too deep to be looked into is nothing that infra passes on.
            Self::Null | Self::Deep => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(text) => text.clone(),
            Self::Text(text) => quoted(text),
            Self::List(nodes) => format!("[{}]", listed(nodes.iter().map(Self::text).collect())),
            Self::Object(entries) => {
                let entry = |entry: &JsonEntry| format!("{}: {}", quoted(&entry.name), entry.value.text());
                format!("{{{}}}", listed(entries.iter().map(entry).collect()))
            }
        }
    }

    fn listed(&self) -> Vec<&Self> {
        match self {
            Self::List(nodes) => nodes.iter().flat_map(Self::listed).collect(),
            other => vec![other],
        }
    }
}

/// An entry of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonEntry {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub at: usize,
    /// Where what it holds stands.
    pub span: Range<usize>,
    /// What it holds.
    pub value: JsonNode,
}

/// Reads a file, and says where it makes no sense; what stands before that place is read.
pub fn read_json(text: &str) -> (JsonNode, Option<Fault>) {
    let mut reader = Reader { text, at: 0, fault: None };
    let node = reader.value(0).unwrap_or(JsonNode::Null);
    reader.space();
    if reader.fault.is_none() && reader.at < text.len() {
        reader.wrong::<()>("expected nothing behind the value");
    }
    (node, reader.fault)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    fault: Option<Fault>,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    }

    /// Goes on while letters are of a kind, and returns them.
    fn skip(&mut self, is_in: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        self.at = end_while(self.text.as_bytes(), start, is_in);
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Notes the first fault; whatever is open ends there.
    fn wrong<T>(&mut self, what: &'static str) -> Option<T> {
        self.fault.get_or_insert(Fault { at: self.at, what });
        None
    }

    fn value(&mut self, depth: usize) -> Option<JsonNode> {
        match self.peek() {
            Some(b'{' | b'[') if depth == DEEPEST => self.passed_over(),
            Some(b'{') => Some(JsonNode::Object(self.object(depth + 1))),
            Some(b'[') => Some(JsonNode::List(self.list(depth + 1))),
            Some(b'"') => self.string().map(JsonNode::Text),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => {
                let is_in = |byte: u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                Some(JsonNode::Number(self.skip(is_in).to_owned()))
            }
            Some(byte) if byte.is_ascii_alphabetic() => self.keyword(),
            Some(_) => self.wrong("expected a value"),
            None => self.wrong("expected a value before the end of the file"),
        }
    }

    fn keyword(&mut self) -> Option<JsonNode> {
        let start = self.at;
        match self.skip(|byte| byte.is_ascii_alphabetic()) {
            "null" => Some(JsonNode::Null),
            "true" => Some(JsonNode::Bool(true)),
            "false" => Some(JsonNode::Bool(false)),
            _ => {
                self.at = start;
                self.wrong("expected a value")
            }
        }
    }

    fn object(&mut self, depth: usize) -> Vec<JsonEntry> {
        let mut entries = Vec::new();
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return entries;
        }
        while self.fault.is_none() {
            entries.extend(self.entry(depth));
            if self.is_end(b'}') {
                break;
            }
        }
        entries
    }

    fn entry(&mut self, depth: usize) -> Option<JsonEntry> {
        if self.peek() != Some(b'"') {
            return self.wrong("expected a name in quotes");
        }
        let at = self.at;
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return self.wrong("expected `:`");
        }
        self.at += 1;
        self.space();
        let start = self.at;
        let value = self.value(depth)?;
        Some(JsonEntry { name, at, span: start..self.at, value })
    }

    fn list(&mut self, depth: usize) -> Vec<JsonNode> {
        let mut nodes = Vec::new();
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            return nodes;
        }
        while self.fault.is_none() {
            nodes.extend(self.value(depth));
            if self.is_end(b']') {
                break;
            }
        }
        nodes
    }

    /// Returns whether nothing follows in an object or a list.
    fn is_end(&mut self, closing: u8) -> bool {
        if self.fault.is_some() {
            return true;
        }
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                false
            }
            Some(byte) if byte == closing => {
                self.at += 1;
                true
            }
            _ => {
                self.wrong::<()>("expected a comma, or the bracket that closes");
                true
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let Some(end) = string_end(self.text.as_bytes(), start) else {
            return self.wrong("a text in quotes is never closed");
        };
        self.at = end;
        let quoted = self.text.get(start..end).unwrap_or_default();
        // Half of a pair of surrogates is no letter; OpenTofu lets it pass.
        Some(serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned()))
    }

    /// Goes to the end of what is too deep to be of interest.
    fn passed_over(&mut self) -> Option<JsonNode> {
        let bytes = self.text.as_bytes();
        let mut open = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => match string_end(bytes, self.at) {
                    Some(end) => {
                        self.at = end;
                        continue;
                    }
                    None => return self.wrong("a text in quotes is never closed"),
                },
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Some(JsonNode::Deep);
            }
        }
        self.wrong("a bracket is never closed")
    }
}

/// Returns where a text ends that begins at a quote; it stands on one line.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            0..=31 => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(node: &JsonNode) -> Vec<&str> {
        let JsonNode::Object(entries) = node else { return Vec::new() };
        entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn a_name_that_stands_twice_is_kept_twice() {
        let (node, fault) = read_json(" {\"a\": 1e999, \"a\": [null, {\"\\u00e9\\ud800\": \"x\"}]}\n");

        assert_eq!(fault, None);
        assert_eq!(names(&node), ["a", "a"]);
    }

    #[test]
    fn what_stands_before_a_fault_is_read() {
        for (text, at) in [
            ("{\"a\": {\"b\": 1}, \"c\": [1, }", 25),
            ("{\"a\": 1, \"c\": 2", 15),
            ("{\"a\": 1, \"c\": True}", 14),
            ("{\"a\": 1, \"c\": 2} x", 17),
            ("{\"a\": 1, \"c\": 2, }", 17),
            ("{\"a\": 1, \"c\": \"x\n\"}", 14),
        ] {
            let (node, fault) = read_json(text);
            assert_eq!(fault.map(|fault| fault.at), Some(at), "{text}");
            assert_eq!(names(&node)[0], "a", "{text}");
        }
        assert!(read_json("").1.is_some() && read_json("}").1.is_some());
    }

    #[test]
    fn what_nests_without_end_is_no_crash() {
        let deep = format!("{{\"a\": {}\"]\"{}, \"b\": 1}}", "[".repeat(100_000), "]".repeat(100_000));

        let (node, fault) = read_json(&deep);

        assert_eq!((names(&node), fault), (vec!["a", "b"], None));
        assert!(read_json(&"[".repeat(100_000)).1.is_some());
        assert!(read_json(&"]".repeat(100_000)).1.is_some());
    }
}
