//! The words of an expression, one after the other, for the filters' parsers.

use std::fmt;
use std::ops::Range;

/// As deep may expressions be nested.
const DEEPEST: usize = 64;

/// Why an expression could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    text: String,
    at: Range<usize>,
    message: String,
}

impl FilterError {
    /// Where in the expression, in bytes; empty at its end.
    pub fn place(&self) -> Range<usize> {
        self.at.clone()
    }
    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text[..self.at.start].chars().count();
        let marked = self.text[self.at.clone()].chars().count().max(1);
        write!(
            f,
            "{}\n  {}\n  {}{}",
            self.message,
            self.text,
            " ".repeat(before),
            "^".repeat(marked)
        )
    }
}

impl std::error::Error for FilterError {}

/// The words of an expression, and how far it has been read.
pub(crate) struct Words<'a> {
    text: &'a str,
    /// Where each word is.
    places: Vec<Range<usize>>,
    next: usize,
    depth: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str, places: Vec<Range<usize>>) -> Words<'a> {
        Words { text, places, next: 0, depth: 0 }
    }

    /// Where the next word is.
    pub(crate) fn peek(&self) -> Option<Range<usize>> {
        self.places.get(self.next).cloned()
    }

    /// The next word.
    pub(crate) fn ahead(&self) -> Option<&'a str> {
        Some(&self.text[self.peek()?])
    }

    /// Passes the next word, if it is one of these.
    pub(crate) fn take(&mut self, words: &[&str]) -> bool {
        let is = self.ahead().is_some_and(|word| words.contains(&word));
        self.next += usize::from(is);
        is
    }

    /// Passes the next word; `otherwise`: what is said where there is none.
    pub(crate) fn word(&mut self, otherwise: &str) -> Result<(&'a str, Range<usize>), FilterError> {
        let Some(place) = self.peek() else {
            let end = self.text.len();
            return Err(self.error(end..end, otherwise.to_owned()));
        };
        self.next += 1;
        Ok((&self.text[place.clone()], place))
    }

    /// Goes into what begins with the word at `at`; [`Words::leave`] goes out of it.
    pub(crate) fn enter(&mut self, at: Range<usize>) -> Result<(), FilterError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(at, "nested too deeply".into()));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), FilterError> {
        let Some(place) = self.peek() else { return Ok(()) };
        let found = &self.text[place.clone()];
        Err(self.error(place, format!("expected `and`, `or` or the end, not `{found}`")))
    }

    pub(crate) fn error(&self, at: Range<usize>, message: String) -> FilterError {
        FilterError { text: self.text.to_owned(), at, message }
    }
}
