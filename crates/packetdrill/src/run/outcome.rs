//! The result of a script.

use crate::source::Position;

/// The result of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptOutcome {
    /// Everything happened as the script says. Packets that no line expected, in the script's
    /// notation.
    Passed(Vec<String>),
    /// Something differed.
    Failed(Failure),
    /// It needs something that is not supported.
    Unsupported(Unsupported),
}

/// The first difference from the script.
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

/// Characters of what is not supported: a name of a script may have any length.
const LONGEST: usize = 160;

/// Something that a script needs and that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: not supported: {construct}")]
pub struct Unsupported {
    /// The script's line.
    pub at: Position,
    /// What it needs: one wording for each construct, to be counted.
    pub construct: String,
}

impl Unsupported {
    /// Of what the script wrote, at most [`LONGEST`] characters.
    pub(super) fn new(at: Position, construct: String) -> Unsupported {
        let construct = match construct.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &construct[..end]),
            None => construct,
        };
        Unsupported { at, construct }
    }
}

fn shown(title: &str, line: Option<&String>) -> String {
    line.map(|line| format!("\n  {title}: {line}")).unwrap_or_default()
}

/// Why a run stops.
pub(super) enum Stop {
    Failed(Failure),
    Unsupported(Unsupported),
}

impl Stop {
    pub(super) fn failed(at: Position, what: String) -> Stop {
        Stop::Failed(Failure { at, what, expected: None, actual: None })
    }

    pub(super) fn unsupported(at: Position, construct: impl Into<String>) -> Stop {
        Stop::Unsupported(Unsupported::new(at, construct.into()))
    }
}

impl From<Stop> for ScriptOutcome {
    fn from(stop: Stop) -> ScriptOutcome {
        match stop {
            Stop::Failed(failure) => ScriptOutcome::Failed(failure),
            Stop::Unsupported(unsupported) => ScriptOutcome::Unsupported(unsupported),
        }
    }
}
