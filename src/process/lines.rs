//! Bytes of a pipe, cut into lines without losing any.
//!
//! A line is handed on whole, however many reads it took; a last line without an end is
//! still a line.

use std::cell::Cell;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::Notify;

use super::raw::Raw;

/// How long a reader lets lines gather. A busy tofu writes hundreds of short lines; waking up for each
/// of them would take from it what little processor a small machine has.
const GATHER: Duration = Duration::from_millis(8);

/// Tells readers that nothing more is written, so that they need not wait for more.
#[derive(Debug, Default)]
pub(super) struct EndOfOutput {
    ended: Cell<bool>,
    told: Notify,
}

impl EndOfOutput {
    /// The writer has ended.
    pub fn ended(&self) {
        self.ended.set(true);
        self.told.notify_waiters();
    }

    async fn pause(&self) {
        if self.ended.get() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(GATHER) => {}
            () = self.told.notified() => {}
        }
    }
}

/// Calls `on_line` for each line until the pipe closes.
pub(super) async fn each_line<R: AsyncRead + Unpin>(
    pipe: R,
    hurry: &EndOfOutput,
    mut on_line: impl FnMut(Raw),
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        on_line(Raw::new(text));
        line.clear();
        if reader.buffer().is_empty() {
            hurry.pause().await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        each_line(bytes, &EndOfOutput::default(), |line| {
            lines.push(String::from_utf8_lossy(line.unmasked()).into_owned());
        })
        .await
        .expect("memory can be read");
        lines
    }

    #[tokio::test]
    async fn every_byte_belongs_to_a_line_even_without_an_end() {
        assert_eq!(lines_of(b"one\r\ntwo\n\nlast").await, ["one", "two", "", "last"]);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_not_lost() {
        assert_eq!(lines_of(b"a\xffb\n").await, ["a\u{fffd}b"]);
    }
}
