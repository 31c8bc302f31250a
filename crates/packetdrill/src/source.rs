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
#[error("{at}: {what}\n  | {line}\n  | {blank}^", blank = blank(line, at.column))]
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

/// As wide as what stands before `column`, so that a mark below points at it.
fn blank(line: &str, column: u32) -> String {
    let before = line.chars().take(column as usize - 1);
    before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
}
