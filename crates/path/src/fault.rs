//! What is wrong with a path, and where it is written.

use std::fmt;

use crate::direction::Direction;

/// A path that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PathError {
    /// The key at fault, relative to the path: `queue`, `forward.interruption.lasting`,
    /// `stages.0.rate`.
    pub key: String,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

/// What is wrong with the value of a key: the key below its own (empty for itself) and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) below: &'static str,
    pub(crate) what: String,
}

impl Fault {
    /// The value itself is wrong.
    pub(crate) fn here(what: impl Into<String>) -> Fault {
        Fault { below: "", what: what.into() }
    }
    /// The value of the key `below` in it is.
    pub(crate) fn below(below: &'static str, what: impl Into<String>) -> Fault {
        Fault { below, what: what.into() }
    }
}

impl From<(&'static str, String)> for Fault {
    fn from((below, what): (&'static str, String)) -> Fault {
        Fault { below, what }
    }
}

/// A table of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// The path's own.
    Path,
    /// That of a direction.
    Link(Direction),
    /// That of a stage, by its index, of the path or of a direction.
    Stage(Option<Direction>, usize),
}

impl Table {
    /// The direction that alone it is about; none of the path's own.
    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Table::Path => None,
            Table::Link(direction) => Some(direction),
            Table::Stage(direction, _) => direction,
        }
    }
}

impl fmt::Display for Table {
    /// The prefix of its keys, such as `forward.`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Table::Path => Ok(()),
            Table::Link(direction) => write!(f, "{direction}."),
            Table::Stage(None, index) => write!(f, "stages.{index}."),
            Table::Stage(Some(direction), index) => write!(f, "{direction}.stages.{index}."),
        }
    }
}
