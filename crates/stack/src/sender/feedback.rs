//! What Accurate ECN tells a sender of its packets (RFC 9768 section 3.2).

use tcplab_wire::{AccEcnOption, Ecn};

/// The ACE counter begins here.
const FIRST: u64 = 5;
/// What a counter of three bits can tell apart.
const MASK: u64 = 7;
/// From this many acknowledged packets on an acknowledgement, on average, larger jumps are not
/// believed (`ACK_COMP_THRESH`), and the average's fraction bits.
const COMPRESSED: u64 = 4;
const FRACTION: u32 = 6;
/// An option must come before so much was sent, or not at all, bytes.
const TOO_LATE: u64 = (1 << 23) - 1;

/// What was seen of the peer's option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Seen {
    /// None yet.
    #[default]
    Nothing,
    /// One without counters.
    Empty,
    /// Counters.
    Counters,
    /// Counters that cannot be: a middlebox wrote them.
    Wrong,
}

/// An acknowledgement's part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    /// The ACE field.
    pub(crate) field: u8,
    pub(crate) option: Option<AccEcnOption>,
    /// The peer's timestamp is newer than before.
    pub(crate) is_newer: bool,
}

/// Progress that an acknowledgement made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Segments and bytes delivered.
    pub(crate) segments: u64,
    pub(crate) bytes: u64,
    pub(crate) mss: u64,
    /// Bytes sent so far.
    pub(crate) sent: u64,
    /// Whether losses cannot hide what was delivered: SACK, or no loss recovery.
    pub(crate) is_exact: bool,
}

/// What the peer received with CE, as far as told.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// Packets.
    pub(crate) marked: u64,
    /// Bytes, by codepoint.
    pub(crate) bytes: [u32; 4],
    pub(crate) seen: Seen,
    /// The peer's option is not believed any more.
    pub(crate) option_failed: bool,
    /// The codepoint whose counter grew last, if it alone did: it counts where no option came.
    estimate: Option<Ecn>,
    /// Segments for each acknowledgement, with a fraction.
    average: u64,
}

impl Feedback {
    /// The first look at the peer's option (`tcp_accecn_option_init`; RFC 9768 section 3.2.3.2.4).
    pub(crate) fn look(&mut self, option: &AccEcnOption) {
        if self.seen >= Seen::Counters {
            return;
        }
        let zeroed = |at: usize| usize::from(option.count) > at && option.counters[at] == 0;
        self.seen = match option.count {
            0 => Seen::Empty,
            _ if zeroed(0) || zeroed(2) => Seen::Wrong,
            _ => Seen::Counters,
        };
        self.option_failed |= self.seen == Seen::Wrong;
    }

    /// An acknowledgement: how many more packets it tells were marked (`__tcp_accecn_process`).
    pub(crate) fn hear(&mut self, told: &Told, progress: &Progress) -> u64 {
        if progress.segments == 0 && !told.is_newer {
            return 0;
        }
        let before = self.bytes[Ecn::Ce as usize];
        let counted = self.count_bytes(told, progress);
        if progress.segments > 0 {
            let sample = progress.segments << FRACTION;
            self.average = match self.average {
                0 => sample,
                old => ((old << FRACTION) - old + sample) >> FRACTION,
            }
            .min(0xffff);
        }
        let field = u64::from(told.field).wrapping_sub(FIRST);
        let least = field.wrapping_sub(self.marked) & MASK;
        let marked = self.resolve(least, counted, before, progress);
        self.marked += marked;
        marked
    }

    /// The counter may have wrapped where many were acknowledged at once (RFC 9768 appendix A.1).
    fn resolve(&self, least: u64, counted: bool, before: u32, progress: &Progress) -> u64 {
        let Progress { segments, bytes, mss, .. } = *progress;
        if segments <= MASK {
            return least;
        }
        let most = segments - ((segments - least) & MASK);
        if !counted {
            return if self.average > COMPRESSED << FRACTION { least } else { most };
        }
        let marked = u64::from(self.bytes[Ecn::Ce as usize].wrapping_sub(before));
        if marked == 0 {
            return least;
        }
        if segments >= 2 * (MASK + 1) && progress.is_exact {
            if bytes <= marked {
                return most;
            }
            let estimate = (marked * segments).div_ceil(bytes);
            return most.min(least + (estimate & !MASK));
        }
        if marked > least * mss {
            most
        } else if marked < (most * mss) >> 1 {
            least
        } else {
            most
        }
    }

    /// The option's counters; whether they can be relied on (`tcp_accecn_process_option`).
    fn count_bytes(&mut self, told: &Told, progress: &Progress) -> bool {
        if self.option_failed {
            return false;
        }
        let Some(option) = told.option else {
            if self.seen == Seen::Nothing {
                self.option_failed = progress.sent >= TOO_LATE;
                return false;
            }
            if let Some(codepoint) = self.estimate {
                let bytes = &mut self.bytes[codepoint as usize];
                *bytes = bytes.wrapping_add(progress.bytes as u32);
            }
            return self.estimate.is_some();
        };
        self.look(&option);
        let order = if option.ect1_first {
            [Ecn::Ect1, Ecn::Ce, Ecn::Ect0]
        } else {
            [Ecn::Ect0, Ecn::Ce, Ecn::Ect1]
        };
        let known = self.estimate;
        let (mut relied, mut ambiguous, mut first) = (known.is_some(), false, true);
        for (codepoint, told) in order.into_iter().zip(option.counters).take(option.count.into()) {
            let bytes = &mut self.bytes[codepoint as usize];
            let from = u32::from(codepoint != Ecn::Ce);
            // The difference of two numbers of 24 bits, with its sign.
            let change = (told.wrapping_sub(from).wrapping_sub(*bytes) << 8) as i32 >> 8;
            *bytes = bytes.wrapping_add(change as u32);
            if change < 0 {
                (relied, ambiguous) = (false, true);
            }
            if change != 0 && Some(codepoint) != known {
                if std::mem::take(&mut first) {
                    self.estimate = Some(codepoint);
                } else {
                    (relied, ambiguous) = (false, true);
                }
            }
        }
        if ambiguous {
            self.estimate = None;
        }
        relied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many segments acknowledged at once: a counter of three bits may have wrapped. Fields are the
    /// marks so far and 5, modulo 8; the option tells bytes with CE.
    #[test]
    fn feedback_of_stretched_acknowledgement_is_resolved() {
        let progress = |segments: u64| Progress {
            segments,
            bytes: segments * 1000,
            mss: 1000,
            sent: 100_000,
            is_exact: true,
        };
        for (segments, field, bytes, marked) in [
            (2, 5, None, 0),
            (2, 7, None, 2),
            (7, 4, None, 7),
            (10, 5, Some(0), 0),
            (10, 5, Some(8000), 8),
            (10, 6, Some(1000), 1),
            (10, 6, Some(9000), 9),
            (20, 5, Some(8000), 8),
            (20, 5, Some(16_000), 16),
        ] {
            let mut feedback = Feedback::default();
            let option =
                |ce, other| AccEcnOption { ect1_first: true, counters: [1, ce, other], count: 3 };
            // The last codepoint that grew alone was CE.
            let first = Told { field: 5, option: bytes.map(|_| option(0, 1)), is_newer: true };
            assert_eq!(feedback.hear(&first, &Progress { segments: 0, ..progress(1) }), 0);
            feedback.estimate = bytes.map(|_| Ecn::Ce);
            let told = Told { field, option: bytes.map(|bytes| option(bytes, 1)), is_newer: false };
            let heard = feedback.hear(&told, &progress(segments));
            assert_eq!(heard, marked, "{segments} segments, field {field}, {bytes:?}");
        }
    }

    #[test]
    fn feedback_of_old_acknowledgement_is_passed_over() {
        let mut feedback = Feedback::default();
        let told = Told { field: 6, option: None, is_newer: false };
        let none = Progress { segments: 0, bytes: 0, mss: 1000, sent: 0, is_exact: true };
        assert_eq!(feedback.hear(&told, &none), 0);
        assert_eq!(feedback.hear(&Told { is_newer: true, ..told }, &none), 1);
    }

    #[test]
    fn feedback_option_of_zeros_is_not_believed() {
        for (counters, count, seen) in [
            ([1, 0, 1], 3, Seen::Counters),
            ([0, 0, 1], 3, Seen::Wrong),
            ([1, 5, 0], 3, Seen::Wrong),
            ([1, 5, 0], 2, Seen::Counters),
            ([0, 0, 0], 0, Seen::Empty),
        ] {
            let mut feedback = Feedback::default();
            feedback.look(&AccEcnOption { ect1_first: false, counters, count });
            assert_eq!(feedback.seen, seen, "{counters:?}");
            assert_eq!(feedback.option_failed, seen == Seen::Wrong);
        }
    }
}
