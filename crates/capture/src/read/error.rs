//! Why a capture cannot be read, or not to its end.

use std::path::PathBuf;
use std::{fmt, io};

use crate::block::LONGEST_BLOCK;

/// Why a capture cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is of no format that is known.
    #[error("not a capture: {}", no_capture(begins))]
    NotACapture {
        /// Its first bytes, at most four.
        begins: Vec<u8>,
    },
    /// It may be a capture, but it is compressed.
    #[error("compressed with {with}: decompress it first")]
    Compressed {
        /// The name of the compression.
        with: &'static str,
    },
    /// The file ends in the middle of a record: its writer was killed.
    #[error("cut off in the middle of record {}; the {records} before it are good", records + 1)]
    Truncated {
        /// Records before the end, all good.
        records: u64,
    },
    /// A record or block is malformed.
    #[error("damaged at byte {at}, after {records} good records: {damage}")]
    Damaged {
        /// Records before the damage, all good.
        records: u64,
        /// Where in the file the damaged record or block begins.
        at: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// The stream cannot be read on.
    #[error("unreadable after {records} good records: {source}")]
    Io {
        /// Records before, all good.
        records: u64,
        /// The error of the system.
        source: io::Error,
    },
}

impl ReadError {
    /// What the user can do about it, where something can be done.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            ReadError::NotACapture { begins } if begins.is_empty() => Some(
                "nothing was captured: capture again, such as with `tcplab trace -i IFACE -w FILE`",
            ),
            ReadError::NotACapture { .. } => {
                Some("pass a pcap, pcapng, snoop, Network Monitor or ERF file, plain, gzip or zstd")
            }
            _ => None,
        }
    }

    pub(super) fn not_a_capture(ahead: &[u8]) -> ReadError {
        match ahead {
            [0x1f, 0x8b, ..] => ReadError::Compressed { with: "gzip" },
            [0x28, 0xb5, 0x2f, 0xfd, ..] => ReadError::Compressed { with: "zstd" },
            [0xfd, b'7', b'z', b'X', ..] => ReadError::Compressed { with: "xz" },
            [b'B', b'Z', b'h', ..] => ReadError::Compressed { with: "bzip2" },
            [0x04, 0x22, 0x4d, 0x18, ..] => ReadError::Compressed { with: "lz4" },
            _ => ReadError::NotACapture { begins: ahead[..ahead.len().min(4)].to_vec() },
        }
    }
}

fn no_capture(begins: &[u8]) -> String {
    match begins {
        [] => "it is empty".into(),
        _ => format!("it begins with {begins:02x?}, which no format of captures does"),
    }
}

/// What is wrong with a damaged capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A record or block claims a length in bytes that none has.
    Length(u32),
    /// The length at the end of a block is not that at its beginning.
    Lengths {
        /// The length at the beginning.
        first: u32,
        /// The length at the end.
        last: u32,
    },
    /// A section header without a byte order.
    ByteOrder,
    /// A section in another version of the format.
    Version(u16),
    /// A block is too short for what it must hold, or its packet is longer than the block.
    Overfull,
    /// A packet of an interface that the section has not described.
    UnknownInterface(u32),
    /// It describes more interfaces than these.
    Interfaces(usize),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Length(len) => {
                write!(f, "a length of {len} bytes (at most {LONGEST_BLOCK} are believed)")
            }
            Damage::Lengths { first, last } => {
                write!(f, "a block of {first} bytes says at its end that it has {last}")
            }
            Damage::ByteOrder => write!(f, "a section without a byte order"),
            Damage::Version(major) => write!(f, "a section in version {major} of the format"),
            Damage::Overfull => write!(f, "a block too short for what it should hold"),
            Damage::UnknownInterface(id) => {
                write!(f, "a packet of interface {id}, which was not described")
            }
            Damage::Interfaces(most) => {
                write!(f, "more than {most} interfaces: split the file (editcap -r)")
            }
        }
    }
}

/// Why reading stops, before it is known where.
#[derive(Debug)]
pub(super) enum Stop {
    Io(io::Error),
    Truncated,
    Damaged(Damage),
}

impl Stop {
    /// This, after so many `records`, in the record that begins at byte `at`.
    pub(super) fn after(self, records: u64, at: u64) -> ReadError {
        match self {
            Stop::Io(source) => ReadError::Io { records, source },
            Stop::Truncated => ReadError::Truncated { records },
            Stop::Damaged(damage) => ReadError::Damaged { records, at, damage },
        }
    }
}
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            // No file ends so by itself; what was compressed does, when it is cut off.
            io::ErrorKind::UnexpectedEof => Stop::Truncated,
            _ => Stop::Io(error),
        }
    }
}
impl From<Damage> for Stop {
    fn from(damage: Damage) -> Stop {
        Stop::Damaged(damage)
    }
}
