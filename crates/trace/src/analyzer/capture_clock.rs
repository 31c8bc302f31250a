//! The capture's clock, where it was set while packets were captured.
//!
//! Nothing is captured before what was captured earlier: where times go back by more than packets
//! of several queues come out of order, the clock was set, and time goes on from the frame before.
//! Where they leap ahead, hours may have passed, or the clock was set; the sender's own
//! clock, which
//! its timestamps show (RFC 7323 section 5.4: it ticks at least each second), tells which.

use tcplab_units::Span;

/// By less, times go back where packets are captured in several queues.
const BACK: u64 = 100_000_000;
/// A leap by less is a pause like others.
const AHEAD: u64 = 2_000_000_000;
/// No clock is set by more: 36 years.
const MOST: u64 = 1 << 60;

/// What was said of frames whose time is corrected.
pub(crate) const SET_BACK: &str =
    "the capture clock was set back before this frame: times continue from the previous frame";
pub(crate) const SET_AHEAD: &str = "the capture clock was set ahead before this frame, as the \
                                    sender's timestamps show: times continue without the jump";

/// Corrects the times of a capture.
#[derive(Debug, Default)]
pub(crate) struct CaptureClock {
    /// As written.
    latest: u64,
    /// What is added to times, nanoseconds.
    shift: i64,
    /// When times went back last: how far they had come, the shift then, and the first time after.
    left: Option<(u64, i64, u64)>,
    /// The latest leapt ahead, by so much.
    leap: u64,
}

impl CaptureClock {
    /// A frame's time as written; nanoseconds, corrected, and whether the clock was set back.
    #[inline]
    pub(crate) fn read(&mut self, written: u64) -> (u64, bool) {
        let ahead = written.wrapping_sub(self.latest);
        let (mut back, limit) = (false, if self.left.is_some() { BACK } else { AHEAD });
        if ahead >= limit && self.latest > 0 {
            back = self.leapt(written);
        }
        self.latest = written;
        (written.saturating_add_signed(self.shift), back)
    }

    /// By how much the latest frame's time leapt ahead of the one before, if it did.
    #[inline]
    pub(crate) fn leap(&self) -> Option<Span> {
        (self.leap > 0).then_some(Span::from_nanos(self.leap))
    }

    /// The clock was set ahead by this before the latest frame.
    pub(crate) fn was_set_ahead(&mut self, by: Span) {
        self.shift = self.shift.saturating_sub_unsigned(by.as_nanos().min(MOST));
        self.leap = 0;
    }

    /// The leap was none of the clock's.
    pub(crate) fn time_passed(&mut self) {
        self.leap = 0;
    }

    #[cold]
    fn leapt(&mut self, written: u64) -> bool {
        if let Some(back) = self.latest.checked_sub(written) {
            if !(BACK..MOST).contains(&back) {
                return false;
            }
            self.left = Some((self.latest, self.shift, written));
            self.shift = self.shift.saturating_add_unsigned(back);
            return true;
        }
        let ahead = written - self.latest;
        if let Some((left, shift, since)) = self.left {
            // One frame, or another device's clock: back to where times had come to meanwhile.
            let meanwhile = self.latest - since.min(self.latest);
            if written >= left && written - left <= meanwhile + BACK {
                self.shift = shift;
                self.left = None;
                return false;
            }
        }
        self.leap = if (AHEAD..MOST).contains(&ahead) { ahead } else { 0 };
        false
    }
}
