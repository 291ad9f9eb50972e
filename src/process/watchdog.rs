//! What becomes of the children when this process dies without warning.
//!
//! A killed `infra` can tell its children nothing, and a tofu without a parent would go
//! on changing machines while nobody can save its state. Linux has a parent-death signal,
//! but it fires once for every thread of a dying parent, and tofu takes the second signal
//! for "stop at once". So a tiny shell waits on a pipe: each line names the children that
//! live now; when the pipe closes, those of the last line get one SIGTERM.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{PipeWriter, Write};
use std::process::Stdio;
use std::rc::Rc;

use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// Reads lines of process ids until the pipe closes, then asks those of the last line to stop.
const SCRIPT: &str = r#"trap "" INT TERM HUP; last=; while read -r line; do last=$line; done; [ -z "$last" ] || kill -TERM $last"#;

/// Stands in for this process after its death; clones share one shell.
#[derive(Clone, Debug, Default)]
pub(super) struct Watchdog(Rc<RefCell<Pack>>);

/// The children that live now, and the shell that knows them.
#[derive(Debug, Default)]
struct Pack {
    living: BTreeSet<i32>,
    shell: Option<Shell>,
}

#[derive(Debug)]
struct Shell {
    pipe: PipeWriter,
    /// Kept so that it is reaped; it ends by itself when the pipe closes.
    _child: Child,
}

/// Keeps a child under watch until it is dropped.
#[derive(Debug)]
pub(super) struct Watched {
    watchdog: Watchdog,
    pid: i32,
}

impl Watchdog {
    /// Puts a child under watch; the shell is started for the first one.
    pub fn watch(&self, pid: Pid) -> Watched {
        let mut pack = self.0.borrow_mut();
        if pack.shell.is_none() {
            // Without a shell a sudden death leaves tofu running, as it would be without this program.
            pack.shell = start_shell().ok();
        }
        pack.living.insert(pid.as_raw());
        pack.tell();
        Watched { watchdog: self.clone(), pid: pid.as_raw() }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut pack = self.watchdog.0.borrow_mut();
        pack.living.remove(&self.pid);
        pack.tell();
    }
}

impl Pack {
    fn tell(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        let line = self.living.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let _ = writeln!(shell.pipe, "{line}");
    }
}

#[expect(clippy::disallowed_methods, reason = "`process` is the place that starts processes")]
fn start_shell() -> std::io::Result<Shell> {
    let (reader, pipe) = std::io::pipe()?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
    command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(Shell { pipe, _child: command.spawn()? })
}
