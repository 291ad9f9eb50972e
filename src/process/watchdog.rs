//! What becomes of a child when this process dies without warning.
//!
//! A killed `infra` can tell its child nothing, and a tofu without a parent would go on
//! changing machines while nobody can save its state. Linux has a parent-death signal,
//! but it fires once for every thread of a dying parent (<https://github.com/golang/go/issues/27505>), and
//! tofu takes the second signal for "stop at once"
//! (<https://github.com/gruntwork-io/terragrunt/pull/2559>). Nor may the child's output go nowhere: writing to a broken stdout
//! kills a Go program before it can save its state, and a full pipe stops it for ever.
//!
//! So a tiny shell stands beside each child. It waits for a word on a pipe; if the pipe
//! closes without one, it asks the child to stop, reads the child's pipes empty, and
//! afterwards kills what is left of the child's group.

use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use command_fds::{CommandFdExt, FdMapping};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// `$1` is the child; `$2` its group, or nothing; the child's pipes are 3, 4 and 5 where there are any.
const SCRIPT: &str = r#"
trap "" INT TERM HUP
read -r word && exit
kill -TERM "$1"
for fd in 3 4 5; do [ -e "/dev/fd/$fd" ] && cat <"/dev/fd/$fd" & done
while kill -0 "$1"; do sleep 0.2; done
[ -z "$2" ] || kill -KILL "-$2"
"#;

/// Stands in for this process after its death, until it is dropped.
#[derive(Debug)]
pub(super) struct Watchdog {
    control: PipeWriter,
    /// Kept so that it is reaped; it ends by itself.
    _shell: Child,
}

impl Watchdog {
    /// Puts a child under watch; `group` says whether the child leads a group of its own.
    ///
    /// Without a shell a sudden death leaves tofu as it would be without this program, so
    /// a failure to start one is passed over.
    pub fn beside(pid: Pid, group: bool, pipes: Vec<PipeReader>) -> Option<Self> {
        start(pid, group, pipes).ok()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.control.write_all(b"done\n");
    }
}

#[expect(clippy::disallowed_methods, reason = "`process` is the place that starts processes")]
fn start(pid: Pid, group: bool, pipes: Vec<PipeReader>) -> std::io::Result<Watchdog> {
    let (reader, control) = std::io::pipe()?;
    let pid = pid.to_string();
    let group = if group { pid.as_str() } else { "" };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "infra-watchdog", &pid, group]).env_clear().current_dir("/").process_group(0);
    command.env("PATH", "/usr/bin:/bin");
    command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
    let mappings = pipes.into_iter().map(OwnedFd::from).zip(3..);
    let mappings = mappings.map(|(parent_fd, child_fd)| FdMapping { parent_fd, child_fd }).collect();
    command.fd_mappings(mappings).map_err(std::io::Error::other)?;
    Ok(Watchdog { control, _shell: command.spawn()? })
}
