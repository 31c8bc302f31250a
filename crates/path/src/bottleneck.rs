//! The bottleneck: a queue, and a transmitter that sends at a rate.

use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::Transmission;
use crate::element::{Behaviour, Outbox, Transit};
use crate::queue::{DropTail, QueuePlan};

/// Packets wait in the queue while one is being sent. A packet moves on when its last bit has
/// been sent.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    queue: DropTail,
    transmitter: Transmitter,
    /// The packet being sent, and when that ends.
    sending: Option<(Instant, Transit)>,
}

impl Bottleneck {
    pub(crate) fn new(rate: Rate, queue: QueuePlan) -> Bottleneck {
        let QueuePlan::DropTail(limit) = queue;
        Bottleneck {
            queue: DropTail::new(limit),
            transmitter: Transmitter::new(rate),
            sending: None,
        }
    }

    /// Starts to send a packet that came at `queued`, at the moment the transmitter is ready.
    fn send(&mut self, queued: Instant, mut packet: Transit) {
        let began = self.transmitter.ready_at();
        self.transmitter.send(packet.packet.size());
        let ended = self.transmitter.ready_at();
        packet.transmission = Some(Transmission { queued, began, ended });
        self.sending = Some((ended, packet));
    }
}

impl Behaviour for Bottleneck {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        if self.sending.is_none() {
            self.transmitter.wake(now);
            self.send(now, packet);
        } else if let Some((packet, cause)) = self.queue.push(now, packet) {
            out.drop(now, packet, cause);
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        self.sending.as_ref().map(|(ends, _)| *ends)
    }

    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        if let Some((_, packet)) = self.sending.take() {
            out.pass(packet);
        }
        if let Some((queued, packet)) = self.queue.pop() {
            self.send(queued, packet);
        }
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sending = self.sending.iter().map(|(_, packet)| packet);
        Box::new(sending.chain(self.queue.iter()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.sending.take().map(|(_, packet)| packet));
        into.extend(std::iter::from_fn(|| self.queue.pop()).map(|(_, packet)| packet));
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Knows when what it sends has been sent, exactly.
///
/// A packet of b bits takes b·10⁹ / rate nanoseconds, seldom a whole number. What remains is
/// carried to the next packet, so over any run of packets sent back to back nothing is gained or
/// lost by rounding. Instants told are rounded up: by then the last bit has been sent.
#[derive(Debug)]
struct Transmitter {
    /// In bits per second, that is in bit·10⁻⁹ per nanosecond.
    rate: u128,
    /// It is ready for the next packet `fraction` / `rate` nanoseconds after this.
    ready: Instant,
    /// Less than `rate`.
    fraction: u128,
}

impl Transmitter {
    /// # Panics
    /// When the rate is zero.
    fn new(rate: Rate) -> Transmitter {
        assert!(rate.bits_per_second() > 0, "nothing ends at a rate of zero");
        Transmitter { rate: u128::from(rate.bits_per_second()), ready: Instant::ZERO, fraction: 0 }
    }

    /// After a pause: it is ready from now on.
    fn wake(&mut self, now: Instant) {
        self.ready = now;
        self.fraction = 0;
    }

    /// Sends `size` from the moment it is ready, without a pause.
    fn send(&mut self, size: Bytes) {
        let work = self.fraction + size.bits() * NANOS_PER_SECOND;
        let nanos = u64::try_from(work / self.rate).unwrap_or(u64::MAX);
        self.ready += Span::from_nanos(nanos);
        self.fraction = work % self.rate;
    }

    /// The first whole nanosecond at which it is ready.
    fn ready_at(&self) -> Instant {
        self.ready + Span::from_nanos(u64::from(self.fraction > 0))
    }
}
