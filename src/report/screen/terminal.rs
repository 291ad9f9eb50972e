//! The terminal as a value: whether it has colour and a person behind it, how wide it is.
//!
//! All writing goes through here. stdout carries data, stderr carries narration; a
//! reader that went away is no error.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;

use super::escape::escaped_for_terminal;
use super::fit::wrap;
use crate::model::Environment;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much is told.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verbosity {
    /// Only failures.
    Quiet,
    /// What a person wants to know.
    #[default]
    Normal,
    /// Everything that tofu writes, too.
    Verbose,
}

/// What a piece of text means; a word or a sign always says the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// It went well, or something is created.
    Good,
    /// It failed, or something is destroyed.
    Bad,
    /// Needs attention, or something is changed.
    Warn,
    /// Less important.
    Dim,
    /// A heading.
    Strong,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Warn => "33",
            Self::Dim => "2",
            Self::Strong => "1",
        }
    }
}

/// Where this program writes, and how.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terminal {
    out_color: bool,
    err_color: bool,
    /// Whether stdout and stderr are screens, which have a width.
    out_screen: bool,
    err_screen: bool,
    live: bool,
    person: bool,
    /// Whether the log is one of GitHub Actions, which folds groups.
    github: bool,
    verbosity: Verbosity,
    /// Shared by all copies: whether data could not be written.
    lost: Lost,
}

/// Remembers that data was lost; lives as long as the process, so that a terminal stays a plain value.
#[derive(Clone, Copy, Debug)]
struct Lost(&'static AtomicBool);

impl PartialEq for Lost {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Lost {}

impl Terminal {
    /// Finds out what stdin, stdout and stderr are.
    pub fn detect(env: &Environment, color: ColorChoice, verbosity: Verbosity) -> Self {
        let (out, err) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        let dumb = env.get("TERM").is_none_or(|term| term == "dumb");
        let wanted = |is_terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && !dumb && env.get("NO_COLOR").is_none(),
        };
        Self {
            out_color: wanted(out),
            err_color: wanted(err),
            out_screen: out,
            err_screen: err,
            live: err && !dumb && env.get("CI").is_none(),
            person: std::io::stdin().is_terminal() && err,
            github: env.get("GITHUB_ACTIONS") == Some("true"),
            verbosity,
            lost: Lost(Box::leak(Box::default())),
        }
    }

    /// Returns whether data could not be written, other than to a reader that went away.
    pub fn has_lost_data(&self) -> bool {
        self.lost.0.load(Ordering::Relaxed)
    }

    /// Returns whether lines may be redrawn.
    pub const fn is_live(&self) -> bool {
        self.live
    }

    /// Returns whether a person can answer a question.
    pub const fn has_person(&self) -> bool {
        self.person
    }

    /// Returns whether the log folds groups as GitHub Actions does.
    pub const fn is_github(&self) -> bool {
        self.github
    }

    /// Returns the rows and columns of the screen as it is now.
    pub fn size(&self) -> (usize, usize) {
        let (rows, columns) = console::Term::stderr().size();
        (usize::from(rows), usize::from(columns))
    }

    /// Returns how wide narration may be; a pipe has no width.
    pub fn columns(&self) -> Option<usize> {
        self.err_screen.then(|| self.size().1)
    }

    /// Marks a failure in a log that collects them, as GitHub Actions does.
    pub fn annotate(&self, title: &str, text: &str) {
        if self.github {
            let one_line = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
            let title = one_line(title).replace(':', "%3A").replace(',', "%2C");
            self.write_err(&format!("::error title={title}::{}", one_line(text)));
        }
    }

    /// Writes data that a log may fold under a title.
    pub fn group(&self, title: &str, lines: &[String]) {
        let text = self.without_commands(&lines.join("\n"));
        let text = escaped_for_terminal(&text, own_colors(self.out_color));
        match self.github {
            true => self.data(&format!("::group::{title}\n{text}\n::endgroup::\n")),
            false => self.data(&format!("{text}\n")),
        }
    }

    /// Writes data that tofu made for people: in a log that obeys commands, none of it is one.
    pub fn text(&self, text: &str) {
        self.data(&escaped_for_terminal(&self.without_commands(text), own_colors(self.out_color)));
    }

    fn without_commands(&self, text: &str) -> String {
        if self.github { without_commands(text) } else { text.to_owned() }
    }

    /// Returns how much is told.
    pub const fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Writes data: a whole text with its line breaks.
    pub fn data(&self, text: &str) {
        self.data_bytes(text.as_bytes());
    }

    /// Writes data exactly as it is, whether it is text or not.
    pub fn data_bytes(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => self.lost.0.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Writes a line of data.
    ///
    /// Unlike the other data it is cleaned of what a terminal would obey: see [`escaped_for_terminal`].
    pub fn data_line(&self, line: &str) {
        self.data(&format!("{}\n", escaped_for_terminal(line, own_colors(self.out_color))));
    }

    /// Returns how wide data for people may be; a pipe has no width.
    pub fn out_columns(&self) -> Option<usize> {
        self.out_screen.then(|| usize::from(console::Term::stdout().size().1))
    }

    /// Returns how many lines of data a screen has; a pipe has none.
    pub fn out_rows(&self) -> Option<usize> {
        self.out_screen.then(|| usize::from(console::Term::stdout().size().0))
    }

    /// Writes a line of data; on a screen, what does not fit goes on below the given column.
    pub fn data_hanging(&self, line: &str, indent: usize) {
        let columns = self.out_columns();
        self.data_line(&columns.map_or_else(|| line.to_owned(), |columns| wrap(line, columns, indent)));
    }

    /// Writes a line of narration, unless quiet.
    pub fn note(&self, line: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.alert(line);
        }
    }

    /// Writes a line of narration, unless quiet; what does not fit goes on below the given column.
    pub fn note_hanging(&self, line: &str, indent: usize) {
        if self.verbosity > Verbosity::Quiet {
            self.alert_hanging(line, indent);
        }
    }

    /// Writes a line to stderr, even when quiet; nothing in it is obeyed by a terminal but our colours.
    pub fn alert(&self, line: &str) {
        for line in line.split('\n') {
            self.alert_hanging(line, line.len() - line.trim_start_matches(' ').len() + 2);
        }
    }

    /// Writes a line to stderr, even when quiet; what does not fit goes on below the given column.
    pub fn alert_hanging(&self, line: &str, indent: usize) {
        let line =
            escaped_for_terminal(&self.without_commands(line), own_colors(self.err_color)).into_owned();
        self.write_err(&self.columns().map_or_else(|| line.clone(), |columns| wrap(&line, columns, indent)));
    }

    fn write_err(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{text}");
    }

    /// Writes characters that move the cursor as well, all at once so that nothing flickers.
    pub fn draw(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Colours a piece of narration.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        painted(self.err_color, tone, text)
    }

    /// Colours a piece of data.
    pub fn paint_data(&self, tone: Tone, text: &str) -> String {
        painted(self.out_color, tone, text)
    }
}

/// Breaks what a log of GitHub Actions takes for a command: `::` at the beginning of a line, `##[` anywhere.
fn without_commands(text: &str) -> String {
    let escaped = |line: &str| {
        let body = line.trim_start();
        let line = match body.strip_prefix("::") {
            Some(rest) => format!("{}:\u{200b}:{rest}", &line[..line.len() - body.len()]),
            None => line.to_owned(),
        };
        line.replace("##[", "##\u{200b}[")
    };
    // A lone carriage return begins a line there, too.
    text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Returns the colours that [`painted`] writes.
const fn own_colors(color: bool) -> &'static [&'static str] {
    const ALL: [&str; 6] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
    if color { &ALL } else { &[] }
}

fn painted(color: bool, tone: Tone, text: &str) -> String {
    if color { format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code()) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_a_command_of_the_log_that_it_is_written_to() {
        let text = "plan\n  ::error title=x::boom\r::set-output name=a::b\nin ::the:: middle\n##[error]x";

        let lines: Vec<String> = without_commands(text).lines().map(str::to_owned).collect();

        assert!(lines.iter().all(|line| !line.trim_start().starts_with("::")), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains("##[")), "{lines:?}");
        assert_eq!((lines.len(), lines[3].as_str()), (5, "in ::the:: middle"));
    }
}
