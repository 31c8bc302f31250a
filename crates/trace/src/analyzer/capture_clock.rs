//! Corrects the capture clock where it was set during the capture.
//!
//! Packets are captured in order: if times go back by more than the skew between queues, the clock
//! was set back, and time continues from the previous frame. If they jump ahead, either hours
//! passed or the clock was set; the sender's timestamps tell which (RFC 7323 section 5.4: at least
//! one tick per second). No capture pauses for decades: there the clock was wrong on one side, as a
//! host's is that boots in 1970.

use tcplab_units::Span;

/// Smaller steps back are skew between capture queues.
const BACK: u64 = 100_000_000;
/// Smaller jumps ahead are pauses.
const AHEAD: u64 = 2_000_000_000;
/// The longest pause, and the largest correction of a smaller jump: 36 years.
const MOST: u64 = 1 << 60;

/// Notes on frames whose time is corrected.
pub(crate) const SET_BACK: &str =
    "the capture clock was set back before this frame: times continue from the previous frame";
pub(crate) const SET_AHEAD: &str = "the capture clock was set ahead before this frame, as the \
                                    sender's timestamps show: times continue without the jump";

pub(crate) const DECADES_AHEAD: &str = "the capture clock jumped ahead by 36 years or more before \
                                        this frame: times continue without the jump";

#[derive(Debug, Default)]
pub(crate) struct CaptureClock {
    /// A frame was read.
    begun: bool,
    /// The latest time as written.
    latest: u64,
    /// The correction, nanoseconds.
    shift: i64,
    /// The last step back: the time before it, the correction then, and the first time after it.
    left: Option<(u64, i64, u64)>,
    /// The time before a jump of decades ahead, and the correction then.
    astray: Option<(u64, i64)>,
    /// By how much the latest frame jumped ahead.
    leap: u64,
}

impl CaptureClock {
    /// The corrected time of a frame, nanoseconds, and a note if the clock was set.
    #[inline]
    pub(crate) fn read(&mut self, written: u64) -> (u64, Option<&'static str>) {
        let ahead = written.wrapping_sub(self.latest);
        let (mut note, limit) = (None, if self.left.is_some() { BACK } else { AHEAD });
        if ahead >= limit && self.begun {
            note = self.leapt(written);
        }
        (self.latest, self.begun) = (written, true);
        (written.saturating_add_signed(self.shift), note)
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
    fn leapt(&mut self, written: u64) -> Option<&'static str> {
        if let Some(back) = self.latest.checked_sub(written) {
            if back < BACK {
                return None;
            }
            if let Some((left, shift)) = self.astray.take_if(|_| back >= MOST)
                && written >= left
            {
                // Only the frames between had a wrong time.
                self.shift = shift;
                return None;
            }
            self.left = Some((self.latest, self.shift, written));
            self.shift = self.shift.saturating_add_unsigned(back);
            return Some(SET_BACK);
        }
        let ahead = written - self.latest;
        if let Some((left, shift, since)) = self.left {
            // A single frame or another device's clock: return to the time reached meanwhile.
            let meanwhile = self.latest - since.min(self.latest);
            if written >= left && written - left <= meanwhile + BACK {
                self.shift = shift;
                self.left = None;
                return None;
            }
        }
        if ahead >= MOST {
            self.astray = Some((self.latest, self.shift));
            self.shift = self.shift.saturating_sub_unsigned(ahead);
            return Some(DECADES_AHEAD);
        }
        self.leap = if ahead >= AHEAD { ahead } else { 0 };
        None
    }
}
