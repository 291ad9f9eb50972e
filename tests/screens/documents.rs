//! The transcripts in the documents: every `console` block that shows what a command writes.

use std::path::Path;

use super::filter::stable;
use super::transcript::{Command, Transcript};

const DOCUMENTS: [&str; 3] = ["README.md", "docs/guide.md", "docs/reference.md"];

/// A block of a document.
pub struct Block {
    /// The document and the line where the block begins.
    pub place: String,
    pub transcript: Transcript,
}

impl Block {
    /// Returns its first command with output, which is its name in the table.
    pub fn name(&self) -> &str {
        let mut told = self.transcript.0.iter().filter(|command| !command.output.is_empty());
        told.next().map_or("", |command| &command.line)
    }
}

/// Returns the blocks of all documents that show what a command writes.
pub fn blocks_with_output() -> Vec<Block> {
    DOCUMENTS.iter().flat_map(|document| blocks(document)).filter(|block| !block.name().is_empty()).collect()
}

fn blocks(document: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(path).expect("a document");
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line != "```console" {
            continue;
        }
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let place = format!("{document}:{}", number + 1);
        blocks.push(Block { transcript: parse(&place, &block), place });
    }
    blocks
}

fn parse(place: &str, lines: &[&str]) -> Transcript {
    assert!(lines.first().is_some_and(|line| line.starts_with("$ ")), "{place} does not begin with `$ `");
    let mut transcript = Transcript::default();
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("$ ")).collect();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        transcript.0.push(command(&lines[start..end]));
    }
    transcript
}

/// A line that goes on in the next one, or brings a file with it, is a command without output.
fn command(lines: &[&str]) -> Command {
    let line = lines[0].trim_start_matches("$ ");
    if line.ends_with('\\') || line.contains("<<") {
        return Command::new(line, Vec::new());
    }
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(1, |last| last + 1);
    let output: Vec<String> = lines[1..used].iter().map(|line| (*line).to_owned()).collect();
    Command::new(line, stable(&output))
}
