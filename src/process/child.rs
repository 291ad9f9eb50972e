//! The life of one child: started in a group of its own, listened to, stopped in steps.
//!
//! A terminal's Ctrl-C reaches every process of the foreground group. Were tofu in ours,
//! it would hear the key and then our forwarded signal, and take the second for "stop at
//! once", losing state. So each child leads its own group and hears exactly one signal
//! for each request. After the second request it has [`GRACE`] to end before its whole
//! group is killed. On Linux a child is also told when this process dies without warning.

use std::future::Future;
use std::io::{IsTerminal, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::interrupts::{Interrupts, STOP};
use super::invocation::Invocation;
use super::lines::each_line;
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
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a child to its end and hands each line of its output on as it comes.
pub async fn run(
    call: Invocation,
    interrupts: &Interrupts,
    on_line: impl Fn(Stream, &str),
) -> Result<ExitStatus> {
    let mut started = Started::spawn(call, Streams::Piped)?;
    let stdout = started.child.stdout.take();
    let stderr = started.child.stderr.take();
    let tap = started.tap.take();
    let stop = interrupts.clone();
    let ended = async {
        tokio::try_join!(
            read_lines(stdout, |line| on_line(Stream::Stdout, line)),
            read_lines(stderr, |line| on_line(Stream::Stderr, line)),
            read_lines(tap, |line| on_line(Stream::Tap, line)),
        )
    };
    started.wait_with(stop, ended).await
}

/// Runs a child to its end and collects its output.
pub async fn capture(call: Invocation, interrupts: &Interrupts) -> Result<Captured> {
    let mut started = Started::spawn(call, Streams::Piped)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (mut out, mut err) = (started.child.stdout.take(), started.child.stderr.take());
    let collected =
        async { tokio::try_join!(read_all(out.as_mut(), &mut stdout), read_all(err.as_mut(), &mut stderr)) };
    let status = started.wait_with(interrupts.clone(), collected).await?;
    Ok(Captured { status, stdout, stderr })
}

/// Lends the terminal to a child and waits for it.
///
/// On a terminal the child stays in the foreground group, or it could not read the
/// keyboard; it then hears Ctrl-C from the terminal itself, and only other signals are
/// forwarded.
pub async fn passthrough(call: Invocation, interrupts: &Interrupts) -> Result<ExitStatus> {
    let started = Started::spawn(call, Streams::Inherited)?;
    started.wait_with(interrupts.clone(), std::future::ready(Ok(()))).await
}

/// Where a child's standard streams go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Streams {
    /// To us.
    Piped,
    /// Where ours go.
    Inherited,
}

/// Which process group a child belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Group {
    /// Its own.
    Own,
    /// Ours, because only the foreground group can read the terminal.
    Shared,
}

impl Group {
    fn of(streams: Streams) -> Self {
        let on_terminal = streams == Streams::Inherited && std::io::stdin().is_terminal();
        if on_terminal { Self::Shared } else { Self::Own }
    }
}

/// A running child.
struct Started {
    child: Child,
    pid: Pid,
    group: Group,
    tap: Option<pipe::Receiver>,
}

impl Started {
    fn spawn(call: Invocation, streams: Streams) -> Result<Self> {
        let group = Group::of(streams);
        let program = call.program.clone();
        let refused = |error| cannot_start(&program, error);
        let pipes = Pipes::open(&call).map_err(refused)?;
        let mut command = command_of(&call, streams, group);
        command.fd_mappings(pipes.mappings).map_err(|e| Error::bug("descriptors collide").because(e))?;
        die_with_parent(&mut command);
        let child = command.spawn().map_err(refused)?;
        // The command still owns the child's ends of the pipes; without this no reader sees an end.
        drop(command);
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let pid = pid.ok_or_else(|| Error::bug("a started process has no id"))?;
        pipes.writers.into_iter().zip(call.feeds).for_each(|(writer, bytes)| feed(writer, bytes));
        let tap = pipes.tap.map(receiver).transpose().map_err(refused)?;
        Ok(Self { child, pid, group, tap })
    }

    /// Drives the reading of the child's output, forwards requests to stop, and waits for the end.
    async fn wait_with<T>(
        mut self,
        mut interrupts: Interrupts,
        reading: impl Future<Output = std::io::Result<T>>,
    ) -> Result<ExitStatus> {
        let (pid, group) = (self.pid, self.group);
        let ended = async {
            tokio::pin!(reading);
            tokio::select! {
                read = &mut reading => { read?; self.child.wait().await }
                status = self.child.wait() => {
                    // A grandchild may keep the pipes open for ever; what the child wrote is there already.
                    let _ = tokio::time::timeout(DRAIN, reading).await;
                    status
                }
            }
        };
        tokio::pin!(ended);
        // Requests that came before this child are not its own.
        let mut heard = interrupts.count();
        loop {
            tokio::select! {
                status = &mut ended => {
                    return status.map_err(|e| Error::unavailable("cannot read what a child process wrote").because(e));
                }
                count = interrupts.beyond(heard) => {
                    forward(pid, group, &interrupts);
                    heard = count;
                    if count >= 2 {
                        kill_after_grace(pid, group);
                    }
                }
            }
        }
    }
}

/// Passes one request to stop on to the child.
fn forward(pid: Pid, group: Group, interrupts: &Interrupts) {
    if group == Group::Shared && interrupts.from_keyboard() {
        return;
    }
    // A child that is gone already needs no signal.
    let _ = kill(pid, STOP);
}

/// Kills what is left of the child's group once the grace is over.
fn kill_after_grace(pid: Pid, group: Group) {
    tokio::spawn(async move {
        tokio::time::sleep(GRACE).await;
        let _ = match group {
            Group::Own => killpg(pid, Signal::SIGKILL),
            Group::Shared => kill(pid, Signal::SIGKILL),
        };
    });
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts a process")]
fn command_of(call: &Invocation, streams: Streams, group: Group) -> Command {
    let mut command = Command::new(&call.program);
    command.args(&call.args).current_dir(&call.dir).env_clear().envs(call.env.iter());
    if streams == Streams::Piped {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    if group == Group::Own {
        command.process_group(0);
    }
    command
}

/// Asks the system to stop the child gently when this process dies without being able to.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "a hook between fork and exec; it makes one system call and allocates nothing"
)]
fn die_with_parent(command: &mut Command) {
    let hook = || nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(Into::into);
    // SAFETY: prctl is async-signal-safe and the closure touches no memory of the parent.
    unsafe { command.pre_exec(hook) };
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}

/// The extra pipes of a call: the child's ends by descriptor, and ours.
struct Pipes {
    mappings: Vec<FdMapping>,
    writers: Vec<PipeWriter>,
    tap: Option<PipeReader>,
}

impl Pipes {
    fn open(call: &Invocation) -> std::io::Result<Self> {
        let mut pipes = Self { mappings: Vec::new(), writers: Vec::new(), tap: None };
        for _ in &call.feeds {
            let (reader, writer) = std::io::pipe()?;
            pipes.map(reader.into());
            pipes.writers.push(writer);
        }
        if call.tap {
            let (reader, writer) = std::io::pipe()?;
            pipes.map(writer.into());
            pipes.tap = Some(reader);
        }
        Ok(pipes)
    }

    fn map(&mut self, parent_fd: OwnedFd) {
        let index = i32::try_from(self.mappings.len()).unwrap_or(i32::MAX / 2);
        self.mappings.push(FdMapping { parent_fd, child_fd: Invocation::fd_of(index) });
    }
}

/// Writes bytes into a pipe from a thread of its own: a pipe holds 64 KiB, and the child may read late.
fn feed(mut writer: PipeWriter, bytes: Vec<u8>) {
    std::thread::spawn(move || {
        // A child that never reads closes the pipe when it ends; its own error says why.
        let _ = writer.write_all(&bytes);
    });
}

/// Makes our end of the tap readable without blocking.
fn receiver(reader: PipeReader) -> std::io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(reader.into())
}

async fn read_lines<R>(pipe: Option<R>, on_line: impl FnMut(&str)) -> std::io::Result<()>
where
    R: tokio::io::AsyncRead + Unpin,
{
    match pipe {
        Some(pipe) => each_line(pipe, on_line).await,
        None => Ok(()),
    }
}

async fn read_all<R>(pipe: Option<&mut R>, into: &mut Vec<u8>) -> std::io::Result<usize>
where
    R: tokio::io::AsyncRead + Unpin,
{
    match pipe {
        Some(pipe) => tokio::io::AsyncReadExt::read_to_end(pipe, into).await,
        None => Ok(0),
    }
}

fn cannot_start(program: &std::path::Path, error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot start `{}`", program.display())).because(error)
}
