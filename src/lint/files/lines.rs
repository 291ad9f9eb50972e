//! Where the lines of a file begin.

/// The lines of a text.
#[derive(Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Looks at a text.
    pub fn of(text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the line of a place, from one.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).max(1)
    }

    /// Returns how many letters a line of the text has.
    pub fn width(&self, text: &str, line: usize) -> usize {
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied();
        let rest = start.and_then(|start| text.get(start..)).unwrap_or_default();
        rest.lines().next().unwrap_or_default().encode_utf16().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_line_and_the_line_a_width() {
        let text = "a\nbé😀\r\n\nd";
        let lines = Lines::of(text);

        assert_eq!([0, 1, 2, 10, 11, 99].map(|at| lines.line(at)), [1, 1, 2, 2, 3, 4]);
        assert_eq!([1, 2, 3, 4, 5, 0].map(|line| lines.width(text, line)), [1, 4, 0, 1, 0, 0]);
    }
}
