//! A run on a pseudo terminal: what a person sees and types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};

use super::run::wait_until;

/// A run with a person in front of it.
pub struct AtTerminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl AtTerminal {
    /// Starts a command on a terminal of 100 columns.
    pub fn start(command: Command) -> Self {
        Self::sized(command, 40, 100)
    }

    /// Starts a command on a terminal that cannot move its cursor.
    pub fn dumb(command: Command) -> Self {
        Self::open(command, (40, 100), "dumb")
    }

    /// Starts a command on a terminal of this size.
    pub fn sized(command: Command, rows: u16, columns: u16) -> Self {
        Self::open(command, (rows, columns), "xterm")
    }

    fn open(mut command: Command, (rows, columns): (u16, u16), kind: &str) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("a pseudo terminal");
        let slave = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("a descriptor"));
        command
            .env("TERM", kind)
            .stdin(slave(&pty.slave))
            .stdout(slave(&pty.slave))
            .stderr(slave(&pty.slave));
        let child = command.spawn().expect("the binary starts");
        drop(command);
        drop(pty.slave);
        let screen = Arc::new(Mutex::new(String::new()));
        let master = File::from(pty.master.try_clone().expect("a descriptor"));
        let reader = std::thread::spawn({
            let screen = Arc::clone(&screen);
            move || copy_to(master, &screen)
        });
        Self { child, keyboard: File::from(pty.master), screen, reader }
    }

    /// Waits until the screen shows a text.
    pub fn sees(&self, text: &str) -> &Self {
        wait_until(&format!("the screen shows `{text}`; it shows:\n{}", self.screen()), || {
            self.screen().contains(text)
        });
        self
    }

    /// Types a line.
    pub fn types(&mut self, line: &str) -> &mut Self {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).expect("a keyboard");
        self
    }

    /// Waits for the end and returns exit code and screen.
    pub fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("the process ends").code();
        // What it wrote last may still be on its way to the screen.
        wait_until("nobody holds the terminal any more", || self.reader.is_finished());
        (code, self.screen())
    }

    pub fn screen(&self) -> String {
        self.screen.lock().expect("a screen").clone()
    }

    pub fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }
}

fn copy_to(mut reader: File, screen: &Mutex<String>) {
    let mut buffer = [0; 4096];
    // Reading fails once the last process has closed the terminal.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        screen.lock().expect("a screen").push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}
