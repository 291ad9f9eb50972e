//! Writes configurations as odd as the language allows, the same ones for the same seed.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

/// What may stand between two parts of an expression in brackets.
const GAPS: [&str; 7] = ["", " ", "\t", "\n", " /* } \" ${ */ ", " # ) ] } \"${\n", " // <<EOT\n"];

/// Texts in quotes without anything filled in.
const TEXTS: [&str; 12] = [
    "",
    "plain",
    "\\\"",
    "\\\\",
    "a\\nb\\t\\r",
    "\\u00e9\\U0001F600",
    "$${no}",
    "%%{ no }",
    "$ % $$ 5%",
    "{[(",
    "日本 é",
    "# // /* no comment",
];

/// Names that are keywords elsewhere, or of other tongues.
const NAMES: [&str; 8] = ["größe", "変数", "a-b", "_x", "for", "null", "if", "x1"];

/// A source of odd configurations.
pub struct Generator {
    rng: StdRng,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { rng: StdRng::seed_from_u64(seed) }
    }

    /// Returns the bytes of a file of the native syntax whose names end in a number.
    pub fn native(&mut self, number: usize) -> Vec<u8> {
        let mut blocks: Vec<String> = vec![
            self.variable(number),
            self.output(number),
            self.module(number),
            self.resource(number),
            self.locals(number),
        ];
        blocks.shuffle(&mut self.rng);
        let keep = self.rng.gen_range(0..=blocks.len());
        let mut text = blocks[..keep].join(self.pick(&["", "\n", "/* x */ # y\n", "// \n\n", "\t\n"]));
        if self.chance(3) {
            text = text.trim_end().to_owned();
        }
        if self.chance(4) {
            text = text.replace('\n', "\r\n");
        }
        let mut bytes = text.into_bytes();
        if self.chance(5) {
            bytes.splice(0..0, *b"# caf\xe9 \xff\n");
        }
        if self.chance(5) {
            bytes.splice(0..0, "\u{feff}".bytes());
        }
        bytes
    }

    /// Returns a file of the JSON syntax.
    pub fn json(&mut self, number: usize) -> Vec<u8> {
        let deep = format!("{}1e99{}", "[".repeat(200), "]".repeat(200));
        let entries = [
            format!("\"variable\": {{\"j{number}\": {{}}}}"),
            format!("\"variable\": [{{\"k{number}\": {{\"default\": 1e99}}}}, {{\"l{number}\": [{{}}]}}]"),
            format!("\"variable\": {{\"\\u006d{number}\": {{\"//\": 1, \"default\": \"\\ud83d\\ude00\"}}}}"),
            format!("\"output\": [{{\"j{number}\": {{\"value\": \"${{1 + 2}}\"}}}}]"),
            format!("\"module\": {{\"j{number}\": {{\"source\": \"./j{number}\", \"//\": null}}}}"),
            format!("\"resource\": [{{\"terraform_data\": [{{\"j{number}\": [{{}}]}}]}}]"),
            "\"//\": \"a comment\"".to_owned(),
            format!("\"locals\": {{\"//\": {{}}, \"deep{number}\": {deep}}}"),
        ];
        let keep: Vec<String> = entries.into_iter().filter(|_| !self.chance(3)).collect();
        let gap = self.pick(&["", " ", "\n", "\r\n\t"]);
        format!("{gap}{{{gap}{}{gap}}}{gap}", keep.join(&format!(",{gap}"))).into_bytes()
    }

    /// Returns the file with some of its letters gone, doubled or replaced.
    pub fn damaged(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let bits: [&[u8]; 16] = [
            b"\"",
            b"${",
            b"%{",
            b"}",
            b"{",
            b"$$",
            b"<<EOT\n",
            b"EOT\n",
            b"#",
            b"/*",
            b"*/",
            b"\n",
            b"\\",
            b"(",
            b"=",
            b"\xc3\xa9",
        ];
        for _ in 0..self.rng.gen_range(1..=3) {
            let at = self.rng.gen_range(0..=bytes.len());
            if self.chance(3) {
                let end = bytes.len().min(at + self.rng.gen_range(1..6));
                bytes.drain(at..end);
            } else {
                let bit = self.pick(&bits);
                bytes.splice(at..at, bit.iter().copied());
            }
        }
        bytes
    }

    fn chance(&mut self, of: u32) -> bool {
        self.rng.gen_ratio(1, of)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        *from.choose(&mut self.rng).expect("something to choose from")
    }

    fn label(&mut self, name: &str) -> String {
        let form = self.rng.gen_range(0..3);
        match form {
            0 => format!("\"{name}\""),
            1 => name.to_owned(),
            _ => format!("/* \" {{ */ \"{name}\" /* x\n */"),
        }
    }

    /// Returns a block that holds one argument and, perhaps, others.
    fn block(&mut self, head: &str, arguments: &[(&str, String)]) -> String {
        if let [(name, value)] = arguments
            && !value.contains('\n')
            && self.chance(2)
        {
            return format!("{head}{{ {name} = {value} }}\n");
        }
        let mut lines = String::new();
        for (name, value) in arguments {
            let gap = self.pick(&[" ", "", "\t", " /* = { */ "]);
            let end = self.pick(&["\n", " # }\n", "\n\n", " // \"\n"]);
            // Nothing but a newline may follow the word that ends a heredoc.
            let end = if value.ends_with("EOT") { "\n" } else { end };
            lines.push_str(&format!("  {name}{gap}={gap}{value}{end}"));
        }
        format!("{head} {{\n{lines}}}\n")
    }

    fn variable(&mut self, number: usize) -> String {
        let name = format!("{}{number}", self.pick(&NAMES));
        let label = self.label(&name);
        let value = self.literal(3);
        self.block(&format!("variable {label}"), &[("default", value)])
    }

    fn output(&mut self, number: usize) -> String {
        let label = self.label(&format!("o{number}"));
        let value = self.expression(4);
        self.block(&format!("output {label}"), &[("value", value)])
    }

    fn module(&mut self, number: usize) -> String {
        let label = self.label(&format!("m{number}"));
        let text = self.pick(&TEXTS[1..]);
        let source = format!("\"./{number}{text}\"");
        let other = self.expression(3);
        self.block(&format!("module {label}"), &[("x", other), ("source", source)])
    }

    fn resource(&mut self, number: usize) -> String {
        let label = self.label(&format!("r{number}"));
        let value = self.expression(3);
        let inner = self.block("  provisioner \"local-exec\"", &[("command", value.clone())]);
        let whole = self.block(&format!("resource terraform_data {label}"), &[("input", value)]);
        match whole.strip_suffix("\n}\n") {
            Some(rest) => format!("{rest}\n{inner}}}\n"),
            None => whole,
        }
    }

    fn locals(&mut self, number: usize) -> String {
        let (one, other) = (self.expression(5), self.expression(2));
        let (one_name, other_name) = (format!("a{number}"), format!("b{number}"));
        self.block("locals", &[(&one_name, one), (&other_name, other)])
    }

    /// Returns a value that needs nothing to be known.
    fn literal(&mut self, depth: u32) -> String {
        match self.rng.gen_range(0..if depth == 0 { 4 } else { 8 }) {
            0 => self.number(),
            1 => self.pick(&["true", "false", "null"]).to_owned(),
            2 | 3 => format!("\"{}\"", self.pick(&TEXTS)),
            4 => self.list(depth, Self::literal),
            5 => self.object(depth, Self::literal),
            6 => format!("<<EOT\n{}\n $ % %% \" }} # \n  EOT", self.pick(&["x", "", "EOTX", "\\"])),
            _ => format!("<<-EOT\n   $${{x}} %%{{y}}\n{}\n EOT", self.pick(&["y", "  ", "日本"])),
        }
    }

    fn number(&mut self) -> String {
        let numbers = ["0", "1.5", "2e3", "1E-7", "3e+2", "123456789012345678901234567890.123456789"];
        self.pick(&numbers).to_owned()
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.literal(0);
        }
        let next = depth - 1;
        match self.rng.gen_range(0..15) {
            0 | 1 => self.literal(depth),
            2 => self.list(depth, Self::expression),
            3 => self.object(depth, Self::expression),
            4 => format!("({})", self.spaced(&["true", "?", "1", ":", "2"])),
            5 => self.template(next),
            6 => self.heredoc(next),
            7 => format!("[for k, v in {} : k{}]", self.bracketed(next), self.pick(&["", " if v != null"])),
            8 => format!("{{ for k, v in {} :\n k => v... if true }}", self.bracketed(next)),
            9 => self
                .pick(&["local.a.0.b", "local.a[*].b.*.c", "local.a[\"}\"].b[0]", "path.module"])
                .to_owned(),
            10 => format!("max({}...)", self.list(next, Self::expression)),
            11 => format!("-1 + !true == 2 && {} || 3 >= 4", self.bracketed(next)),
            12 => format!("merge({}, {})", self.bracketed(next), self.bracketed(next)),
            13 => format!("provider::terraform::encode_expr({})", self.bracketed(next)),
            _ => self.bracketed(next),
        }
    }

    /// Returns an expression that anything may follow, even if it ends in a heredoc.
    fn bracketed(&mut self, depth: u32) -> String {
        let inner = self.expression(depth);
        format!("({}{}\n)", self.pick(&["", "\n", " # )\n"]), inner)
    }

    fn spaced(&mut self, parts: &[&str]) -> String {
        let mut text = String::new();
        for part in parts {
            text.push_str(part);
            text.push_str(self.pick(&GAPS));
        }
        text
    }

    fn list(&mut self, depth: u32, item: fn(&mut Self, u32) -> String) -> String {
        let mut text = "[".to_owned();
        for _ in 0..self.rng.gen_range(0..3) {
            let inner = item(self, depth.saturating_sub(1));
            text.push_str(&format!("{inner}\n{},{}", self.pick(&GAPS), self.pick(&GAPS)));
        }
        text + "]"
    }

    /// Returns an object in which names stand twice.
    fn object(&mut self, depth: u32, item: fn(&mut Self, u32) -> String) -> String {
        let mut text = "{".to_owned();
        for _ in 0..self.rng.gen_range(0..4) {
            let key = self.pick(&["a", "a", "\"a\"", "5", "\"}\"", "(\"a\")", "größe"]);
            let sign = self.pick(&["=", " = ", ":", " /* : */ = "]);
            let inner = item(self, depth.saturating_sub(1));
            text.push_str(&format!("{}\n{key}{sign}{inner}\n", self.pick(&["", " # }", "/* } */"])));
        }
        text + "}"
    }

    fn template(&mut self, depth: u32) -> String {
        let (one, other) = (self.bracketed(depth), self.pick(&TEXTS));
        match self.rng.gen_range(0..3) {
            0 => format!("\"{other}${{ {one} }}{other}\""),
            1 => format!("\"%{{ if true ~}}{other}%{{ else }}${{~ {one} ~}}%{{~ endif }}\""),
            _ => format!("\"%{{ for k, v in {{ \"}}\" = {one} }} }}{other}%{{ endfor }}\""),
        }
    }

    fn heredoc(&mut self, depth: u32) -> String {
        let one = self.bracketed(depth);
        let flush = self.pick(&["", "-"]);
        let line = self.pick(&["EOT ${1} ", "$", "}\"", "%%{ $${ ", "  \t", "# /*"]);
        format!(
            "<<{flush}EOT\n{line}\n x ${{ {one} }} EOT\n%{{ if false }}\n}}\n%{{ endif ~}}\n{line}\n\t EOT"
        )
    }
}
