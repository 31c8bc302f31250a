//! Corrects the capture clock where it was set during the capture.
//!
//! Packets are captured in order: if times go back by more than the skew between queues, the clock
//! was set back, and time continues from the previous frame. If they jump ahead, either hours
//! passed or the clock was set; the sender's timestamps tell which (RFC 7323 section 5.4: at least
//! one tick per second).

use tcplab_units::Span;

/// Smaller steps back are skew between capture queues.
const BACK: u64 = 100_000_000;
/// Smaller jumps ahead are pauses.
const AHEAD: u64 = 2_000_000_000;
/// The largest correction: 36 years.
const MOST: u64 = 1 << 60;

/// Notes on frames whose time is corrected.
pub(crate) const SET_BACK: &str =
    "the capture clock was set back before this frame: times continue from the previous frame";
pub(crate) const SET_AHEAD: &str = "the capture clock was set ahead before this frame, as the \
                                    sender's timestamps show: times continue without the jump";

#[derive(Debug, Default)]
pub(crate) struct CaptureClock {
    /// The latest time as written.
    latest: u64,
    /// The correction, nanoseconds.
    shift: i64,
    /// The last step back: the time before it, the correction then, and the first time after it.
    left: Option<(u64, i64, u64)>,
    /// By how much the latest frame jumped ahead.
    leap: u64,
}

impl CaptureClock {
    /// The corrected time of a frame, nanoseconds, and whether the clock was set back.
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

    /// The jump before the latest frame, if any.
    #[inline]
    pub(crate) fn leap(&self) -> Option<Span> {
        (self.leap > 0).then_some(Span::from_nanos(self.leap))
    }

    /// The clock was set ahead by this much before the latest frame.
    pub(crate) fn was_set_ahead(&mut self, by: Span) {
        self.shift = self.shift.saturating_sub_unsigned(by.as_nanos().min(MOST));
        self.leap = 0;
    }

    /// The jump was a real pause.
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
            // A single frame or another device's clock: return to the time reached meanwhile.
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
