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
    /// The place of the byte `at` of `source`; its end when beyond.
    pub(crate) fn of(source: &str, at: usize) -> Position {
        let mut at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        let before = &source[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        }
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
        let at = Position::of(source, at);
        let line = source.lines().nth(at.line as usize - 1).unwrap_or_default().to_owned();
        ParseError { at, what, line }
    }
}

/// As wide as what stands before `column`, so that a mark below points at it.
fn blank(line: &str, column: u32) -> String {
    let before = line.chars().take(column as usize - 1);
    before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
}
