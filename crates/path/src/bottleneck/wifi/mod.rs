//! A wireless link: IEEE 802.11 as one direction of a path sees it.

mod air;
mod contention;
mod mean_rate;
mod station;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Probability, Rate, Span};

pub use air::WifiStandard;
use air::{Air, Timing};
use contention::Contention;
pub(crate) use station::Wifi;

use super::work::BILLION;
use crate::fault::Fault;
use crate::text_or_table::is_default;

/// A wireless link. Each direction shares the medium only with the other stations: write what the
/// two directions take from each other as a lower rate, or as a station.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Wifi")]
pub struct WifiSpec {
    /// Whose frames and times hold: `b` (2.4 GHz), `g` (2.4 GHz, no station of `b` near), `n`
    /// (2.4 GHz) or `ac` (5 GHz).
    pub standard: WifiStandard,
    /// The rate of the physical layer while a frame's data is sent; one of the standard's, such as
    /// `"11 Mbit/s"` (b), `"54 Mbit/s"` (g), `"65 Mbit/s"` or `"72.2 Mbit/s"` (n, 20 MHz, one
    /// stream), `"433.3 Mbit/s"` (ac, 80 MHz, one stream).
    pub rate: Rate,
    /// The rate at which frames are acknowledged; one of those without streams (of `b` and `g`).
    /// Default: the highest of the basic rates that is not above `rate`: 1 and 2 Mbit/s for b, else
    /// 6, 12 and 24 Mbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// The probability that a packet is damaged, each time it is sent: in an aggregate each by
    /// itself. Acknowledgements never are. Default: 0 %.
    #[serde(default, skip_serializing_if = "is_default")]
    pub error: Probability,
    /// How often a packet is retransmitted before it counts as lost, 0 to 255. Default: 6, which
    /// makes 7 attempts (dot11ShortRetryLimit).
    #[serde(default = "retries", skip_serializing_if = "is_usual")]
    pub retries: u32,
    /// How many packets share a frame at most (A-MPDU), 1 to 64; only `n` and `ac`. A frame is also
    /// limited to 65535 B (n) or 1048575 B (ac), and to 5.484 ms. Default: 64 where there is
    /// aggregation, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<u32>,
    /// How many other stations contend for the medium, 0 to 100, each always with something to
    /// send: such frames as this one's when it has much to send. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stations: u32,
    /// The contention window at first, in slots: a power of two less one. Default: 31 (b), else 15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<u32>,
    /// The contention window after failures at most, likewise; not below `cw_min`. Default: 1023.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<u32>,
}

/// The default of dot11ShortRetryLimit is 7 attempts (IEEE 802.11-2016, annex C).
const RETRIES: u32 = 6;

fn retries() -> u32 {
    RETRIES
}
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde prescribes the signature")]
fn is_usual(retries: &u32) -> bool {
    *retries == RETRIES
}

/// A wireless link, checked, with everything the standard says filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiPlan {
    /// Whose frames and times hold.
    pub standard: WifiStandard,
    /// The rate of the physical layer; one of the standard's.
    pub rate: Rate,
    /// The rate of acknowledgements; one of those without streams.
    pub basic_rate: Rate,
    /// For each packet, each time it is sent.
    pub error: Probability,
    /// How often a packet is retransmitted.
    pub retries: u32,
    /// How many packets share a frame at most; 1 to [`BLOCK_ACK_WINDOW`].
    pub aggregate: u32,
    /// How many others contend.
    pub stations: u32,
    /// The contention window at first.
    pub cw_min: u32,
    /// The contention window at most.
    pub cw_max: u32,
}

/// How many packets a Block Ack covers (IEEE 802.11-2016, 10.24.7: a compressed bitmap of 64),
/// and so from the oldest that is not acknowledged to the newest that may be sent.
pub(crate) const BLOCK_ACK_WINDOW: u32 = 64;

/// More would be more than any cell bears; contention is reckoned with as many multiplications.
const MOST_STATIONS: u32 = 100;

/// The standard's limit has eight bits (dot11ShortRetryLimit, annex C), and each retry is counted.
const MOST_RETRIES: u32 = 255;

/// The contention window of the standard ends here; the field that announces it has four bits for
/// its exponent (9.4.2.29), of which we allow all.
const WIDEST_WINDOW: u32 = (1 << 15) - 1;

impl WifiSpec {
    pub(crate) fn plan(&self) -> Result<WifiPlan, Fault> {
        let WifiSpec { standard, rate, error, retries, stations, .. } = *self;
        if Air::new(standard, rate).is_none() {
            return Err(Fault::below("rate", air::no_such_rate(standard, rate)));
        }
        let basic_rate = self.basic_rate.unwrap_or_else(|| standard.basic_rate(rate));
        if Air::of_control(standard, basic_rate).is_none() {
            let control = standard.of_control();
            return Err(Fault::below("basic_rate", air::no_such_rate(control, basic_rate)));
        }
        let most = if standard.aggregates() { BLOCK_ACK_WINDOW } else { 1 };
        let aggregate = self.aggregate.unwrap_or(most);
        if aggregate == 0 {
            return Err(Fault::below("aggregate", "give at least 1 packet per frame"));
        }
        if aggregate > most {
            let what = match most {
                1 => format!("802.11{standard} sends each packet in a frame of its own: 1 at most"),
                _ => format!("a frame has at most {most} packets"),
            };
            return Err(Fault::below("aggregate", what));
        }
        if stations > MOST_STATIONS {
            let what =
                format!("{stations} stations are more than a cell bears: {MOST_STATIONS} at most");
            return Err(Fault::below("stations", what));
        }
        if retries > MOST_RETRIES {
            let what =
                format!("{retries} retries are more than a station makes: {MOST_RETRIES} at most");
            return Err(Fault::below("retries", what));
        }
        let usual = Timing::of(standard);
        let cw_min = self.cw_min.unwrap_or(usual.cw_min);
        let cw_max = self.cw_max.unwrap_or(usual.cw_max.max(cw_min));
        for (key, window) in [("cw_min", cw_min), ("cw_max", cw_max)] {
            if window > WIDEST_WINDOW || !(window + 1).is_power_of_two() {
                let what = format!(
                    "a contention window of {window} cannot be: a power of two less one, up to {WIDEST_WINDOW}"
                );
                return Err(Fault::below(key, what));
            }
        }
        if cw_max < cw_min {
            let what = format!("the contention window grows from {cw_min} to {cw_max}: not less");
            return Err(Fault::below("cw_max", what));
        }
        Ok(WifiPlan {
            standard,
            rate,
            basic_rate,
            error,
            retries,
            aggregate,
            stations,
            cw_min,
            cw_max,
        })
    }
}

impl WifiPlan {
    /// What it sends of packets of 1500 B when there are always some to send, alone on the medium
    /// and without errors: a frame of them in the time it takes with everything around it, and half
    /// of the first contention window.
    pub fn saturation(&self) -> Rate {
        let exchange = Exchange::new(self);
        let packets = exchange.full_packets();
        let timing = exchange.timing;
        // Twice the time, for the mean backoff may be half a slot.
        let twice = 2
            * (timing.wait + exchange.after(packets) + exchange.frame_of(packets)).as_nanos()
            + u64::from(self.cw_min) * timing.slot.as_nanos();
        let bits = u128::from(packets) * FULL_PACKET.bits();
        let rate = 2 * bits * BILLION / u128::from(twice);
        Rate::from_bits_per_second(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// About how long it takes until a station has had its turn and a packet of 1500 B is through:
    /// each of the others sends one such frame meanwhile, and what fails is retransmitted. Packets
    /// that come less often than this hardly ever wait for one another.
    pub fn turn(&self) -> Span {
        let alone = FULL_PACKET.bits() as f64 / self.saturation().bits_per_second().max(1) as f64;
        let turns = f64::from(self.stations + 1) / (1.0 - self.failure()).max(f64::EPSILON);
        Span::from_nanos((alone * turns * 1e9) as u64)
    }

    /// How long a packet takes in the mean that finds this station idle and arrives: until another
    /// that is sending has ended and backoff is over, and then until a frame of it alone succeeds.
    pub(crate) fn lone(&self, size: Bytes) -> Span {
        let exchange = Exchange::new(self);
        let contention = exchange.contention(self);
        let frame = exchange.frame(exchange.with(Load::default(), size)).as_nanos() as f64;
        let backoff = |window: u32| f64::from(window) / 2.0 * contention.mean_slot();
        let again = (exchange.after(1) + exchange.timing.wait).as_nanos() as f64;
        let failure = self.failure();
        let mut time = contention.mean_wait(backoff(self.cw_min)) + frame;
        if failure >= 1.0 {
            return Span::from_nanos(time as u64);
        }
        let (mut sum, mut arrived, mut reached, mut window) = (0.0, 0.0, 1.0, self.cw_min);
        for _ in 0..=self.retries {
            sum += reached * (1.0 - failure) * time;
            arrived += reached * (1.0 - failure);
            reached *= failure;
            window = (2 * window + 1).min(self.cw_max);
            time += again + backoff(window) + frame;
            if reached < NEGLIGIBLE {
                break;
            }
        }
        Span::from_nanos((sum / arrived).round() as u64)
    }

    /// The probability that a packet is given up, from 0 to 1: each time it is sent it fails,
    /// whatever happened before.
    pub fn loss(&self) -> f64 {
        libm::pow(self.failure(), f64::from(self.retries) + 1.0)
    }

    /// The probability that a packet is damaged or its frame collides, each time it is sent.
    fn failure(&self) -> f64 {
        let collision = contention::collision(self.stations, self.cw_min, self.cw_max);
        1.0 - (1.0 - self.error.as_f64()) * (1.0 - collision)
    }

    pub(crate) fn describe(&self) -> String {
        let WifiPlan { standard, rate, error, retries, aggregate, stations, .. } = self;
        let [most, mean] =
            [self.saturation(), self.mean_rate()].map(|rate| format!("{:.1}", rate.as_mbit_f64()));
        let mean =
            if mean == most { String::new() } else { format!(", {mean} Mbit/s in the mean") };
        let mut text = format!(
            "802.11{standard} link at {rate} (at most {most} Mbit/s with full packets{mean})"
        );
        if *aggregate > 1 {
            let full = Exchange::new(self).full_packets();
            let full =
                if full < *aggregate { format!(" ({full} full ones)") } else { String::new() };
            text += &format!(", up to {aggregate} packets{full} per frame");
        }
        if *stations > 0 {
            let plural = if *stations == 1 { "" } else { "s" };
            text += &format!(", contending with {stations} other station{plural}");
        }
        if *error != Probability::NEVER {
            text += &format!(", {error} of packets damaged");
        }
        if *error != Probability::NEVER || *stations > 0 {
            text += &format!(", up to {retries} retries");
        }
        text
    }
}

/// What fewer packets meet does not change a mean.
const NEGLIGIBLE: f64 = 1e-12;

const FULL_PACKET: Bytes = Bytes::new(1500);

/// The frames of a link and how long they take, computed once.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    timing: Timing,
    standard: WifiStandard,
    aggregate: u32,
    data: Air,
    /// From the end of a frame to the end of its acknowledgement: of a single packet.
    acknowledged: Span,
    /// The same of an aggregate.
    block_acknowledged: Span,
}

/// An acknowledgement, and a Block Ack with a compressed bitmap, in bytes with their FCS (IEEE
/// 802.11-2016, 9.3.1.4 and 9.3.1.9).
const ACK: u64 = 14;
const BLOCK_ACK: u64 = 32;

impl Exchange {
    /// # Panics
    /// When the plan's rates are not the standard's.
    fn new(plan: &WifiPlan) -> Exchange {
        let data = Air::new(plan.standard, plan.rate).expect("a rate of the standard");
        let control = Air::of_control(plan.standard, plan.basic_rate).expect("a basic rate");
        let timing = Timing::of(plan.standard);
        Exchange {
            timing,
            standard: plan.standard,
            aggregate: plan.aggregate,
            data,
            acknowledged: timing.sifs + control.time(ACK),
            block_acknowledged: timing.sifs + control.time(BLOCK_ACK),
        }
    }

    /// What a station of this plan meets on the medium.
    fn contention(&self, plan: &WifiPlan) -> Contention {
        let packets = self.full_packets();
        let others = self.frame_of(packets) + self.after(packets) + self.timing.wait;
        Contention::new(plan.stations, (plan.cw_min, plan.cw_max), self.timing.slot, others)
    }

    /// From the end of a frame of so many packets to the end of its acknowledgement, or to when
    /// that is known to be missing.
    ///
    /// A station waits for an acknowledgement for a SIFS, a slot and the delay of the receiver
    /// (10.3.2.9), and all others wait after a frame they could not read as long as one would have
    /// taken (EIFS, 10.3.2.3.7). We let both take the time of the acknowledgement.
    fn after(&self, packets: u32) -> Span {
        if packets > 1 { self.block_acknowledged } else { self.acknowledged }
    }

    /// How many full packets a frame takes.
    fn full_packets(&self) -> u32 {
        let mut load = Load::default();
        while load.packets < self.aggregate && self.fits(load, FULL_PACKET) {
            load = self.with(load, FULL_PACKET);
        }
        load.packets
    }

    /// How long the frame of so many full packets takes.
    fn frame_of(&self, packets: u32) -> Span {
        let load = (0..packets).fold(Load::default(), |load, _| self.with(load, FULL_PACKET));
        self.frame(load)
    }

    fn frame(&self, load: Load) -> Span {
        let alone = load.packets == 1 && !self.standard.always_delimits();
        self.data.time(if alone { load.single } else { load.aggregated })
    }

    /// What a frame carries when a packet joins it.
    fn with(&self, load: Load, packet: Bytes) -> Load {
        let bytes = packet.as_u64() + self.standard.framing();
        Load {
            packets: load.packets + 1,
            single: load.single + bytes,
            // Each has a delimiter of 4 B and is padded to a multiple of 4 B (9.7.1).
            aggregated: load.aggregated + 4 + bytes.next_multiple_of(4),
        }
    }

    /// Whether a packet may join a frame. The first always may.
    fn fits(&self, load: Load, packet: Bytes) -> bool {
        let joined = self.with(load, packet);
        load.packets == 0
            || (joined.packets <= self.aggregate
                && joined.aggregated <= self.standard.largest_aggregate()
                && self.frame(joined) <= air::LONGEST_FRAME)
    }
}

/// What a frame carries.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    packets: u32,
    /// Its bytes if it is one packet, sent as such.
    single: u64,
    /// Its bytes as an aggregate.
    aggregated: u64,
}

#[cfg(test)]
mod tests;
