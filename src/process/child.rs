//! The life of one child: started in a group of its own, listened to, stopped in steps.
//!
//! A terminal's Ctrl-C reaches every process of the foreground group. Were tofu in ours,
//! it would hear the key and then our forwarded signal, and take the second for "stop at
//! once", losing state. So each child leads its own group and hears exactly one signal
//! for each request. After the second request it has [`GRACE`] to end before its whole
//! group is killed. What happens when this process dies without warning is in `watchdog`.

use std::future::Future;
use std::io::{IsTerminal, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use super::child_note::NoteGuard;
use super::interrupts::{Interrupts, STOP};
use super::invocation::Invocation;
use super::lines::{EndOfOutput, each_line};
use super::raw::Raw;
use super::suspension::Member;
use super::watchdog::Watchdog;
use crate::error::{Error, Result};

/// How long a child may take to end after the second request to stop.
const GRACE: Duration = Duration::from_secs(5);

/// How long the pipes of a child that has ended are still read.
const DRAIN: Duration = Duration::from_millis(500);

/// Where a line of a child came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The extra pipe of [`Invocation::tap`].
    Tap,
}

/// What a child that was run to its end left behind.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Raw,
    /// All of its standard error.
    pub stderr: Raw,
}

/// Runs a child to its end and hands each line of its output on as it comes.
pub async fn run(
    call: Invocation,
    interrupts: &Interrupts,
    on_line: impl Fn(Stream, Raw),
) -> Result<ExitStatus> {
    let (started, ours) = Started::piped(call, interrupts)?;
    let hurry = EndOfOutput::default();
    let reading = async {
        tokio::try_join!(
            each_line(ours.stdout, &hurry, |line| on_line(Stream::Stdout, line)),
            each_line(ours.stderr, &hurry, |line| on_line(Stream::Stderr, line)),
            each_line(ours.tap, &hurry, |line| on_line(Stream::Tap, line)),
        )
    };
    started.wait_with(interrupts.clone(), reading, || hurry.ended()).await
}

/// Runs a child to its end and collects its output.
pub async fn capture(call: Invocation, interrupts: &Interrupts) -> Result<Captured> {
    let (started, mut ours) = Started::piped(call, interrupts)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let reading = async {
        tokio::try_join!(ours.stdout.read_to_end(&mut stdout), ours.stderr.read_to_end(&mut stderr))
    };
    let status = started.wait_with(interrupts.clone(), reading, || {}).await?;
    Ok(Captured { status, stdout: Raw::new(stdout), stderr: Raw::new(stderr) })
}

/// Lends the terminal to a child and waits for it.
///
/// On a terminal the child stays in the foreground group, or it could not read the
/// keyboard; it then hears Ctrl-C from the terminal itself, and only other signals are
/// forwarded.
pub async fn passthrough(call: Invocation, interrupts: &Interrupts) -> Result<ExitStatus> {
    let group = if std::io::stdin().is_terminal() { Group::Shared } else { Group::Own };
    let mut command = command_of(&call, group);
    command.stdin(Stdio::inherit());
    let (readers, writers) = open_feeds(&call).map_err(|error| cannot_start(call.program(), error))?;
    command.fd_mappings(mappings(readers)).map_err(|e| Error::bug("descriptors collide").because(e))?;
    let started = Started::spawn(command, &call, (group, Vec::new()), interrupts)?;
    writers.into_iter().zip(call.feeds).for_each(|(writer, bytes)| feed(writer, bytes));
    started.wait_with(interrupts.clone(), std::future::ready(Ok(())), || {}).await
}

/// Which process group a child belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Group {
    /// Its own.
    Own,
    /// Ours, because only the foreground group can read the terminal.
    Shared,
}

/// A running child.
struct Started {
    child: Child,
    pid: Pid,
    group: Group,
    _watchdog: Option<Watchdog>,
    _noted: Option<NoteGuard>,
    /// Stopped and woken with this process.
    _member: Option<Member>,
}

impl Started {
    /// Starts a child whose output comes to us.
    fn piped(call: Invocation, interrupts: &Interrupts) -> Result<(Self, OurEnds)> {
        let refused = |error| cannot_start(call.program(), error);
        let pipes = Pipes::open(&call).map_err(refused)?;
        let mut command = command_of(&call, Group::Own);
        command.stdout(pipes.stdout).stderr(pipes.stderr);
        let input = call.input.as_ref().map(|_| std::io::pipe()).transpose().map_err(refused)?;
        let input = input.map(|(reader, writer)| {
            command.stdin(reader);
            writer
        });
        command.fd_mappings(pipes.mappings).map_err(|e| Error::bug("descriptors collide").because(e))?;
        let started = Self::spawn(command, &call, (Group::Own, pipes.drains), interrupts)?;
        pipes.feeds.into_iter().zip(call.feeds).for_each(|(writer, bytes)| feed(writer, bytes));
        input.into_iter().zip(call.input).for_each(|(writer, bytes)| feed(writer, bytes));
        Ok((started, pipes.ours))
    }

    /// Takes the command by value: it owns the child's ends of the pipes, and a reader sees the end
    /// only once they are closed here.
    fn spawn(
        mut command: Command,
        call: &Invocation,
        (group, drains): (Group, Vec<PipeReader>),
        interrupts: &Interrupts,
    ) -> Result<Self> {
        let pid_of = |child: &Child| child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let start = || command.spawn().map_err(|error| cannot_start(call.program(), error));
        let of_its_own = |child: &Child| pid_of(child).filter(|_| group == Group::Own);
        let (child, member) = interrupts.groups.joined_by(start, of_its_own)?;
        let pid = pid_of(&child).ok_or_else(|| Error::bug("a started process has no id"))?;
        tracing::debug!(program = %call.program().display(), %pid, "started");
        let watchdog = call.guarded.then(|| Watchdog::beside(pid, group == Group::Own, drains)).flatten();
        let noted = call.notes.as_ref().zip(child.id());
        let noted = noted.and_then(|((file, since), id)| NoteGuard::down(file, *since, id));
        Ok(Self { child, pid, group, _watchdog: watchdog, _noted: noted, _member: member })
    }

    /// Drives the reading of the child's output, forwards requests to stop, and waits for the end.
    async fn wait_with<T>(
        mut self,
        mut interrupts: Interrupts,
        reading: impl Future<Output = std::io::Result<T>>,
        on_end: impl Fn(),
    ) -> Result<ExitStatus> {
        let (pid, group) = (self.pid, self.group);
        let ended = async {
            tokio::pin!(reading);
            tokio::select! {
                read = &mut reading => { read?; self.child.wait().await }
                status = self.child.wait() => {
                    on_end();
                    // A grandchild may keep the pipes open for ever; what the child wrote is there already.
                    let _ = tokio::time::timeout(DRAIN, reading).await;
                    status
                }
            }
        };
        tokio::pin!(ended);
        // Requests that came before this child are not its own.
        let before = interrupts.count();
        let (mut heard, mut deadline) = (before, None);
        loop {
            tokio::select! {
                status = &mut ended => {
                    if heard > before || was_killed(&status) {
                        kill_the_rest(pid, group);
                    }
                    tracing::debug!(%pid, ?status, "ended");
                    return status.map_err(|e| Error::unavailable("cannot read what a child process wrote").because(e));
                }
                count = interrupts.beyond(heard) => {
                    forward(pid, group, &interrupts);
                    heard = count;
                    deadline = (count >= 2).then(|| Instant::now() + GRACE);
                }
                () = until(deadline) => {
                    deadline = None;
                    let _ = kill(pid, Signal::SIGKILL);
                    kill_the_rest(pid, group);
                }
            }
        }
    }
}

/// Waits for a time that may never come.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Passes one request to stop on to the child.
fn forward(pid: Pid, group: Group, interrupts: &Interrupts) {
    if group == Group::Shared && interrupts.came_from_keyboard() {
        return;
    }
    // A child that is gone already needs no signal.
    let _ = kill(pid, STOP);
}

/// Returns whether a child ended by a signal, and so had no chance to end what it had started.
fn was_killed(status: &std::io::Result<ExitStatus>) -> bool {
    status.as_ref().is_ok_and(|status| status.signal().is_some())
}

/// Kills what an interrupted or killed child left behind in its group: tofu ends a provisioner's
/// shell, but not what that shell has started.
fn kill_the_rest(pid: Pid, group: Group) {
    if group == Group::Own {
        let _ = killpg(pid, Signal::SIGKILL);
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts a process")]
fn command_of(call: &Invocation, group: Group) -> Command {
    let mut command = Command::new(&call.program);
    command
        .args(call.arguments())
        .current_dir(&call.dir)
        .env_clear()
        .envs(call.env.iter())
        .stdin(Stdio::null());
    if group == Group::Own {
        command.process_group(0);
    }
    command
}

/// The pipes of a call: the child's ends, and ours.
struct Pipes {
    stdout: Stdio,
    stderr: Stdio,
    mappings: Vec<FdMapping>,
    feeds: Vec<PipeWriter>,
    ours: OurEnds,
    /// Further reading ends, for the watchdog.
    drains: Vec<PipeReader>,
}

/// Where we read what a child writes.
struct OurEnds {
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    tap: pipe::Receiver,
}

impl Pipes {
    fn open(call: &Invocation) -> std::io::Result<Self> {
        let (mut mapped, feeds) = open_feeds(call)?;
        let ((stdout, to_stdout), (stderr, to_stderr)) = (std::io::pipe()?, std::io::pipe()?);
        let (tap, to_tap) = std::io::pipe()?;
        // Without a tap nobody gets the writing end, and its reader ends at once.
        mapped.extend(call.tap.then(|| to_tap.into()));
        let drains = vec![stdout.try_clone()?, stderr.try_clone()?, tap.try_clone()?];
        let ours = OurEnds { stdout: receiver(stdout)?, stderr: receiver(stderr)?, tap: receiver(tap)? };
        let (stdout, stderr) = (to_stdout.into(), to_stderr.into());
        Ok(Self { stdout, stderr, mappings: mappings(mapped), feeds, ours, drains })
    }
}

/// Opens a pipe for each text that the child is to read: its ends, and ours.
fn open_feeds(call: &Invocation) -> std::io::Result<(Vec<OwnedFd>, Vec<PipeWriter>)> {
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for _ in &call.feeds {
        let (reader, writer) = std::io::pipe()?;
        readers.push(reader.into());
        writers.push(writer);
    }
    Ok((readers, writers))
}

/// Gives the descriptors the numbers after the standard ones, in order.
fn mappings(fds: Vec<OwnedFd>) -> Vec<FdMapping> {
    let numbered = fds.into_iter().zip(Invocation::FIRST_FREE_FD..);
    numbered.map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd }).collect()
}

/// Writes bytes into a pipe from a thread of its own: a pipe holds 64 KiB, and the child may read late.
fn feed(mut writer: PipeWriter, bytes: Vec<u8>) {
    std::thread::spawn(move || {
        // A child that never reads closes the pipe when it ends; its own error says why.
        let _ = writer.write_all(&bytes);
    });
}

/// Makes our end of a pipe readable without blocking.
fn receiver(reader: PipeReader) -> std::io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(reader.into())
}

fn cannot_start(program: &Path, error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot start `{}`", program.display())).because(error)
}
