//! Westwood+: after a loss, the window that the measured rate fills.

use tcplab_units::{Instant, Span};

use super::ticks::Ticks;
use super::{AckSample, CongestionControl, Event, Setup, Window, reno};

/// The rate is measured over no less than this part of a second (`TCP_WESTWOOD_RTT_MIN`), in whole
/// ticks.
const SHORTEST_INTERVALS_A_SECOND: u64 = 20;
/// The RTT before one was measured (`TCP_WESTWOOD_INIT_RTT`).
const FIRST_RTT: Span = Span::from_secs(20);

/// Reno that sets window and threshold to rate × RTT minimum at the end of a recovery, and
/// the threshold at a timeout (Mascolo and others, MobiCom 2001; Grieco and Mascolo, CCR 2004).
///
/// As `tcp_westwood.c` has it: time and rate are in ticks of the machine, and Reno's half is the
/// threshold while recovery lasts.
#[derive(Debug)]
pub(super) struct Westwood {
    ticks: Ticks,
    /// The rate smoothed once and twice, bytes a tick.
    rate: [u64; 2],
    /// When the interval began that is measured now, ticks.
    since: u64,
    /// Bytes acknowledged in it.
    bytes: u64,
    una: Option<u64>,
    /// Bytes that duplicate acknowledgements were taken for, and that an acknowledgement of more
    /// than a segment will count again.
    accounted: u64,
    /// The last RTT and the minimum, ticks.
    rtt: u64,
    shortest_rtt: u64,
    forgets_shortest: bool,
}

impl Westwood {
    /// On a machine like `setup`.
    pub(super) fn new(setup: &Setup) -> Westwood {
        let ticks = Ticks::new(setup.tick);
        let rtt = ticks.of(FIRST_RTT);
        Westwood {
            ticks,
            rate: [0; 2],
            since: 0,
            bytes: 0,
            una: None,
            accounted: 0,
            rtt,
            shortest_rtt: rtt,
            forgets_shortest: true,
        }
    }

    /// The estimated rate, bytes a second.
    #[cfg(test)]
    pub(super) fn bytes_per_second(&self) -> u64 {
        self.rate[1] * self.ticks.per_second()
    }

    /// What fills the path without a queue, segments (`tcp_westwood_bw_rttmin`).
    fn pipe(&self, window: &Window) -> u32 {
        let segments = self.rate[1] * self.shortest_rtt / u64::from(window.mss).max(1);
        u32::try_from(segments).unwrap_or(u32::MAX).max(2)
    }

    /// Ends the interval if it is an RTT old (`westwood_update_window`, `westwood_filter`).
    fn measure(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        let shortest = self.ticks.per_second() / SHORTEST_INTERVALS_A_SECOND;
        if self.rtt == 0 || elapsed <= self.rtt.max(shortest) {
            return;
        }
        let sample = self.bytes / elapsed;
        self.rate = if self.rate == [0; 2] {
            [sample; 2]
        } else {
            let once = smoothed(self.rate[0], sample);
            [once, smoothed(self.rate[1], once)]
        };
        self.bytes = 0;
        self.since = now;
    }

    /// How many bytes an ACK counts for (`westwood_acked_count`): a duplicate counts one segment,
    /// which is subtracted from the later cumulative ACK.
    fn delivered(&mut self, advance: u64, mss: u64) -> u64 {
        let mut bytes = advance;
        if bytes == 0 {
            self.accounted += mss;
            bytes = mss;
        }
        if bytes > mss {
            if self.accounted >= bytes {
                self.accounted -= bytes;
                bytes = mss;
            } else {
                bytes -= self.accounted;
                self.accounted = 0;
            }
        }
        bytes
    }
}

impl CongestionControl for Westwood {
    fn name(&self) -> &'static str {
        "westwood"
    }

    fn init(&mut self, now: Instant, _window: &mut Window) {
        self.since = self.ticks.at(now);
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        reno::half(window)
    }

    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        reno::grow(window, acked);
    }

    fn acked(&mut self, _now: Instant, _window: &mut Window, sample: &AckSample) {
        if let Some(rtt) = sample.rtt.filter(|rtt| rtt.as_micros() > 0) {
            self.rtt = self.ticks.of(rtt);
        }
    }

    /// `tcp_westwood_ack`: a plain in-order ACK counts its bytes directly.
    fn heard(&mut self, now: Instant, window: &mut Window, sample: &AckSample) {
        // What the first acknowledgement acknowledges is not counted: nothing is known before it.
        let before = *self.una.get_or_insert(window.una);
        self.measure(self.ticks.at(now));
        let advance = window.una.saturating_sub(before);
        self.una = Some(window.una);
        self.bytes +=
            if sample.plain { advance } else { self.delivered(advance, window.mss.into()) };
        self.shortest_rtt = if std::mem::take(&mut self.forgets_shortest) {
            self.rtt
        } else {
            self.shortest_rtt.min(self.rtt)
        };
    }

    fn event(&mut self, _now: Instant, window: &mut Window, event: Event) {
        match event {
            Event::ReductionComplete => {
                window.ssthresh = self.pipe(window);
                window.cwnd = window.ssthresh;
            }
            Event::Timeout => {
                window.ssthresh = self.pipe(window);
                self.forgets_shortest = true;
            }
            Event::TransmitStart | Event::WindowRestart => {}
        }
    }
}

/// `westwood_do_filter`.
fn smoothed(old: u64, new: u64) -> u64 {
    (7 * old + new) / 8
}
