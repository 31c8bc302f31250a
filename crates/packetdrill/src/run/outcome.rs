//! What comes of a script.

use crate::source::Position;

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptOutcome {
    /// All happened as the script says. Packets that were sent and that no line asked for, as a
    /// script's end leaves them, in its notation.
    Passed(Vec<String>),
    /// Something happened otherwise.
    Failed(Failure),
    /// It asks for something that is not there.
    Unsupported(Unsupported),
}

/// The first thing that happened otherwise than the script says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}{}{}", shown("expected", expected.as_ref()), shown("actual  ", actual.as_ref()))]
pub struct Failure {
    /// The script's line.
    pub at: Position,
    /// What is wrong.
    pub what: String,
    /// What the script says, in its notation.
    pub expected: Option<String>,
    /// What happened, in the same.
    pub actual: Option<String>,
}

/// Something that a script asks for and that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: not supported: {construct}")]
pub struct Unsupported {
    /// The script's line.
    pub at: Position,
    /// What it asks for: the same words for the same construct, to be counted.
    pub construct: String,
}

fn shown(title: &str, line: Option<&String>) -> String {
    line.map(|line| format!("\n  {title}: {line}")).unwrap_or_default()
}

/// Why a run does not go on.
pub(super) enum Stop {
    Failed(Failure),
    Unsupported(Unsupported),
}

impl Stop {
    pub(super) fn failed(at: Position, what: String) -> Stop {
        Stop::Failed(Failure { at, what, expected: None, actual: None })
    }

    pub(super) fn unsupported(at: Position, construct: impl Into<String>) -> Stop {
        Stop::Unsupported(Unsupported { at, construct: construct.into() })
    }
}
