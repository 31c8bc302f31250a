//! A commit as people know it.

use serde::{Deserialize, Serialize};
use tcplab_units::visible_line;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its whole hash.
    pub hash: String,
    /// Name and address of its author.
    pub author: String,
    /// When it was written, ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// Digits of a hash that people read: as many as Linux asks for in messages
/// (Documentation/process/submitting-patches.rst).
const DIGITS: usize = 12;

impl Commit {
    /// The beginning of its hash.
    pub fn short(&self) -> &str {
        self.hash.get(..DIGITS).unwrap_or(&self.hash)
    }

    /// Hash and subject, with control characters visible.
    pub fn in_words(&self) -> String {
        format!("{} (\"{}\")", self.short(), visible_line(&self.subject))
    }
}
