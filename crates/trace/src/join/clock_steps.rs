//! Steps of a capture's clock: what the first reading finds, the second one takes back.

use std::collections::{BTreeMap, VecDeque};

use tcplab_units::{Instant, Span};

use crate::analyzer::CaptureClock;
use crate::direction::{ClockStep, OwnClock};
use crate::packet::{Ends, Packet};

/// The most directions whose timestamps are followed.
const DIRECTIONS: usize = 1 << 16;

/// The clocks of all senders in a capture, by their timestamps.
#[derive(Debug, Default)]
pub(super) struct SenderClocks(BTreeMap<(Ends, bool), OwnClock>);

impl SenderClocks {
    /// Finds out whether the capture clock was set before this packet, if its time leapt, and
    /// corrects the packet's time. Returns by how much.
    pub(super) fn explain(
        &mut self,
        clock: &mut CaptureClock,
        packet: &mut Packet,
    ) -> Option<Span> {
        let way = (packet.ends, packet.from_low);
        let is_followed = self.0.len() < DIRECTIONS || self.0.contains_key(&way);
        let step = clock.step();
        let Some((value, _)) = packet.timestamps.filter(|_| is_followed) else {
            if step.is_some() {
                clock.correct(None);
            }
            return None;
        };
        let own = self.0.entry(way).or_default();
        let correction = match step {
            Some(ClockStep::Ahead) => clock.correct(own.set_ahead(packet)),
            // How much time passed does not matter: no delays are measured.
            Some(ClockStep::Back) => clock.correct(None),
            None => 0,
        };
        let set = (correction < 0).then(|| Span::from_nanos(correction.unsigned_abs()));
        packet.at = back(packet.at, set.unwrap_or_default());
        own.passed(value, packet.at);
        set
    }
}

/// The clock of a capture, read again, as [`SenderClocks`] explained it.
#[derive(Debug, Default)]
pub(super) struct KnownClock {
    clock: CaptureClock,
    /// Before which frames it was set ahead, and by how much.
    ahead: VecDeque<(u64, Span)>,
    /// The frame before which it was set first.
    pub(super) set: Option<u64>,
}

impl KnownClock {
    pub(super) fn new(ahead: VecDeque<(u64, Span)>) -> KnownClock {
        KnownClock { ahead, ..KnownClock::default() }
    }

    /// The corrected time of the frame of this number, nanoseconds.
    pub(super) fn read(&mut self, frame: u64, written: u64) -> u64 {
        let (time, note) = self.clock.read(written);
        let is_next = self.ahead.front().is_some_and(|(before, _)| *before == frame);
        if note.is_some() || is_next {
            self.set.get_or_insert(frame);
        }
        if !is_next {
            return time;
        }
        let (_, by) = self.ahead.pop_front().expect("there is a next one");
        self.clock.correct(Some(by));
        back(Instant::from_nanos(time), by).as_nanos()
    }

    /// The clock while what it shows is still to be explained.
    pub(super) fn unexplained(&mut self) -> &mut CaptureClock {
        &mut self.clock
    }
}

fn back(at: Instant, by: Span) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(by.as_nanos()))
}
