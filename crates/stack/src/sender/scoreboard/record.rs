//! One segment outstanding.

/// The peer said that it has it (TCPCB_SACKED_ACKED).
pub(super) const SACKED: u8 = 1;
/// Marked lost (TCPCB_LOST).
pub(super) const LOST: u8 = 2;
/// Retransmitted, and the retransmission is in flight (TCPCB_SACKED_RETRANS).
pub(super) const RETRANSMITTED: u8 = 4;
/// Sent more than once (TCPCB_EVER_RETRANS).
pub(super) const EVER: u8 = 8;
/// Stands in the order of sending.
pub(super) const LISTED: u8 = 16;
/// Left in one burst with the next (as one `skb`).
pub(super) const GOES_ON: u8 = 32;

/// SACKed, or lost by RACK, since it was last sent. Linux takes it out of the order of sending,
/// and does not put it back where the mark is undone (`tcp_rack_detect_loss`, `tcp_sacktag_walk`).
pub(super) const PASSED: u8 = 64;

/// No record.
pub(super) const NONE: u32 = u32::MAX;
/// As much of a record's number as a link holds: there are never that many at once.
pub(super) const LINK: u64 = 0x7fff_ffff;

/// A segment outstanding: one line of a cache, for large windows are walked through once for each
/// RTT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// Position of its first byte.
    pub(crate) start: u64,
    /// When it was last sent, µs.
    pub(crate) sent: u64,
    /// Which transmission of all that was, counted from 1.
    pub(crate) order: u64,
    /// What was delivered at that time.
    pub(crate) snapshot: Snapshot,
    /// Positions, FIN included.
    pub(super) len: u32,
    /// The low bits of its neighbours' numbers in the order of sending.
    pub(super) older: u32,
    pub(super) newer: u32,
    pub(super) marks: u8,
}

impl Record {
    /// Position behind its last, FIN included.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(crate) fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    pub(crate) fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }
    pub(crate) fn is_retransmitted(&self) -> bool {
        self.marks & RETRANSMITTED != 0
    }
    /// Whether it was sent more than once (`TCPCB_RETRANS`).
    pub(crate) fn was_retransmitted(&self) -> bool {
        self.marks & (EVER | RETRANSMITTED) != 0
    }
    pub(super) fn is_to_retransmit(&self) -> bool {
        self.marks & (LOST | RETRANSMITTED | SACKED) == LOST
    }
    pub(super) fn goes_on(&self) -> bool {
        self.marks & GOES_ON != 0
    }
}

/// A snapshot that was used.
const USED: u64 = u64::MAX;

/// How much was delivered when a segment left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snapshot {
    /// Segments delivered by then.
    pub(crate) delivered: u64,
    /// When the last of them was acknowledged, µs.
    pub(crate) delivered_at: u64,
    /// How long before that the first segment of this flight left, µs; above 71 minutes it makes no
    /// difference.
    pub(crate) after: u32,
    /// Whether the application had too little to send.
    pub(crate) app_limited: bool,
}

impl Snapshot {
    /// It counts once, though the segment may be SACKed and then acknowledged.
    pub(crate) fn use_up(&mut self) {
        self.delivered_at = USED;
    }

    pub(crate) fn is_used(&self) -> bool {
        self.delivered_at == USED
    }
}
