//! Sequence numbers, which wrap, and positions, which do not.

use std::fmt;

/// A 32-bit TCP sequence number, without order: [`SeqUnwrapper`] gives positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeqNumber(u32);

impl SeqNumber {
    /// The number in the header.
    pub const fn new(n: u32) -> SeqNumber {
        SeqNumber(n)
    }
    /// The number in the header.
    pub const fn as_u32(self) -> u32 {
        self.0
    }
    /// The number `count` further on, modulo 2³².
    #[must_use]
    #[inline]
    pub const fn advanced_by(self, count: u32) -> SeqNumber {
        SeqNumber(self.0.wrapping_add(count))
    }
    /// How far it is beyond `other`, negative before it; valid within 2³¹.
    #[inline]
    pub const fn distance_from(self, other: SeqNumber) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
    /// Whether it lies beyond `other`, on the same terms.
    #[inline]
    pub const fn is_after(self, other: SeqNumber) -> bool {
        self.distance_from(other) > 0
    }
}
impl fmt::Display for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Turns the sequence numbers of one direction of a connection (those its sender sends, and those
/// its receiver acknowledges) into positions that do not wrap.
///
/// The initial sequence number is position 0, so the first byte of data is at 1. Earlier data are
/// negative (a capture that began in mid-connection, a keep-alive probe).
///
/// A number is at the position nearest to the reference, the latest trusted number: right within
/// 2³¹ bytes (RFC 7323 section 2.2 keeps windows below 2³⁰).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeqUnwrapper {
    initial: SeqNumber,
    reference: i64,
}

impl SeqUnwrapper {
    /// Positions relative to `initial`.
    pub const fn new(initial: SeqNumber) -> SeqUnwrapper {
        SeqUnwrapper { initial, reference: 0 }
    }
    /// The same numbers with the reference at `position`, where [`reference`](Self::reference) was.
    #[must_use]
    pub const fn resumed_at(self, position: i64) -> SeqUnwrapper {
        SeqUnwrapper { reference: position, ..self }
    }
    /// The position of the latest trusted number.
    pub const fn reference(&self) -> i64 {
        self.reference
    }
    /// The number at position 0.
    pub const fn initial(&self) -> SeqNumber {
        self.initial
    }
    /// The position of `seq`, without making it the reference.
    pub const fn position(&self, seq: SeqNumber) -> i64 {
        let near = self.sequence_number(self.reference);
        self.reference + seq.0.wrapping_sub(near.0) as i32 as i64
    }
    /// The position of `seq`, which becomes the reference. For numbers of segments that belong
    /// to the connection beyond doubt: two wild ones in a row could mislead it by 2³².
    pub const fn advance(&mut self, seq: SeqNumber) -> i64 {
        self.reference = self.position(seq);
        self.reference
    }
    /// The number at `position`.
    pub const fn sequence_number(&self, position: i64) -> SeqNumber {
        self.initial.advanced_by(position as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn positions_go_on_across_the_wrap() {
        let mut positions = SeqUnwrapper::new(SeqNumber::new(0xffff_ff00));
        for (seq, position) in [
            (0xffff_ff00, 0),
            (0xffff_ff01, 1),
            (0x0000_0010, 0x110),
            (0xffff_ff80, 0x80), // an old one again, before the wrap
            (0x0000_0020, 0x120),
            (0xffff_feff, -1), // a keep-alive probe of an idle connection
        ] {
            assert_eq!(positions.advance(SeqNumber::new(seq)), position, "{seq:#x}");
        }
    }

    #[test]
    fn an_untrusted_number_leaves_no_trace() {
        let mut positions = SeqUnwrapper::new(SeqNumber::new(5));
        positions.advance(SeqNumber::new(1_000));
        assert_eq!(positions.position(SeqNumber::new(0x7000_0000)), 0x7000_0000 - 5);
        assert_eq!(
            positions.position(SeqNumber::new(0xe000_0000)),
            0xe000_0000_i64 - (1 << 32) - 5
        );
        assert_eq!(positions.advance(SeqNumber::new(1_001)), 996);
    }

    proptest! {
        #[test]
        fn finds_every_position_within_two_gibibytes(
            initial: u32,
            steps in prop::collection::vec(-0x8000_0000_i64..0x8000_0000, 1..60),
        ) {
            let mut positions = SeqUnwrapper::new(SeqNumber::new(initial));
            let mut truth = 0;
            for step in steps {
                truth += step;
                let seq = positions.sequence_number(truth);
                prop_assert_eq!(positions.position(seq), truth);
                prop_assert_eq!(positions.advance(seq), truth);
            }
        }

        #[test]
        fn a_long_transfer_never_goes_back(initial: u32, step in 1_u32..0x4000_0000) {
            let mut positions = SeqUnwrapper::new(SeqNumber::new(initial));
            let mut seq = SeqNumber::new(initial);
            for count in 1..40_i64 {
                seq = seq.advanced_by(step);
                prop_assert_eq!(positions.advance(seq), count * i64::from(step));
            }
        }
    }
}
