//! How a server carries its connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a server carries its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServerDesign {
    /// One connection after the other.
    Iterative,
    /// A process for each connection.
    Fork,
    /// A fixed number of processes, each of which accepts for itself.
    Prefork,
    /// A thread for each connection.
    Thread,
    /// A fixed number of threads, which take connections from a queue.
    ThreadPool,
    /// Event loops; the kernel reports which sockets are ready (epoll(7)).
    Epoll,
    /// Event loops; the kernel reports which operations are done (`io_uring(7)`).
    IoUring,
}

impl ServerDesign {
    /// All of them, from the simplest on.
    pub const ALL: [ServerDesign; 7] = [
        ServerDesign::Iterative,
        ServerDesign::Fork,
        ServerDesign::Prefork,
        ServerDesign::Thread,
        ServerDesign::ThreadPool,
        ServerDesign::Epoll,
        ServerDesign::IoUring,
    ];

    /// As scenario files and the command line write it.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it does, as a phrase.
    pub const fn about(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            ServerDesign::Iterative => ("iterative", "One connection after the other"),
            ServerDesign::Fork => ("fork", "A process for each connection"),
            ServerDesign::Prefork => {
                ("prefork", "A fixed number of processes, each of which accepts for itself")
            }
            ServerDesign::Thread => ("thread", "A thread for each connection"),
            ServerDesign::ThreadPool => {
                ("thread-pool", "A fixed number of threads, which take connections from a queue")
            }
            ServerDesign::Epoll => {
                ("epoll", "Event loops; the kernel reports which sockets are ready")
            }
            ServerDesign::IoUring => {
                ("io-uring", "Event loops; the kernel reports which operations are done")
            }
        }
    }

    /// The design of this name, if there is one.
    pub fn from_name(name: &str) -> Option<ServerDesign> {
        ServerDesign::ALL.into_iter().find(|design| design.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn files_write_the_name() {
        for design in ServerDesign::ALL {
            let name = StrDeserializer::<Error>::new(design.name());
            assert_eq!(ServerDesign::deserialize(name), Ok(design));
            assert_eq!(ServerDesign::from_name(design.name()), Some(design));
        }
        assert_eq!(ServerDesign::from_name("threads"), None);
    }
}
