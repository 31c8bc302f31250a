//! The outcome of a script.

use std::fmt;

use tcplab_packetdrill::{Line, ParseError, ScriptOutcome};

use super::found::Found;

/// The outcome of a script.
pub(super) struct Outcome {
    pub(super) script: Found,
    pub(super) result: Result<(ScriptOutcome, Vec<Line>), Unreadable>,
}

/// Why a script could not be read.
pub(super) enum Unreadable {
    /// Where, and what is wrong there.
    Line(ParseError),
    /// The whole file, or all that it asks for.
    File(String),
}

impl Unreadable {
    /// As it stands behind the file's name.
    pub(super) fn behind_name(&self) -> String {
        match self {
            Unreadable::Line(error) => format!(":{error}"),
            Unreadable::File(why) => format!(": {why}"),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Line(error) => error.fmt(f),
            Unreadable::File(why) => why.fmt(f),
        }
    }
}

/// The outcomes of all scripts on one stack.
pub(super) struct StackResults {
    /// Its name, as on the command line.
    pub(super) stack: String,
    pub(super) outcomes: Vec<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Passed,
    Failed,
    Unsupported,
    Unreadable,
}

impl Kind {
    pub(super) const ALL: [Kind; 4] =
        [Kind::Passed, Kind::Failed, Kind::Unsupported, Kind::Unreadable];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Passed => "passed",
            Kind::Failed => "failed",
            Kind::Unsupported => "unsupported",
            Kind::Unreadable => "unreadable",
        }
    }
}

impl Outcome {
    pub(super) fn kind(&self) -> Kind {
        match &self.result {
            Ok((ScriptOutcome::Passed(_), _)) => Kind::Passed,
            Ok((ScriptOutcome::Failed(_), _)) => Kind::Failed,
            Ok((ScriptOutcome::Unsupported(_), _)) => Kind::Unsupported,
            Err(_) => Kind::Unreadable,
        }
    }

    /// Why it did not pass.
    pub(super) fn why(&self) -> Option<String> {
        match &self.result {
            Ok((ScriptOutcome::Passed(_), _)) => None,
            Ok((ScriptOutcome::Failed(failure), _)) => Some(failure.to_string()),
            Ok((ScriptOutcome::Unsupported(found), _)) => {
                Some(format!("{}: {}", found.at, found.construct))
            }
            Err(why) => Some(why.to_string()),
        }
    }
}

/// `11 passed, 0 failed, 13 unsupported`.
pub(super) fn sum(results: &[Outcome]) -> String {
    let counted = |kind: Kind| results.iter().filter(|result| result.kind() == kind).count();
    let counts = Kind::ALL.map(|kind| (kind, counted(kind)));
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(kind, count)| *count > 0 || *kind != Kind::Unreadable)
        .map(|(kind, count)| format!("{count} {}", kind.name()))
        .collect();
    parts.join(", ") + "\n"
}
