//! What tc is asked for.

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

use crate::Direction;

/// A path as tc takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcPlan {
    /// From client to server.
    pub forward: TcLink,
    /// From server to client.
    pub reverse: TcLink,
}

/// One direction of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcLink {
    /// Rate and queue: the arguments of the root qdisc and of the one in it.
    pub shaper: Option<[TcQdisc; 2]>,
    /// Delay, loss and so on behind the queue: the arguments of netem.
    pub line: Option<TcQdisc>,
    /// A distribution that tc must be given as a file.
    pub table: Option<TcTable>,
    /// What is different from the path that was asked for.
    pub notes: Vec<Note>,
    /// A packet missing after this long without any arrival is lost.
    pub patience: Span,
}

/// A queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcQdisc {
    /// Its kind, as tc names it: `tbf`.
    pub kind: String,
    /// Its arguments, the kind included; before it those that hold for any kind.
    pub words: Vec<String>,
    /// Its meaning, one sentence per command.
    pub stands_for: Vec<String>,
}

/// A distribution in netem's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcTable {
    /// The name that tc finds it by: that of the file without `.dist`.
    pub name: String,
    /// Its entries.
    pub values: Vec<i32>,
}

/// Something that the kernel does nearly the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The key that it is about, such as `forward.queue`.
    pub key: String,
    /// What is different.
    pub what: String,
}

impl TcPlan {
    /// Both directions, forward first.
    pub fn links(&self) -> [(Direction, &TcLink); 2] {
        [(Direction::Forward, &self.forward), (Direction::Reverse, &self.reverse)]
    }

    /// What is different from the path that was asked for; what is true of both directions is
    /// there once.
    pub fn notes(&self) -> Vec<&Note> {
        let mut notes: Vec<&Note> = Vec::new();
        for note in self.links().into_iter().flat_map(|(_, link)| &link.notes) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
