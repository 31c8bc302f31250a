//! Corrects the capture clock where it was set during the capture.
//!
//! Packets are captured in order: if times go back by more than the skew between queues, the clock
//! was set back, and time continues from the previous frame, or from as much later as the sender's
//! timestamps and the least round trip show. If they jump ahead, either hours passed or the clock
//! was set; the sender's timestamps tell which (RFC 7323 section 5.4: at least one tick per
//! second). No capture pauses for decades: there the clock was wrong on one side, as a host's is
//! that boots in 1970.

use tcplab_units::Span;

use crate::direction::ClockStep;

/// Smaller steps back are skew between capture queues.
const BACK: u64 = 100_000_000;
/// Smaller jumps ahead are pauses.
const AHEAD: u64 = 2_000_000_000;
/// The longest pause, and the largest correction of a smaller jump: 36 years.
const MOST: u64 = 1 << 60;
/// Packets after a step back that are asked how much time passed before.
const ASKED: u8 = 64;

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
    /// A step that times alone do not explain, before the latest frame or, if it went back, before
    /// one of the latest frames.
    step: Option<ClockStep>,
    /// By how much the latest frame jumped ahead.
    leap: u64,
    /// Packets asked since it stepped back.
    asked: u8,
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

    /// The step that the latest frame may explain, if any.
    #[inline]
    pub(crate) fn step(&self) -> Option<ClockStep> {
        self.step
    }

    /// Corrects the clock by the error that the latest frame shows; returns by how many
    /// nanoseconds.
    pub(crate) fn correct(&mut self, error: Option<Span>) -> i64 {
        let step = self.step;
        self.asked += 1;
        if error.is_some() || step == Some(ClockStep::Ahead) || self.asked == ASKED {
            self.step = None;
        }
        let error = error.map_or(0, Span::as_nanos).min(MOST);
        let correction = match step {
            Some(ClockStep::Ahead) => -(error.min(self.leap) as i64),
            Some(ClockStep::Back) => error as i64,
            None => 0,
        };
        self.shift = self.shift.saturating_add(correction);
        correction
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
            (self.step, self.asked) = (Some(ClockStep::Back), 0);
            self.shift = self.shift.saturating_add_unsigned(back);
            return Some(SET_BACK);
        }
        let ahead = written - self.latest;
        if let Some((left, shift, since)) = self.left {
            // A single frame or another device's clock: return to the time reached meanwhile.
            let meanwhile = self.latest - since.min(self.latest);
            if written >= left && written - left <= meanwhile + BACK {
                self.shift = shift;
                (self.left, self.step) = (None, None);
                return None;
            }
        }
        if ahead >= MOST {
            self.astray = Some((self.latest, self.shift));
            self.shift = self.shift.saturating_sub_unsigned(ahead);
            return Some(DECADES_AHEAD);
        }
        if ahead >= AHEAD {
            (self.step, self.leap, self.asked) = (Some(ClockStep::Ahead), ahead, 0);
        }
        None
    }
}
