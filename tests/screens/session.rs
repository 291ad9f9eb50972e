//! A person at a terminal of 80 columns, in the folder of a project, who types what documents say.

use std::process::{Command, Stdio};

use super::filter::stable;
use super::support::screen::Screen;
use super::support::terminal::AtTerminal;
use super::support::{Project, infra};
use super::transcript::{self, Transcript};

const ROWS: u16 = 60;
const COLUMNS: u16 = 80;

/// What is typed in a project.
pub struct Session<'a> {
    project: &'a Project,
    told: Transcript,
}

impl<'a> Session<'a> {
    pub fn begin(project: &'a Project) -> Self {
        Self { project, told: Transcript::default() }
    }

    /// Types a line and waits for its end.
    pub fn types(mut self, line: &str) -> Self {
        let (_, written) = self.start(line).wait();
        self.keep(line, &written);
        self
    }

    /// Types a line, answers its questions with yes, and keeps the screen as it is at the last of them.
    pub fn types_until(mut self, line: &str, questions: &[&str]) -> Self {
        let mut person = self.start(line);
        let (last, before) = questions.split_last().expect("a question");
        for question in before {
            person.sees(question);
            person.types("y");
        }
        person.sees(last);
        let written = person.screen();
        person.types("n");
        person.wait();
        self.keep(line, &written);
        self
    }

    /// Does something between two lines that the document tells in words.
    pub fn then(self, change: impl FnOnce(&Project)) -> Self {
        change(self.project);
        self
    }

    pub fn end(self) -> Transcript {
        self.told
    }

    /// A line goes through a shell, which finds the program under test by its name.
    fn start(&self, line: &str) -> AtTerminal {
        let in_project = self.project.command("");
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.project.root()).stdin(Stdio::null());
        for (name, value) in in_project.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        AtTerminal::sized(with_infra_on_path(shell), ROWS, COLUMNS)
    }

    fn keep(&mut self, line: &str, written: &str) {
        let mut lines = Screen::replay(written, usize::from(COLUMNS)).unfolded();
        let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines.truncate(used);
        self.told.0.push(transcript::Command::new(line, stable(&lines)));
    }
}

fn with_infra_on_path(mut shell: Command) -> Command {
    let infra = infra();
    let folder = std::path::Path::new(infra.get_program()).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    shell.env("PATH", std::env::join_paths(folders).expect("folders without colons"));
    shell
}
