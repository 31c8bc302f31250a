//! What is wrong with a workload.

use tcplab_units::Bytes;

use crate::program::ProgramError;

/// Why a workload cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// It goes in both directions.
    #[error("`upload` and `download` exclude one another")]
    Both,
    /// It does nothing.
    #[error(
        "the workload does nothing: there is none of `upload`, `download`, `requests`, \
         `keystrokes`, `idle`, `connect`, `datagrams`, `load`, \
         `client` and `server`"
    )]
    Neither,
    /// It is of two kinds.
    #[error("`{0}` and `{1}` exclude one another")]
    Several(&'static str, &'static str),
    /// The named amount or number is zero.
    #[error("`{0}` is 0: there is nothing to do")]
    Nothing(&'static str),
    /// The pieces are too small or too large.
    #[error("`write_size` is {0}: it must be from 1 B to 16 MiB")]
    WriteSize(Bytes),
    /// The same of another size.
    #[error("`{0}` is {1}: it must be from 1 B to 16 MiB")]
    Size(&'static str, Bytes),
    /// A datagram has no room for its mark, or does not fit into a packet.
    #[error("`{0}` is {1}: a datagram must have from 8 B to 1472 B")]
    DatagramSize(&'static str, Bytes),
    /// Two ways to say when the next request begins.
    #[error("`datagrams.every` and `datagrams.think` exclude one another")]
    EveryAndThink,
    /// Datagrams have none.
    #[error("`connections` are not of `datagrams`, which have none")]
    NoConnections,
    /// A number is larger than it can be.
    #[error("`{key}` can be {most} at most here")]
    TooMany {
        /// Which.
        key: &'static str,
        /// What it can be.
        most: u64,
    },
    /// A key belongs to another kind of workload.
    #[error("`{0}` is of `upload` and `download` only")]
    OfBulk(&'static str),
    /// A key that means nothing to what the bytes go through.
    #[error("`{0}` means nothing to bytes that go through {1}")]
    NotThrough(&'static str, &'static str),
    /// The urgent byte lies behind the last one.
    #[error("`urgent_at` is {0}: the urgent byte must be one of those that are sent")]
    BehindTheEnd(Bytes),
    /// Steps that are no program.
    #[error("{1}")]
    Program(&'static str, ProgramError),
}

impl WorkloadError {
    /// The key it is about; the section itself when a key is missing.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            WorkloadError::Both => Some("download"),
            WorkloadError::Neither => None,
            WorkloadError::Several(_, key)
            | WorkloadError::Nothing(key)
            | WorkloadError::Size(key, _)
            | WorkloadError::DatagramSize(key, _)
            | WorkloadError::TooMany { key, .. }
            | WorkloadError::OfBulk(key)
            | WorkloadError::NotThrough(key, _)
            | WorkloadError::Program(key, _) => Some(key),
            WorkloadError::EveryAndThink => Some("datagrams.think"),
            WorkloadError::NoConnections => Some("connections"),
            WorkloadError::WriteSize(_) => Some("write_size"),
            WorkloadError::BehindTheEnd(_) => Some("urgent_at"),
        }
    }

    /// What would be right.
    pub fn help(&self) -> &'static str {
        match self {
            WorkloadError::Both => "keep one of the two: a trial carries one bulk of data",
            WorkloadError::Neither => {
                "write `upload = \"10 MB\"`, or what the ends do, such as\n\
                 client = [\"write 100 B\", \"sleep 3 s\", \"read 1 B\", \"close\"]"
            }
            WorkloadError::Several("datagrams", _) | WorkloadError::Several(_, "datagrams") => {
                "keep one of the two: datagrams have no connection for the other"
            }
            WorkloadError::Several(..) => {
                "keep one of the two; `client` and `server` can do both, step by step"
            }
            WorkloadError::Nothing("upload" | "download") => {
                "write an amount of at least 1 B, such as \"10 MB\""
            }
            WorkloadError::Nothing(_) => "write at least 1",
            WorkloadError::WriteSize(_) => "leave it out for 64 KiB",
            WorkloadError::Size("read_size", _) => "leave it out for 256 KiB",
            WorkloadError::Size(..) => "write a size such as \"100 B\"",
            WorkloadError::TooMany { .. } => "write less",
            WorkloadError::NotThrough(..) => "leave it out, or `through`",
            WorkloadError::DatagramSize(..) => {
                "eight bytes are its mark; more than 1472 B would be cut into fragments"
            }
            WorkloadError::EveryAndThink => {
                "keep one of the two: `every` counts from the beginning of the last request, \
                 `think` from its end"
            }
            WorkloadError::NoConnections => "leave it out: there is one client",
            WorkloadError::OfBulk(_) => {
                "leave it out, or say what the ends do with `client` and `server`, step by step"
            }
            WorkloadError::BehindTheEnd(_) => "the first byte is at \"0 B\"",
            WorkloadError::Program(_, error) => error.help(),
        }
    }
}
