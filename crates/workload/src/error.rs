//! Errors of a workload.

use tcplab_units::Bytes;

use crate::program::ProgramError;

/// Why a workload cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum WorkloadError {
    #[error("give either `upload` or `download`")]
    Both,
    #[error(
        "the workload is empty: give one of `upload`, `download`, `requests`, `keystrokes`, `idle`, \
         `connect`, `datagrams`, `load`, `client` and `server`"
    )]
    Neither,
    #[error("give either `{0}` or `{1}`")]
    Several(&'static str, &'static str),
    #[error("`{0}` must not be 0")]
    Nothing(&'static str),
    #[error("`write_size` is {0}: it must be from 1 B to 16 MiB")]
    WriteSize(Bytes),
    #[error("`{0}` is {1}: it must be from 1 B to 16 MiB")]
    Size(&'static str, Bytes),
    #[error("`{0}` is {1}: a datagram must have from 8 B to 1472 B")]
    DatagramSize(&'static str, Bytes),
    #[error("give either `datagrams.every` or `datagrams.think`")]
    EveryAndThink,
    #[error("`connections` does not apply to `datagrams`")]
    NoConnections,
    #[error("`{key}` must be at most {most} here")]
    TooMany { key: &'static str, most: u64 },
    #[error("`{key}` makes an end do {found} steps in a trial: at most {most}")]
    TooMuch { key: &'static str, found: u64, most: u64 },
    #[error("`{0}` applies to `upload` and `download` only")]
    OfBulk(&'static str),
    #[error("`{0}` does not apply to {1}")]
    NotThrough(&'static str, &'static str),
    #[error("`urgent_at` is {0}: it must be less than the amount that is sent")]
    BehindTheEnd(Bytes),
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
            | WorkloadError::TooMuch { key, .. }
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
            WorkloadError::Both => "remove one of the two: a trial has one bulk transfer",
            WorkloadError::Neither => {
                "write `upload = \"10 MB\"`, or a program, such as\n\
                 client = [\"write 100 B\", \"sleep 3 s\", \"read 1 B\", \"close\"]"
            }
            WorkloadError::Several("datagrams", _) | WorkloadError::Several(_, "datagrams") => {
                "remove one of the two"
            }
            WorkloadError::Several(..) => {
                "remove one of the two; programs (`client`, `server`) can do both"
            }
            WorkloadError::Nothing("upload" | "download") => {
                "write an amount of at least 1 B, such as \"10 MB\""
            }
            WorkloadError::Nothing("pause.every") => {
                "write an amount of at least 1 B, such as \"64 kB\""
            }
            WorkloadError::Nothing("datagrams.timeout" | "load.for") => {
                "write a time above zero, such as \"1 s\""
            }
            WorkloadError::Nothing(_) => "write at least 1",
            WorkloadError::WriteSize(_) => "remove it for the default of 64 KiB",
            WorkloadError::Size("read_size", _) => "remove it for the default of 256 KiB",
            WorkloadError::Size(..) => "write a size such as \"100 B\"",
            WorkloadError::TooMany { .. } => "give a smaller number",
            WorkloadError::TooMuch { .. } => "repeat less often, or do more in each step",
            WorkloadError::NotThrough(..) => "remove it, or remove `through`",
            WorkloadError::DatagramSize(..) => {
                "8 B are its header; more than 1472 B would be fragmented"
            }
            WorkloadError::EveryAndThink => {
                "remove one of the two: `every` counts from the start of the previous request, `think` \
                 from its end"
            }
            WorkloadError::NoConnections => "remove it: there is one client",
            WorkloadError::OfBulk(_) => "remove it, or write programs (`client`, `server`)",
            WorkloadError::BehindTheEnd(_) => "the first byte is at \"0 B\"",
            WorkloadError::Program(_, error) => error.help(),
        }
    }
}
