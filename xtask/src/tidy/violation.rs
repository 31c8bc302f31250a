//! What a rule finds.

use std::fmt;

/// One place that breaks one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) remedy: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { path, line, what, why, remedy } = self;
        write!(f, "{path}:{line}: {what}: {why}; {remedy}")
    }
}
