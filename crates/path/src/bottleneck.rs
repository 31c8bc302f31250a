//! The bottleneck: a queue, and a transmitter that sends at a rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::Transmission;
use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::queue::{Queue, QueuePlan};
use crate::schedule::{Schedule, Step};
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// A rate as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RateSpec {
    /// Always the same.
    Constant(Rate),
    /// It changes with time, or comes from a trace.
    Table(RateTable),
}

/// A rate that changes: `start` and `steps`, or a `trace`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VaryingRate")]
pub struct RateTable {
    /// The rate from the world's zero on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Rate>,
    /// The changes, in order of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step<Rate>>>,
    /// Begin again after so long; later than the last step has ended. Default: the last rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
    /// A file of delivery opportunities in Mahimahi's format: a line each, its time in whole
    /// milliseconds, not falling; it begins again after its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The content of `trace`, in milliseconds; filled in when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opportunities: Option<Vec<u64>>,
}

text_or_table!(
    RateSpec, "LinkRate", "How fast the bottleneck sends.",
    "a rate such as \"5 Mbit/s\", or a table",
    text(Rate): |text: &str| text.parse().map(RateSpec::Constant), table: RateTable
);

impl From<RateTable> for RateSpec {
    fn from(table: RateTable) -> RateSpec {
        RateSpec::Table(table)
    }
}

impl RateTable {
    pub(crate) fn load(
        &mut self,
        _read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        Ok(())
    }
}

impl RateSpec {
    /// What sends at this rate, so much of it at once.
    pub(crate) fn plan(&self, _burst: Option<Bytes>) -> Result<ServerPlan, Fault> {
        match self {
            RateSpec::Constant(rate) if rate.bits_per_second() == 0 => Err(Fault::here(
                "a rate of zero lets nothing pass: give one above zero, or none for no bottleneck",
            )),
            RateSpec::Constant(rate) => Ok(ServerPlan::Rate(*rate)),
            RateSpec::Table(_) => Err(Fault::here("not yet")),
        }
    }
}

/// A wireless link as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Wifi")]
pub struct WifiSpec {
    /// The rate of the physical layer while a frame's data is sent.
    pub rate: Rate,
}

/// A wireless link, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiPlan {
    /// The rate of the physical layer.
    pub rate: Rate,
}

impl WifiSpec {
    pub(crate) fn plan(&self) -> Result<WifiPlan, Fault> {
        Err(Fault::here("not yet"))
    }
}

/// A queue and what empties it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BottleneckPlan {
    /// What sends.
    pub server: ServerPlan,
    /// Where packets wait.
    pub queue: QueuePlan,
}

/// What sends the packets of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerPlan {
    /// One packet after the other, at that rate.
    Rate(Rate),
    /// One packet after the other, at a rate that changes with time.
    Varying(Schedule<Rate>),
    /// A wireless link.
    Wifi(WifiPlan),
}

impl ServerPlan {
    /// Its rate; the mean or nominal one where it changes. Queues in bdp count with it.
    pub fn rate(&self) -> Rate {
        match self {
            ServerPlan::Rate(rate) => *rate,
            ServerPlan::Varying(schedule) => schedule.start,
            ServerPlan::Wifi(plan) => plan.rate,
        }
    }
}

impl BottleneckPlan {
    pub(crate) fn describe(&self) -> String {
        let ServerPlan::Rate(rate) = &self.server else { return String::new() };
        format!("A bottleneck sends {rate}; {}.", self.queue.describe())
    }
}

/// Packets wait in the queue while one is being sent. A packet moves on when its last bit has
/// been sent.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    queue: Queue,
    transmitter: Transmitter,
    /// The packet being sent, and when that ends.
    sending: Option<(Instant, Transit)>,
}

impl Bottleneck {
    pub(crate) fn new(plan: &BottleneckPlan, streams: Streams) -> Bottleneck {
        Bottleneck {
            queue: Queue::new(&plan.queue, || streams.own()),
            transmitter: Transmitter::new(plan.server.rate()),
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
        if self.sending.is_some() {
            self.queue.push(now, packet, out);
        } else if let Some((queued, packet)) = self.queue.pass(now, packet, out) {
            self.transmitter.wake(now);
            self.send(queued, packet);
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        self.sending.as_ref().map(|(ends, _)| *ends)
    }

    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        if let Some((_, packet)) = self.sending.take() {
            if packet.is_background {
                out.absorb(now, packet);
            } else {
                out.pass(packet);
            }
        }
        if let Some((queued, packet)) = self.queue.pop(now, out) {
            self.send(queued, packet);
        }
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let sending = self.sending.iter().map(|(_, packet)| packet);
        Box::new(sending.chain(self.queue.held()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.sending.take().map(|(_, packet)| packet));
        self.queue.release(into);
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
