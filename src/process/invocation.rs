//! What to run: program, arguments, directory, environment and extra pipes, as a value.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::model::Environment;

/// A program call before it happens.
#[derive(Clone)]
pub struct Invocation {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) first_flags: Vec<OsString>,
    pub(super) dir: PathBuf,
    pub(super) env: Environment,
    pub(super) feeds: Vec<Vec<u8>>,
    pub(super) input: Option<Vec<u8>>,
    pub(super) tap: bool,
    pub(super) guarded: bool,
    pub(super) notes: Option<(PathBuf, Timestamp)>,
}

impl Invocation {
    /// The first descriptor after stdin, stdout and stderr.
    pub(super) const FIRST_FREE_FD: i32 = 3;

    /// Makes a call of a program in a directory with exactly this environment.
    pub fn new(program: impl Into<PathBuf>, dir: impl Into<PathBuf>, env: Environment) -> Self {
        let (program, dir) = (program.into(), dir.into());
        Self {
            program,
            args: Vec::new(),
            first_flags: Vec::new(),
            dir,
            env,
            feeds: Vec::new(),
            input: None,
            tap: false,
            guarded: false,
            notes: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Adds a flag that stands right after the words of the subcommand, before its other flags.
    #[must_use]
    pub fn first_flag(mut self, flag: impl AsRef<OsStr>) -> Self {
        self.first_flags.push(flag.as_ref().to_owned());
        self
    }

    /// Returns the arguments in the order in which the program gets them.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &OsString> {
        let is_flag = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
        let words = self.args.iter().position(is_flag).unwrap_or(self.args.len());
        let (words, others) = self.args.split_at(words);
        words.iter().chain(&self.first_flags).chain(others)
    }

    /// Adds an argument `PREFIX/dev/fd/N` from which the child can read the bytes exactly once.
    ///
    /// The bytes go through a pipe: never a file, never the process list.
    #[must_use]
    pub fn feed(mut self, prefix: &str, bytes: Vec<u8>) -> Self {
        let path = format!("{prefix}/dev/fd/{}", self.next_fd());
        self.feeds.push(bytes);
        self.arg(path)
    }

    /// Lets the child read the bytes exactly once, and returns from where; adds no argument.
    #[must_use]
    pub fn feed_quietly(mut self, bytes: Vec<u8>) -> (Self, String) {
        let path = format!("/dev/fd/{}", self.next_fd());
        self.feeds.push(bytes);
        (self, path)
    }

    /// Lets the child read the bytes from its standard input, if it is run to its end by `capture`.
    #[must_use]
    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// Sets a variable of the child's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.set(name, value);
        self
    }

    /// Takes a variable out of the environment.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.env.remove_where(|own| own == name);
        self
    }

    /// Lets the child end gently should this process be killed, because it changes something.
    ///
    /// One that only reads simply dies of its broken pipes.
    #[must_use]
    pub const fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// Notes the child, which starts now, in a file while it runs; see [`super::ChildNote`].
    #[must_use]
    pub fn noted_in(mut self, file: PathBuf, now: Timestamp) -> Self {
        self.notes = Some((file, now));
        self
    }

    /// Adds an argument `PREFIX/dev/fd/N` to which the child can write lines of its own.
    ///
    /// Must be the last pipe that is added.
    #[must_use]
    pub fn tap(mut self, prefix: &str) -> Self {
        let path = format!("{prefix}/dev/fd/{}", self.next_fd());
        self.tap = true;
        self.arg(path)
    }

    /// Returns the program as it is called.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the descriptor that the next pipe gets in the child.
    fn next_fd(&self) -> i32 {
        Self::FIRST_FREE_FD + i32::try_from(self.feeds.len()).unwrap_or(i32::MAX - Self::FIRST_FREE_FD)
    }
}

/// Shows the call without the bytes that are fed to it.
impl std::fmt::Debug for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invocation")
            .field("program", &self.program)
            .field("args", &self.arguments().collect::<Vec<_>>())
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}
