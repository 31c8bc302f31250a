//! A sender on the bench: acknowledgements go in at a time, what leaves is looked at.

use tcplab_units::{Instant, Span};

use super::super::interface::AckOutcome;
use super::super::*;
use crate::config::Host;
use crate::congestion::{Reno, State};
use crate::{SendCause, config};

/// Data bytes of a segment on the bench.
pub(super) const MSS: u64 = 1_000;

/// No segment leaves.
pub(super) const NOTHING: [u64; 0] = [];

/// Linux's rules on a machine whose timers are exact.
pub(super) fn exact() -> Config {
    Config {
        host: Host { tick: Span::ZERO, wheel: false, ..Host::default() },
        sending: config::Sending { burst: 0, ..config::Sending::default() },
        ..Config::default()
    }
}

/// The same with what `change` changes.
pub(super) fn changed(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = exact();
    change(&mut config);
    config
}

/// What is agreed on unless a test says otherwise: no timestamps, round trip 100 ms.
pub(super) fn agreed() -> Negotiated {
    Negotiated {
        first: 1,
        mss: MSS as u32,
        sack: true,
        timestamps: false,
        ecn: false,
        window: 1_000_000,
        sequence: 1,
        rtt: Some(Span::from_millis(100)),
        retransmissions: 0,
    }
}

/// An acknowledgement of nothing, with the window of [`agreed`].
pub(super) fn bare_ack() -> Ack<'static> {
    Ack {
        position: 1,
        sequence: 1,
        window: 1_000_000,
        sack: &[],
        echo: None,
        carries_data: false,
        ece: false,
        told: None,
    }
}

/// A sender and its clock. Segments are identified by number, from 1; acknowledgements name the
/// first segment that is missing.
pub(super) struct Bench {
    pub(super) sender: Sender,
    pub(super) stream: Stream,
    pub(super) now: Instant,
    /// What an acknowledgement says of the window.
    pub(super) window: u64,
    /// The timestamp that acknowledgements echo.
    pub(super) echo: Option<u32>,
}

/// Position at which the `n`th segment begins.
pub(super) fn start(n: u64) -> u64 {
    1 + (n - 1) * MSS
}

pub(super) fn millis(n: u64) -> Span {
    Span::from_millis(n)
}

impl Bench {
    /// Established at time 0, with `segments` to send.
    pub(super) fn new(config: &Config, agreed: &Negotiated, segments: u64) -> Bench {
        let mut sender = Sender::new(config, Box::new(Reno::named("reno")));
        sender.establish(Instant::ZERO, agreed);
        assert_eq!(sender.congestion().name(), "reno");
        let stream = Stream { end: start(segments + 1), ..Stream::default() };
        Bench { sender, stream, now: Instant::ZERO, window: agreed.window, echo: None }
    }

    /// Linux's rules, exact timers.
    pub(super) fn linux(segments: u64) -> Bench {
        Bench::new(&exact(), &agreed(), segments)
    }

    /// The first window of ten segments leaves.
    pub(super) fn full(mut self) -> Bench {
        assert_eq!(self.numbers().len(), 10);
        self
    }

    /// The clock is set; timers that run out on the way do what they do, and nothing else leaves.
    pub(super) fn at(&mut self, time: u64) -> &mut Bench {
        self.now = Instant::ZERO + millis(time);
        self
    }

    /// What leaves now, as `first segment: cause` each.
    pub(super) fn sent(&mut self) -> Vec<(u64, SendCause)> {
        self.leaving().iter().map(|s| ((s.start - 1) / MSS + 1, s.cause)).collect()
    }

    /// What leaves now.
    pub(super) fn leaving(&mut self) -> Vec<ToSend> {
        let mut all = Vec::new();
        while let Some(sent) = self.sender.next(self.now, &self.stream) {
            all.push(sent);
            assert!(all.len() < 100_000, "never ends");
        }
        self.sender.audit();
        all
    }

    /// The numbers of the segments that leave now.
    pub(super) fn numbers(&mut self) -> Vec<u64> {
        self.sent().into_iter().map(|s| s.0).collect()
    }

    /// All below segment `next` has arrived, and the segments in the inclusive ranges.
    pub(super) fn ack(&mut self, next: u64, sacked: &[(u64, u64)]) -> AckOutcome {
        let mut sack = [Block::default(); 4];
        for (to, &(from, last)) in sack.iter_mut().zip(sacked) {
            *to = Block { start: start(from), end: start(last + 1) };
        }
        let ack = Ack {
            position: start(next),
            window: self.window,
            sack: &sack[..sacked.len()],
            echo: self.echo,
            ..bare_ack()
        };
        self.hear(&ack)
    }

    /// What leaves on such an acknowledgement.
    pub(super) fn ack_sends(&mut self, next: u64, sacked: &[(u64, u64)]) -> Vec<(u64, SendCause)> {
        self.ack(next, sacked);
        self.sent()
    }

    /// The numbers of the segments that leave on such an acknowledgement.
    pub(super) fn ack_numbers(&mut self, next: u64, sacked: &[(u64, u64)]) -> Vec<u64> {
        self.ack(next, sacked);
        self.numbers()
    }

    pub(super) fn hear(&mut self, ack: &Ack<'_>) -> AckOutcome {
        let heard = self.sender.handle_ack(self.now, ack, &self.stream);
        self.sender.audit();
        heard
    }

    /// The path takes segments of `mss` bytes only.
    pub(super) fn set_mss(&mut self, mss: u32) {
        self.sender.set_mss(self.now, mss, &self.stream);
        self.sender.audit();
    }

    /// The time until which nothing happens by itself, ms.
    pub(super) fn alarm(&self) -> Option<u64> {
        self.sender.poll_at().map(|at| at.as_nanos() / 1_000_000)
    }

    /// Advances the clock to the next timer, which expires.
    pub(super) fn ring(&mut self) -> Result<(), GivenUp> {
        self.now = self.sender.poll_at().expect("a timer");
        self.sender.handle_timeout(self.now, &self.stream)?;
        self.sender.audit();
        Ok(())
    }

    /// What leaves when the next timer runs out.
    pub(super) fn ring_sends(&mut self) -> Vec<(u64, SendCause)> {
        self.ring().expect("the connection continues");
        self.sent()
    }

    /// One timer after the other runs out until the connection is given up: how many segments left
    /// meanwhile, and why.
    pub(super) fn ring_until_given_up(&mut self) -> (usize, GivenUp) {
        let mut count = 0;
        loop {
            if let Err(end) = self.ring() {
                return (count, end);
            }
            count += self.leaving().len();
        }
    }

    pub(super) fn cwnd(&self) -> u32 {
        self.sender.window().cwnd
    }

    pub(super) fn ssthresh(&self) -> u32 {
        self.sender.window().ssthresh
    }

    pub(super) fn state(&self) -> State {
        self.sender.window().state
    }
}

impl Sender {
    /// Whether all counters agree with the records.
    pub(super) fn audit(&self) {
        self.scoreboard.audit(self.agreed.sack);
        assert!(self.window.cwnd >= 1);
        assert!(self.window.una <= self.window.nxt);
        let board = &self.scoreboard;
        assert!(board.left_out() <= board.packets_out() || board.is_empty());
        if self.agreed.sack || self.window.state == State::Open {
            assert!(board.lost_out == 0 || self.window.state != State::Open);
        }
        if let Some(head) = board.head() {
            assert!(head.end() > self.window.una);
            // Something is always due, or nothing would ever happen again.
            assert!(self.poll_at().is_some(), "no timer with data outstanding");
        }
    }
}
