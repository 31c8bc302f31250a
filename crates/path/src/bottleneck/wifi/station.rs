//! A station at work: it waits for the medium, sends a frame, and again what failed.

use std::collections::VecDeque;

use tcplab_units::{Instant, Rng, Span};

use super::{BLOCK_ACK_WINDOW, Contention, Exchange, Load, WifiPlan};
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::queue::Queue;
use crate::{Cause, Transmission};

/// A wireless link at work: one station that sends, and what it meets on the medium.
///
/// A frame begins when the medium has been free for DIFS or AIFS and then for a random number of
/// slots, drawn after each frame; a packet that comes later than that is sent at once (IEEE
/// 802.11-2016, 10.3.4.2). The window from which the slots are drawn doubles with each frame that
/// is not acknowledged at all, up to its largest, and falls back to its smallest with each that is,
/// and when a packet is given up (10.3.3).
///
/// Packets leave in order: what was received waits for retransmissions (10.24.7.6). In
/// the ground truth, a packet is sent from the beginning of its first frame to the end of its last,
/// and a packet is given up at the end of that.
#[derive(Debug)]
pub(crate) struct Wifi {
    plan: WifiPlan,
    queue: Queue,
    exchange: Exchange,
    contention: Contention,
    rng: Rng,
    /// Whether packets may be waiting in the queue. If none is in truth, the next frame finds out.
    is_waiting: bool,
    /// A packet that has left the queue and found no room in a frame, and since when it had waited.
    next: Option<(Instant, Transit)>,
    /// Packets that have been sent and neither delivered nor given up, in order.
    window: VecDeque<Sent>,
    medium: Medium,
    /// From when on backoff is over.
    free_at: Instant,
    /// From 0 to this many slots are drawn.
    contention_window: u32,
}

/// A packet that has been sent at least once.
#[derive(Debug)]
struct Sent {
    packet: Transit,
    attempts: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// To be retransmitted.
    Failed,
    /// In the frame on the air.
    OnAir,
    /// At the other end, waiting for those before it.
    Received,
    /// Sent too often.
    GivenUp,
}

#[derive(Debug, Clone, Copy)]
enum Medium {
    /// There is nothing to send.
    Idle,
    /// A frame begins then.
    Awaited(Instant),
    /// A frame of so many packets ends then; it has collided or not.
    Taken { until: Instant, packets: u32, collided: bool },
}

impl Wifi {
    pub(crate) fn new(plan: &WifiPlan, queue: Queue, rng: Rng) -> Wifi {
        let exchange = Exchange::new(plan);
        Wifi {
            plan: *plan,
            queue,
            exchange,
            contention: exchange.contention(plan),
            rng,
            is_waiting: false,
            next: None,
            window: VecDeque::new(),
            medium: Medium::Idle,
            free_at: Instant::ZERO,
            contention_window: plan.cw_min,
        }
    }

    /// When a frame may begin for a packet that comes now to an idle station.
    fn access(&mut self, now: Instant) -> Instant {
        if now < self.free_at {
            return self.free_at;
        }
        match self.contention.found_busy(&mut self.rng) {
            None => now,
            Some(rest) => now + rest + self.backoff(),
        }
    }

    fn backoff(&mut self) -> Span {
        let slots = self.rng.below(u64::from(self.contention_window) + 1);
        self.contention.backoff(slots, &mut self.rng)
    }

    /// Sends a frame: what failed before, and behind it as much as waits and fits.
    fn begin(&mut self, now: Instant, out: &mut Outbox) {
        let mut load = Load::default();
        for sent in self.window.iter_mut().filter(|sent| sent.state == State::Failed) {
            let size = sent.packet.packet.size();
            if !self.exchange.fits(load, size) {
                break;
            }
            load = self.exchange.with(load, size);
            sent.state = State::OnAir;
        }
        // What waits must not get in front of what failed.
        let is_all = self.window.iter().all(|sent| sent.state != State::Failed);
        while is_all
            && load.packets < self.plan.aggregate
            && self.window.len() < BLOCK_ACK_WINDOW as usize
        {
            let Some((queued, mut packet)) = self.take(now, out) else { break };
            let size = packet.packet.size();
            if !self.exchange.fits(load, size) {
                self.next = Some((queued, packet));
                break;
            }
            load = self.exchange.with(load, size);
            packet.transmission = Some(Transmission { queued, began: now, ended: now });
            self.window.push_back(Sent { packet, attempts: 0, state: State::OnAir });
        }
        if load.packets == 0 {
            self.medium = Medium::Idle;
            return;
        }
        let until = now + self.exchange.frame(load);
        for sent in self.window.iter_mut().filter(|sent| sent.state == State::OnAir) {
            sent.attempts += 1;
            let sending = &mut sent.packet.transmission;
            *sending = sending.map(|sending| Transmission { ended: until, ..sending });
        }
        let collided = self.contention.collides(&mut self.rng);
        self.medium = Medium::Taken { until, packets: load.packets, collided };
    }

    fn take(&mut self, now: Instant, out: &mut Outbox) -> Option<(Instant, Transit)> {
        let taken = self.next.take().or_else(|| self.queue.pop(now, out));
        self.is_waiting = taken.is_some();
        taken
    }

    /// A frame has ended: what of it was received is known, and when the next may begin.
    fn end(&mut self, now: Instant, packets: u32, collided: bool, out: &mut Outbox) {
        let (mut any_received, mut any_given_up) = (false, false);
        for sent in self.window.iter_mut().filter(|sent| sent.state == State::OnAir) {
            let is_damaged = self.plan.error.happens(&mut self.rng);
            sent.state = if !collided && !is_damaged {
                any_received = true;
                State::Received
            } else if sent.attempts > self.plan.retries {
                any_given_up = true;
                State::GivenUp
            } else {
                State::Failed
            };
        }
        self.contention_window = if any_received || any_given_up {
            self.plan.cw_min
        } else {
            (2 * self.contention_window + 1).min(self.plan.cw_max)
        };
        self.hand_on_in_order(now, out);
        let after = self.exchange.after(packets) + self.exchange.timing.wait;
        self.free_at = now + after + self.backoff();
        let has_more = !self.window.is_empty() || self.next.is_some() || self.is_waiting;
        self.medium = if has_more { Medium::Awaited(self.free_at) } else { Medium::Idle };
    }
}

impl Wifi {
    /// Lets go of the oldest packets, as far as their fate is known.
    fn hand_on_in_order(&mut self, now: Instant, out: &mut Outbox) {
        let is_known = |sent: &&Sent| matches!(sent.state, State::Received | State::GivenUp);
        let known = self.window.iter().take_while(is_known).count();
        for Sent { packet, attempts, state } in self.window.drain(..known) {
            match state {
                State::Received => out.hand_on(now, packet),
                _ => out.drop(now, packet, Cause::RetriesExhausted { attempts }),
            }
        }
    }
}

impl Behaviour for Wifi {
    fn accept(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        packet.transmission = None;
        self.queue.push(now, packet, out);
        self.is_waiting = true;
        if let Medium::Idle = self.medium {
            self.medium = Medium::Awaited(self.access(now));
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        match self.medium {
            Medium::Idle => None,
            Medium::Awaited(at) | Medium::Taken { until: at, .. } => Some(at),
        }
    }

    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        match self.medium {
            Medium::Idle => {}
            Medium::Awaited(_) => self.begin(now, out),
            Medium::Taken { packets, collided, .. } => self.end(now, packets, collided, out),
        }
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sent = self.window.iter().map(|sent| &sent.packet);
        let next = self.next.iter().map(|(_, packet)| packet);
        Box::new(sent.chain(next).chain(self.queue.held()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.window.drain(..).map(|sent| sent.packet));
        into.extend(self.next.take().map(|(_, packet)| packet));
        self.queue.release(into);
        self.is_waiting = false;
        self.medium = Medium::Idle;
    }
}
