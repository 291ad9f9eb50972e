//! What was typed and what was told: by a document, or by the program itself.

use std::fmt;

/// Commands in their order, each with what it wrote.
#[derive(Debug, Default)]
pub struct Transcript(pub Vec<Command>);

/// One command of a transcript.
#[derive(Debug)]
pub struct Command {
    /// The line behind the prompt, without a comment.
    pub line: String,
    /// What it wrote; nothing where a document leaves it out.
    pub output: Vec<String>,
}

impl Command {
    pub fn new(line: &str, output: Vec<String>) -> Self {
        let line = line.split("  #").next().unwrap_or(line).trim_end();
        Self { line: line.to_owned(), output }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for command in &self.0 {
            writeln!(f, "$ {}", command.line)?;
            command.output.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        }
        Ok(())
    }
}

/// Returns whether an excerpt tells the truth about lines: `…` alone stands for any lines, in a line for any text.
pub fn tells(excerpt: &[String], lines: &[String]) -> bool {
    match excerpt.split_first() {
        None => lines.iter().all(String::is_empty),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=lines.len()).any(|skip| tells(rest, &lines[skip..]))
        }
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, others)| tells_line(first, line) && tells(rest, others))
        }
    }
}

fn tells_line(excerpt: &str, line: &str) -> bool {
    let Some((start, end)) = excerpt.split_once('…') else { return excerpt == line };
    let rest = line.strip_prefix(start);
    excerpt == line || rest.is_some_and(|rest| rest.ends_with(end))
}
