//! A captured frame, and which direction of which connection something is about.

use tcplab_wire::LinkType;

/// One captured frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// When it was captured, nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// How its first bytes are to be read.
    pub link: LinkType,
    /// Its captured bytes.
    pub captured: &'a [u8],
    /// How long it was, bytes.
    pub original_len: u32,
    /// The capture's comment on it.
    pub comment: Option<&'a str>,
}

impl<'a> Frame<'a> {
    /// A frame captured whole, without a comment.
    pub fn whole(time_ns: u64, link: LinkType, captured: &'a [u8]) -> Frame<'a> {
        Frame { time_ns, link, captured, original_len: captured.len() as u32, comment: None }
    }
}

/// A direction of a connection, which counts in the order of first packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowId {
    /// The connection, counted from 0.
    pub connection: usize,
    /// From client to server.
    pub forward: bool,
}
