//! Bytes of a pipe, cut into lines without losing any.
//!
//! A line is handed on whole, however many reads it took; bytes that are no UTF-8 are
//! replaced, a last line without an end is still a line.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Calls `on_line` for each line until the pipe closes.
pub(super) async fn each_line<R: AsyncRead + Unpin>(
    pipe: R,
    mut on_line: impl FnMut(&str),
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        on_line(&String::from_utf8_lossy(text));
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        each_line(bytes, |line| lines.push(line.to_owned())).await.expect("memory can be read");
        lines
    }

    #[tokio::test]
    async fn every_byte_belongs_to_a_line_even_without_an_end() {
        assert_eq!(lines_of(b"one\r\ntwo\n\nlast").await, ["one", "two", "", "last"]);
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_replaced_and_not_lost() {
        assert_eq!(lines_of(b"a\xffb\n").await, ["a\u{fffd}b"]);
    }
}
