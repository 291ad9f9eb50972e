//! The dialect of INI in which Amazon's tools keep profiles.
//!
//! As the SDK of tofu's backend reads it: keys in any case, `=` or `:`, comments behind a value
//! only after a space, indented lines below an empty value are values of it (`s3.endpoint_url`),
//! others go on with the value above. A line that means nothing is passed over.

use std::collections::BTreeMap;

/// The values of a section, by key in lower case.
pub(super) type Section = BTreeMap<String, String>;

/// Returns the sections; one that is there twice is one.
pub(super) fn sections(text: &str) -> BTreeMap<String, Section> {
    let mut reader = Reader::default();
    text.trim_start_matches('\u{feff}').lines().for_each(|line| reader.take(line));
    reader.sections
}

#[derive(Default)]
struct Reader {
    sections: BTreeMap<String, Section>,
    section: Option<String>,
    key: Option<String>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            return;
        }
        if let Some(name) = heading(trimmed) {
            self.sections.entry(name.clone()).or_default();
            (self.section, self.key) = (Some(name), None);
            return;
        }
        let is_indented = line.starts_with([' ', '\t']);
        match (is_indented, property(trimmed)) {
            (true, Some((key, value))) if self.value().is_some_and(|value| value.is_empty()) => {
                self.set_below(&key, value);
            }
            (_, Some((key, value))) => self.set(key, value),
            (true, None) => self.go_on(trimmed),
            (false, None) => {}
        }
    }

    fn set(&mut self, key: String, value: String) {
        let Some(section) = self.section.as_ref().and_then(|name| self.sections.get_mut(name)) else {
            return;
        };
        section.insert(key.clone(), value);
        self.key = Some(key);
    }

    /// Keeps a value of a value, under both names.
    fn set_below(&mut self, key: &str, value: String) {
        let Some(above) = self.key.clone() else { return };
        self.set(format!("{above}.{key}"), value);
        self.key = Some(above);
    }

    fn go_on(&mut self, text: &str) {
        if let Some(value) = self.value().filter(|value| !value.is_empty()) {
            value.push('\n');
            value.push_str(text);
        }
    }

    /// Returns the value that was read last.
    fn value(&mut self) -> Option<&mut String> {
        self.sections.get_mut(self.section.as_ref()?)?.get_mut(self.key.as_ref()?)
    }
}

/// Returns the name of a section, with one space between its words.
fn heading(line: &str) -> Option<String> {
    let line = line.split(['#', ';']).next().unwrap_or_default().trim_end();
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let words: Vec<&str> = name.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    Some(words.join(" "))
}

fn property(line: &str) -> Option<(String, String)> {
    let line = [" #", " ;", "\t#", "\t;"]
        .iter()
        .fold(line, |line, mark| line.split_once(mark).map_or(line, |(before, _)| before));
    let (key, value) = line.split_once(['=', ':'])?;
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    // Only a value that is quoted as a whole loses its quotes: those of a program's arguments stay.
    let value = quoted.filter(|inner| !inner.contains('"')).unwrap_or(value);
    Some((key.trim().to_lowercase(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(sections: &'a BTreeMap<String, Section>, section: &str, key: &str) -> Option<&'a str> {
        sections.get(section)?.get(key).map(String::as_str)
    }

    #[test]
    fn sections_keys_and_comments_are_read_as_the_tools_do() {
        let read = sections(
            "\u{feff}stray = 1\n[default]  # mine\nRegion=eu-west-1 ; near\n# no\naws_secret_access_key = a/b+c#d==\n\
             [profile  dev ]\ncredential_process = tool \"a b\" --x\ns3 =\n  max = 1\n  role_arn = no\nrole_arn: r\n[default]\noutput=json\r\n",
        );

        assert_eq!(value(&read, "default", "region"), Some("eu-west-1"));
        assert_eq!(value(&read, "default", "output"), Some("json"));
        assert_eq!(value(&read, "default", "aws_secret_access_key"), Some("a/b+c#d=="));
        assert_eq!(value(&read, "profile dev", "credential_process"), Some("tool \"a b\" --x"));
        assert_eq!(value(&read, "profile dev", "role_arn"), Some("r"));
        assert_eq!(value(&read, "profile dev", "max"), None);
        assert_eq!(value(&read, "profile dev", "s3.max"), Some("1"));
    }

    #[test]
    fn an_indented_line_goes_on_or_stands_for_itself() {
        let read = sections("[a]\nx = 1\n  y = 2\n  and more\n[b\n]\n = \n\u{0}\n");

        assert_eq!(value(&read, "a", "y"), Some("2\nand more"));
    }
}
