//! The records of a capture file.

use std::borrow::Cow;

use crate::UnixTime;
use crate::block::{Options, option};

/// A place where packets were captured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interface {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// The link type, as numbered for capture files: 1 is Ethernet, 101 IP without a link header.
    pub link_type: u16,
    /// Most bytes that were kept of a frame; 0 if all were.
    pub snap_len: u32,
}

/// What the capturing side counted at an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// When capturing began.
    pub start: Option<UnixTime>,
    /// When capturing ended.
    pub end: Option<UnixTime>,
    /// Packets that came in.
    pub received: Option<u64>,
    /// Packets that the interface dropped for want of room: they passed, but are not in the file.
    pub dropped: Option<u64>,
    /// Packets that the operating system dropped before the capturing program had them.
    pub dropped_by_os: Option<u64>,
}

impl Statistics {
    /// Packets dropped by the interface and the operating system.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.unwrap_or(0).saturating_add(self.dropped_by_os.unwrap_or(0))
    }
}

/// The direction of a packet at its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Received.
    Inbound,
    /// Sent.
    Outbound,
}

/// One captured packet. Lent by the [`Reader`](crate::Reader) until the next is asked for.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// Where it was captured: an index into [`Reader::interfaces`](crate::Reader::interfaces).
    pub interface: u32,
    /// When; `None` if the file has none, or one beyond [`UnixTime`].
    pub time: Option<UnixTime>,
    /// As much of the frame as was kept.
    pub captured: &'a [u8],
    /// Length of the frame on the wire, in bytes.
    pub original_len: u32,
    pub(crate) options: Options<'a>,
}

impl<'a> Record<'a> {
    /// Its comments. Bytes that are no UTF-8 are replaced.
    pub fn comments(&self) -> Comments<'a> {
        Comments { options: self.options.clone() }
    }
    /// Its direction, if the file has it.
    pub fn direction(&self) -> Option<Direction> {
        let (_, flags) = self.options.clone().find(|(code, _)| *code == option::PACKET_FLAGS)?;
        match self.options.endian.u32_at(flags, 0)? & 3 {
            1 => Some(Direction::Inbound),
            2 => Some(Direction::Outbound),
            _ => None,
        }
    }
}

/// The comments of a [`Record`], in the order written.
#[derive(Debug, Clone)]
pub struct Comments<'a> {
    options: Options<'a>,
}

impl<'a> Iterator for Comments<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let (_, text) = self.options.find(|(code, _)| *code == option::COMMENT)?;
        Some(String::from_utf8_lossy(text))
    }
}
