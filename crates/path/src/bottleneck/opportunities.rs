//! Sending at the moments that a trace names.

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span, rounded};

use crate::Transmission;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::queue::Queue;

/// What an opportunity carries (`PACKET_SIZE` in Mahimahi's src/frontend/link_queue.hh).
const OPPORTUNITY: u64 = 1504;

/// What each packet counts for there beyond its length: the header of the TUN device, with which
/// Mahimahi reads it. So a full packet of 1500 B fills one opportunity here as there.
const TUN_HEADER: u64 = 4;

/// The interval of the peak rate: a queue absorbs shorter bursts.
const PEAK_MILLIS: u64 = 100;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// A trace of opportunities to send, as Mahimahi's `mm-link` takes it (Netravali et al. 2015).
///
/// Each carries 1504 B, of which a packet takes its length and 4 B: several small ones share one, a
/// large one spans several. An opportunity without packets is wasted, also one that comes at the
/// very instant of a packet, which is late. Other than there, packets above 1500 B are possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracePlan {
    /// Their times in milliseconds, not falling; at least one, the last above zero: after it the
    /// trace begins again.
    pub opportunities: Vec<u64>,
}

impl TracePlan {
    /// The mean rate in packets of 1500 B.
    pub(super) fn rate(&self) -> Rate {
        let full_packets = Bytes::new(self.opportunities.len() as u64 * (OPPORTUNITY - TUN_HEADER));
        Rate::of(full_packets, self.period()).unwrap_or(Rate::from_bits_per_second(u64::MAX))
    }

    /// How long it takes until it begins again.
    pub(crate) fn period(&self) -> Span {
        let last = self.opportunities.last().copied().unwrap_or_default();
        Span::from_nanos(last.saturating_mul(NANOS_PER_MILLI))
    }

    /// The longest that a packet may wait for an opportunity that finds nothing before it, if it
    /// comes before `until`.
    pub fn longest_wait(&self, until: Instant) -> Span {
        let mut came = Instant::ZERO;
        let mut longest = Span::ZERO;
        // Once round, and on to the first of the next.
        for turn in 0..=self.opportunities.len() as u64 {
            if came >= until {
                break;
            }
            let comes = self.time_of(turn);
            longest = longest.max(comes.since(came));
            came = comes;
        }
        longest
    }

    /// The most it lets pass in [`PEAK_MILLIS`], in packets of 1500 B; the mean of a trace that
    /// begins again sooner.
    pub(super) fn peak(&self) -> Rate {
        let times = &self.opportunities;
        let (mut from, mut most) = (0, 0);
        for (to, time) in times.iter().enumerate() {
            while times[from].saturating_add(PEAK_MILLIS) <= *time {
                from += 1;
            }
            most = most.max(to + 1 - from);
        }
        let full_packets = Bytes::new(most as u64 * (OPPORTUNITY - TUN_HEADER));
        let window = Span::from_millis(PEAK_MILLIS);
        if self.period() < window {
            return self.rate();
        }
        Rate::of(full_packets, window).unwrap_or(Rate::from_bits_per_second(u64::MAX))
    }

    /// What it lets pass after `from` and up to `until`, in packets of 1500 B.
    pub(super) fn mean(&self, from: Instant, until: Instant) -> Option<Rate> {
        let opportunities = self.come_by(until) - self.come_by(from);
        Rate::of(Bytes::new(opportunities * (OPPORTUNITY - TUN_HEADER)), until.since(from))
    }

    /// When so many bytes in packets of 1500 B have been sent that begin to be after `now`.
    pub(super) fn sent(&self, now: Instant, bytes: Bytes) -> Instant {
        let packets = bytes.as_u64().div_ceil(OPPORTUNITY - TUN_HEADER).max(1);
        self.time_of(self.come_by(now) + packets - 1)
    }

    /// How many opportunities there have been, that of this very instant too.
    fn come_by(&self, now: Instant) -> u64 {
        let (nanos, period) = (now.as_nanos(), self.period().as_nanos());
        let (round, phase) = (nanos / period, nanos % period);
        let gone =
            self.opportunities.partition_point(|ms| ms.saturating_mul(NANOS_PER_MILLI) <= phase);
        round * self.opportunities.len() as u64 + gone as u64
    }

    /// The instant of the opportunity with this index.
    fn time_of(&self, turn: u64) -> Instant {
        let times = &self.opportunities;
        let (round, index) = (turn / times.len() as u64, turn % times.len() as u64);
        let began = self.period().as_nanos().saturating_mul(round);
        let into = times[index as usize].saturating_mul(NANOS_PER_MILLI);
        Instant::ZERO + Span::from_nanos(began) + Span::from_nanos(into)
    }

    pub(super) fn describe(&self) -> String {
        let packets = rounded::counted(self.opportunities.len(), "full packet", "full packets");
        let (period, rate) = (self.period(), self.rate());
        let mean = match rate.bits_per_second() {
            0 => "below 1 bit/s".into(),
            _ => rounded::rate(rate),
        };
        format!("Bottleneck from a trace of {packets} in {period}, repeated (mean {mean})")
    }
}

/// A trace at work.
#[derive(Debug)]
pub(crate) struct Opportunities {
    queue: Queue,
    plan: TracePlan,
    /// The next opportunity, counted from the first of the world, from 0.
    turn: u64,
    /// When that comes.
    comes: Instant,
    /// A packet sent in part, and how many bytes of it are left.
    sending: Option<(u64, Transit)>,
    /// Whether packets may be waiting. If none is in truth, an opportunity finds that out.
    is_waiting: bool,
}

impl Opportunities {
    pub(super) fn new(plan: &TracePlan, queue: Queue) -> Opportunities {
        let plan = plan.clone();
        let comes = Instant::ZERO;
        Opportunities { queue, plan, turn: 0, comes, sending: None, is_waiting: false }
    }

    fn is_idle(&self) -> bool {
        self.sending.is_none() && !self.is_waiting
    }

    /// Makes the first opportunity after `now` the next.
    fn pass_over(&mut self, now: Instant) {
        self.turn = self.plan.come_by(now);
        self.comes = self.plan.time_of(self.turn);
    }

    /// The packet to send now and how many of its bytes are left.
    fn next(&mut self, now: Instant, out: &mut Outbox) -> Option<(u64, Transit)> {
        if let Some(begun) = self.sending.take() {
            return Some(begun);
        }
        let Some((queued, mut packet)) = self.queue.pop(now, out) else {
            self.is_waiting = false;
            return None;
        };
        packet.transmission = Some(Transmission { queued, began: now, ended: now });
        Some((packet.packet.size().as_u64() + TUN_HEADER, packet))
    }
}

impl Behaviour for Opportunities {
    fn accept(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        packet.transmission = None;
        if self.is_idle() {
            self.pass_over(now);
        }
        self.queue.push(now, packet, out);
        self.is_waiting = true;
    }

    fn poll_at(&self) -> Option<Instant> {
        (!self.is_idle()).then_some(self.comes)
    }

    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        self.turn += 1;
        let mut room = OPPORTUNITY;
        while room > 0 {
            let Some((left, mut packet)) = self.next(now, out) else { break };
            if left <= room {
                room -= left;
                out.hand_on(now, packet);
            } else {
                let left = left - room;
                let last = self.turn + left.div_ceil(OPPORTUNITY) - 1;
                let ended = self.plan.time_of(last);
                packet.transmission =
                    packet.transmission.map(|sent| Transmission { ended, ..sent });
                self.sending = Some((left, packet));
                break;
            }
        }
        self.comes = self.plan.time_of(self.turn);
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sending = self.sending.iter().map(|(_, packet)| packet);
        Box::new(sending.chain(self.queue.held()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.sending.take().map(|(_, packet)| packet));
        self.queue.release(into);
        self.is_waiting = false;
    }
}
