//! The directions of a path.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Endpoint;

/// One of the two directions of a path. Each has a link of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
}

impl Direction {
    /// Both, forward first.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The other direction.
    #[must_use]
    pub const fn opposite(self) -> Direction {
        Direction::from_sender(self.receiver())
    }

    /// The direction of what `sender` sends.
    pub const fn from_sender(sender: Endpoint) -> Direction {
        match sender {
            Endpoint::Client => Direction::Forward,
            Endpoint::Server => Direction::Reverse,
        }
    }

    /// The end whose packets go in this direction.
    pub const fn sender(self) -> Endpoint {
        match self {
            Direction::Forward => Endpoint::Client,
            Direction::Reverse => Endpoint::Server,
        }
    }

    /// The end that they go to.
    pub const fn receiver(self) -> Endpoint {
        self.sender().other()
    }

    /// As scenario files and logs write it.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The directions an impairment affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Directions {
    /// Both directions alike, at the same times.
    #[default]
    Both,
    /// Only from client to server.
    Forward,
    /// Only from server to client.
    Reverse,
}

impl From<Direction> for Directions {
    /// That one alone.
    fn from(direction: Direction) -> Directions {
        match direction {
            Direction::Forward => Directions::Forward,
            Direction::Reverse => Directions::Reverse,
        }
    }
}

impl Directions {
    /// Whether `direction` is among them.
    pub const fn include(self, direction: Direction) -> bool {
        matches!(
            (self, direction),
            (Directions::Both, _)
                | (Directions::Forward, Direction::Forward)
                | (Directions::Reverse, Direction::Reverse)
        )
    }
}
