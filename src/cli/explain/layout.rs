//! Text in columns for people: wrapped at spaces, never cut, at most [`WIDTH`] columns where words allow it.

use unicode_width::UnicodeWidthStr as _;

pub use crate::text::encoding::visible;

/// Columns of a page.
pub const WIDTH: usize = 120;

/// Breaks a text at spaces into lines of at most `width` columns; a longer word has a line of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|w| !w.is_empty()) {
            if !line.is_empty() && line.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Rows of cells below each other.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row; a newline in a cell breaks its line.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows as lines, `indent` columns from the left. A column is as wide as its widest cell, but no
    /// wider than its entry in `most`; the last column takes what is left of the page.
    pub fn print(&self, indent: usize, most: &[usize]) -> String {
        self.print_within(WIDTH, indent, most)
    }

    /// As [`Self::print`], on a page of so many columns.
    pub fn print_within(&self, page: usize, indent: usize, most: &[usize]) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut left = page.saturating_sub(indent);
        let mut widths = Vec::with_capacity(columns);
        for column in 0..columns {
            let cells = || self.rows.iter().filter_map(|r| r.get(column));
            let widest = cells().map(|c| widest_line(c)).max().unwrap_or(0);
            let longest_word = cells().flat_map(|c| c.split([' ', '\n'])).map(str::width).max().unwrap_or(0);
            let bound = if column + 1 == columns { left.max(24) } else { most.get(column).copied().unwrap_or(page) };
            let width = widest.min(bound.max(longest_word));
            left = left.saturating_sub(width + GAP);
            widths.push(width);
        }
        self.rows.iter().map(|row| lines(row, &widths, indent)).collect()
    }
}

/// Columns between two cells.
const GAP: usize = 2;

fn widest_line(cell: &str) -> usize {
    cell.split('\n').map(str::width).max().unwrap_or(0)
}

fn lines(row: &[String], widths: &[usize], indent: usize) -> String {
    let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for at in 0..height {
        let mut line = " ".repeat(indent);
        for (cell, width) in cells.iter().zip(widths) {
            let text = cell.get(at).map_or("", String::as_str);
            line.push_str(text);
            line.push_str(&" ".repeat(width.saturating_sub(text.width()) + GAP));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A number with its digits in groups of three.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_wrapped_in_their_column_and_wide_characters_count_twice() {
        let mut table = Table::default();
        table.row(["資料", "one two three", "x"]);
        table.row(["a", "b", "y"]);
        assert_eq!(table.print(1, &[9, 7]), " 資料  one two  x\n       three\n a     b        y\n");
    }

    #[test]
    fn a_word_is_never_cut() {
        assert_eq!(wrap("a verylongword b", 4), ["a", "verylongword", "b"]);
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!([number(7), number(999), number(1000), number(1_234_567)], ["7", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn escapes_of_a_terminal_are_spelled_out() {
        assert_eq!(visible("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\n");
    }
}
