//! What two endpoints exchange: a header and its data, not yet bytes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use tcplab_wire::{Ecn, TcpRepr};

/// A segment as a stack sends or receives it. It is serialised only where something looks at
/// them (a capture, a link that reads packets).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The TCP header with its options; ports are the world's affair.
    pub header: TcpRepr,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The data.
    pub data: Data,
    /// Where the receiving device joined segments to one (GRO, LRO): the data bytes of each.
    pub joined: Option<u32>,
}

impl Segment {
    /// A segment without data, not ECN-capable.
    pub fn bare(header: TcpRepr) -> Segment {
        Segment { header, ecn: Ecn::NotEct, data: Data::default(), joined: None }
    }

    /// Data bytes.
    pub fn len(&self) -> u32 {
        self.data.len()
    }

    /// Whether it carries no data.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

/// Some bytes of a stream: a part of a block that buffers and segments share.
#[derive(Clone, Default)]
pub struct Data {
    block: Option<Arc<[u8]>>,
    start: u32,
    len: u32,
}

impl Data {
    /// All of `bytes`, copied once.
    ///
    /// # Panics
    /// When they are 4 GiB or more.
    pub fn copy_of(bytes: &[u8]) -> Data {
        let len = u32::try_from(bytes.len()).expect("a block is below 4 GiB");
        Data { block: (len > 0).then(|| bytes.into()), start: 0, len }
    }

    /// A part of a block that others have, too.
    ///
    /// # Panics
    /// When `part` reaches beyond the end, or the block beyond 4 GiB.
    pub fn shared(block: &Arc<[u8]>, part: Range<usize>) -> Data {
        let whole = u32::try_from(block.len()).expect("a block is below 4 GiB");
        let block = (whole > 0).then(|| Arc::clone(block));
        Data { block, start: 0, len: whole }.part(part.start as u32..part.end as u32)
    }

    /// `len` bytes that `fill` writes over zeros.
    pub(crate) fn filled(len: u32, fill: impl FnOnce(&mut [u8])) -> Data {
        let mut block = vec![0; len as usize];
        fill(&mut block);
        Data { block: (len > 0).then(|| block.into()), start: 0, len }
    }

    /// How many bytes.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        let whole = self.block.as_deref().unwrap_or_default();
        &whole[self.start as usize..][..self.len as usize]
    }

    /// Takes in `next` if it lies right behind, in the same block; whether it does.
    pub(crate) fn join(&mut self, next: &Data) -> bool {
        let behind = match (&self.block, &next.block) {
            (Some(own), Some(other)) => {
                Arc::ptr_eq(own, other) && self.start + self.len == next.start
            }
            _ => false,
        };
        if behind {
            self.len += next.len;
        }
        behind
    }

    /// A part of them, in the same block.
    ///
    /// # Panics
    /// When `part` reaches beyond the end.
    #[must_use]
    pub fn part(&self, part: Range<u32>) -> Data {
        assert!(part.start <= part.end && part.end <= self.len, "{part:?} of {} B", self.len);
        Data {
            block: self.block.clone(),
            start: self.start + part.start,
            len: part.end - part.start,
        }
    }
}

/// Bytes that an application offers: taken as far as there is room.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Offered<'a> {
    /// What is taken is copied.
    Copied(&'a [u8]),
    /// What is taken is shared.
    Shared(&'a Data),
}

impl Offered<'_> {
    /// How many; of 4 GiB and more, what is below.
    pub(crate) fn len(self) -> u32 {
        match self {
            Offered::Copied(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            Offered::Shared(data) => data.len(),
        }
    }

    /// A part that is taken.
    ///
    /// # Panics
    /// When `part` reaches beyond the end.
    pub(crate) fn take(self, part: Range<u32>) -> Data {
        match self {
            Offered::Copied(bytes) => Data::copy_of(&bytes[part.start as usize..part.end as usize]),
            Offered::Shared(data) => data.part(part),
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl Eq for Data {}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.len)
    }
}
