//! The options of a TCP header.

use crate::SeqNumber;
use crate::ip::array;

/// Kinds of options (RFC 9293 section 3.2 and the registry it founds).
pub(crate) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NO_OPERATION: u8 = 1;
    pub(crate) const MSS: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
    pub(crate) const MPTCP: u8 = 30;
    pub(crate) const FAST_OPEN: u8 = 34;
    /// RFC 4727; what it means says the number that follows (RFC 6994).
    pub(crate) const EXPERIMENT: u8 = 254;
    /// Fast Open before it had a kind.
    pub(crate) const FAST_OPEN_EXPERIMENT: u16 = 0xf989;
}

/// One option as captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Padding between options.
    NoOperation,
    /// The largest segment the sender wants to receive, in bytes (RFC 9293 section 3.7.1).
    Mss(u16),
    /// The shift of the sender's windows (RFC 7323 section 2.2), as sent; above 14 means 14.
    WindowScale(u8),
    /// The sender takes selective acknowledgements (RFC 2018 section 2).
    SackPermitted,
    /// Blocks received out of order, or received again (RFC 2018 section 3, RFC 2883).
    Sack(SackBlocks),
    /// Clocks of both sides (RFC 7323 section 3.2).
    Timestamps {
        /// The sender's clock.
        value: u32,
        /// The receiver's clock as the sender last saw it.
        echo: u32,
    },
    /// The cookie of fast open, or none to ask for one (RFC 7413 section 4.1.1).
    FastOpen(&'a [u8]),
    /// What multipath TCP says (RFC 8684), not interpreted.
    Mptcp(&'a [u8]),
    /// An option of another kind.
    Unknown {
        /// Its kind.
        kind: u8,
        /// What follows its length.
        bytes: &'a [u8],
    },
    /// An option whose length cannot be, for its kind or for the header.
    Malformed {
        /// Its kind.
        kind: u8,
        /// What follows its kind; up to the end of the header if the length is invalid.
        bytes: &'a [u8],
    },
}

/// The options in order, up to the end-of-list option or the end of the captured header.
#[derive(Debug, Clone)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
    complete: bool,
}

impl<'a> TcpOptions<'a> {
    pub(crate) fn new(bytes: &'a [u8], complete: bool) -> TcpOptions<'a> {
        TcpOptions { rest: bytes, complete }
    }

    /// The option at the front that the header or the capture does not hold whole.
    fn broken_off(&mut self, kind: u8, behind_kind: &'a [u8]) -> Option<TcpOption<'a>> {
        self.rest = &[];
        self.complete.then_some(TcpOption::Malformed { kind, bytes: behind_kind })
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        let (&kind, behind_kind) = self.rest.split_first()?;
        match kind {
            kind::END => {
                self.rest = &[];
                return None;
            }
            kind::NO_OPERATION => {
                self.rest = behind_kind;
                return Some(TcpOption::NoOperation);
            }
            _ => {}
        }
        let Some(&len) = behind_kind.first() else {
            return self.broken_off(kind, behind_kind);
        };
        let len = usize::from(len);
        if len < 2 {
            self.rest = &[];
            return Some(TcpOption::Malformed { kind, bytes: behind_kind });
        }
        if len > self.rest.len() {
            return self.broken_off(kind, behind_kind);
        }
        let option = &self.rest[..len];
        self.rest = &self.rest[len..];
        let body = &option[2..];
        Some(match read(kind, body) {
            Some(known) => known,
            None => TcpOption::Malformed { kind, bytes: &option[1..] },
        })
    }
}

/// The option of this kind; `None` if `body` has not the length it must have.
pub(crate) fn read(kind: u8, body: &[u8]) -> Option<TcpOption<'_>> {
    let long = |len: usize| (body.len() == len).then_some(());
    Some(match kind {
        kind::MSS => {
            long(2)?;
            TcpOption::Mss(u16::from_be_bytes(array(body, 0)))
        }
        kind::WINDOW_SCALE => {
            long(1)?;
            TcpOption::WindowScale(body[0])
        }
        kind::SACK_PERMITTED => {
            long(0)?;
            TcpOption::SackPermitted
        }
        kind::SACK => TcpOption::Sack(read_blocks(body)?),
        kind::TIMESTAMPS => {
            long(8)?;
            TcpOption::Timestamps {
                value: u32::from_be_bytes(array(body, 0)),
                echo: u32::from_be_bytes(array(body, 4)),
            }
        }
        kind::FAST_OPEN => TcpOption::FastOpen(body),
        kind::MPTCP => TcpOption::Mptcp(body),
        _ => TcpOption::Unknown { kind, bytes: body },
    })
}

fn read_blocks(body: &[u8]) -> Option<SackBlocks> {
    let (pairs, rest) = body.as_chunks::<8>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let mut blocks = SackBlocks::default();
    for pair in pairs {
        let left = SeqNumber::new(u32::from_be_bytes(array(pair, 0)));
        let right = SeqNumber::new(u32::from_be_bytes(array(pair, 4)));
        if !blocks.push(SackBlock { left, right }) {
            return None;
        }
    }
    Some(blocks)
}

/// A stretch of the sequence that the receiver holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// Its first byte.
    pub left: SeqNumber,
    /// The byte after its last.
    pub right: SeqNumber,
}

/// At most four blocks: 40 bytes of options have no room for more (RFC 2018 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; SackBlocks::MOST],
    count: u8,
}

impl SackBlocks {
    /// How many blocks there can be.
    pub const MOST: usize = 4;

    /// The blocks as sent: the most recent first (RFC 2018 section 4), or a D-SACK (RFC 2883).
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
    /// The blocks in the order sent.
    pub fn iter(&self) -> std::slice::Iter<'_, SackBlock> {
        self.as_slice().iter()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// How many there are, 0 to 4.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }
    /// Adds a block at the end if there is room; whether there was.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let room = self.len() < SackBlocks::MOST;
        if room {
            self.blocks[self.len()] = block;
            self.count += 1;
        }
        room
    }
}

impl FromIterator<SackBlock> for SackBlocks {
    /// The first four.
    fn from_iter<I: IntoIterator<Item = SackBlock>>(blocks: I) -> SackBlocks {
        let mut first = SackBlocks::default();
        for block in blocks {
            if !first.push(block) {
                break;
            }
        }
        first
    }
}
impl<'a> IntoIterator for &'a SackBlocks {
    type Item = &'a SackBlock;
    type IntoIter = std::slice::Iter<'a, SackBlock>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|b| (b.left.as_u32(), b.right.as_u32()))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(left: u32, right: u32) -> SackBlock {
        SackBlock { left: SeqNumber::new(left), right: SeqNumber::new(right) }
    }
    fn all(bytes: &[u8]) -> Vec<TcpOption<'_>> {
        TcpOptions::new(bytes, true).collect()
    }

    #[test]
    fn reads_each_kind() {
        use TcpOption::*;
        for (bytes, expected) in [
            (&[][..], vec![]),
            (&[2, 4, 5, 180], vec![Mss(1460)]),
            (&[1, 3, 3, 7], vec![NoOperation, WindowScale(7)]),
            (&[4, 2, 0, 9], vec![SackPermitted]),
            (&[8, 10, 0, 0, 0, 1, 0, 0, 0, 2], vec![Timestamps { value: 1, echo: 2 }]),
            (
                &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 1, 0],
                vec![NoOperation, NoOperation, Sack([block(1, 256)].into_iter().collect())],
            ),
            (&[34, 2], vec![FastOpen(&[])]),
            (&[34, 4, 7, 8, 1], vec![FastOpen(&[7, 8]), NoOperation]),
            (&[30, 3, 0x20], vec![Mptcp(&[0x20])]),
            (&[253, 4, 1, 2], vec![Unknown { kind: 253, bytes: &[1, 2] }]),
        ] {
            assert_eq!(all(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn shows_what_is_malformed() {
        use TcpOption::*;
        for (bytes, expected) in [
            // A length that fits the header but not the kind: what follows can still be read.
            (&[2, 3, 5, 1][..], vec![Malformed { kind: 2, bytes: &[3, 5] }, NoOperation]),
            (&[5, 2, 1], vec![Malformed { kind: 5, bytes: &[2] }, NoOperation]),
            (&[5, 7, 0, 0, 0, 0, 0], vec![Malformed { kind: 5, bytes: &[7, 0, 0, 0, 0, 0] }]),
            // A length that is of no use: nothing more can be read.
            (&[3, 0, 1, 1], vec![Malformed { kind: 3, bytes: &[0, 1, 1] }]),
            (&[3, 1, 1], vec![Malformed { kind: 3, bytes: &[1, 1] }]),
            (&[8, 10, 0], vec![Malformed { kind: 8, bytes: &[10, 0] }]),
            (&[1, 8], vec![NoOperation, Malformed { kind: 8, bytes: &[] }]),
        ] {
            assert_eq!(all(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn an_option_cut_by_the_capture_is_not_malformed() {
        for cut in [&[1, 8][..], &[1, 8, 10], &[1, 8, 10, 0, 0, 0, 1, 0, 0]] {
            let found: Vec<_> = TcpOptions::new(cut, false).collect();
            assert_eq!(found, [TcpOption::NoOperation], "{cut:?}");
        }
    }

    #[test]
    fn five_blocks_do_not_fit() {
        let blocks: SackBlocks = (0..9).map(|i| block(i, i + 1)).collect();
        assert_eq!(blocks.len(), 4);
        assert_eq!(format!("{blocks:?}"), "[(0, 1), (1, 2), (2, 3), (3, 4)]");
    }
}
