//! Places in a script, and what is wrong there.

use std::fmt;

/// A place in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

impl Position {
    /// The place behind `text`, which begins here.
    pub(crate) fn behind(self, text: &str) -> Position {
        let lines = text.matches('\n').count() as u32;
        let last = text.rsplit('\n').next().unwrap_or_default().chars().count() as u32;
        let column = if lines == 0 { self.column + last } else { last + 1 };
        Position { line: self.line + lines, column }
    }
}

/// Where the lines of a script begin: found once, as every event asks for its place.
pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(source: &'a str) -> Lines<'a> {
        let after = source.match_indices('\n').map(|(newline, _)| newline + 1);
        Lines { source, starts: std::iter::once(0).chain(after).collect() }
    }

    /// The place of the byte `at`; the end of the script when beyond.
    pub(crate) fn position(&self, at: usize) -> Position {
        let mut at = at.min(self.source.len());
        while !self.source.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let before = &self.source[self.starts[line - 1]..at];
        Position { line: line as u32, column: before.chars().count() as u32 + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A script that cannot be read: where, what stands there and what could.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}{}", pointed_at(line, at.column))]
pub struct ParseError {
    /// Where it goes wrong.
    pub at: Position,
    /// What was expected and what was found.
    pub what: String,
    /// The script's line.
    pub line: String,
}

impl ParseError {
    pub(crate) fn new(source: &str, at: usize, what: String) -> ParseError {
        let at = Lines::of(source).position(at);
        let line = source.lines().nth(at.line as usize - 1).unwrap_or_default().to_owned();
        ParseError { at, what, line }
    }
}

/// So many characters of a line are shown.
const SHOWN: usize = 100;

/// The line, and below it a mark at `column`; of a long one what is around that.
fn pointed_at(line: &str, column: u32) -> String {
    let (count, column) = (line.chars().count(), column as usize - 1);
    // Half of it stands before the mark, unless the line ends sooner.
    let first = column.saturating_sub(SHOWN / 2).min(count.saturating_sub(SHOWN));
    let part: String = line.chars().skip(first).take(SHOWN).collect();
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (before, after) = (cut(first > 0), cut(first + SHOWN < count));
    let shown = format!("{before}{part}{after}");
    // As wide as what stands before the mark.
    let blank = shown.chars().take(column - first + before.chars().count());
    let blank: String = blank.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("\n  | {shown}\n  | {blank}^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_behind_text_counts_lines_and_characters() {
        let at = Position { line: 3, column: 5 };
        assert_eq!(at.behind("äb"), Position { line: 3, column: 7 });
        assert_eq!(at.behind("ab\n\nä"), Position { line: 5, column: 2 });
    }

    #[test]
    fn long_line_is_shown_around_its_mistake() {
        let line = format!("{}?{}", "a".repeat(1_000), "b".repeat(1_000));
        let (shown, mark) = (format!("…{}?{}…", "a".repeat(50), "b".repeat(49)), " ".repeat(51));
        assert_eq!(pointed_at(&line, 1_001), format!("\n  | {shown}\n  | {mark}^"));
        // At its ends as much is shown.
        assert_eq!(pointed_at(&line, 1), format!("\n  | {}…\n  | ^", "a".repeat(100)));
        let (shown, mark) = ("b".repeat(100), " ".repeat(101));
        assert_eq!(pointed_at(&line, 2_002), format!("\n  | …{shown}\n  | {mark}^"));
        assert_eq!(pointed_at("\tx ?", 4), "\n  | \tx ?\n  | \t  ^");
    }
}
