//! Where trials run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a trial runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum World {
    /// This machine's kernel, in real time.
    #[default]
    #[serde(rename = "kernel")]
    Kernel,
    /// Models, in virtual time.
    #[serde(rename = "sim")]
    Simulated,
}

impl World {
    /// `kernel` or `sim`.
    pub fn name(self) -> &'static str {
        match self {
            World::Kernel => "kernel",
            World::Simulated => "sim",
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where the cases of a run ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunWorld {
    /// All on the kernel.
    #[default]
    #[serde(rename = "kernel")]
    Kernel,
    /// All in virtual time.
    #[serde(rename = "sim")]
    Simulated,
    /// Each case where its stacks are.
    #[serde(rename = "kernel and sim")]
    Both,
}

impl RunWorld {
    /// `kernel`, `sim` or `kernel and sim`.
    pub fn name(self) -> &'static str {
        match self {
            RunWorld::Kernel => "kernel",
            RunWorld::Simulated => "sim",
            RunWorld::Both => "kernel and sim",
        }
    }

    /// Whether all ran in virtual time.
    pub fn is_simulated(self) -> bool {
        self == RunWorld::Simulated
    }

    /// Whether a case of the run ran in `world`.
    pub fn has(self, world: World) -> bool {
        match self {
            RunWorld::Kernel => world == World::Kernel,
            RunWorld::Simulated => world == World::Simulated,
            RunWorld::Both => true,
        }
    }
}

impl From<World> for RunWorld {
    fn from(world: World) -> RunWorld {
        match world {
            World::Kernel => RunWorld::Kernel,
            World::Simulated => RunWorld::Simulated,
        }
    }
}

impl fmt::Display for RunWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
