//! What a path gives at best: the yardstick of RFC 6349.

use tcplab_path::{Direction, ElementPlan, LinkPlan, Outlook, PathSpec};
use tcplab_testbed::Train;
use tcplab_units::{Bytes, Instant, Rate, Span};

/// Of IPv4 and TCP without options: what RFC 6349 section 4.1 takes off the MTU. And with the
/// timestamps that Linux uses (RFC 7323 section 3.2).
pub(crate) const WITHOUT_OPTIONS: Bytes = Bytes::new(40);
pub(crate) const WITH_TIMESTAMPS: Bytes = Bytes::new(52);
/// Where the path does not say how large a packet may be.
const ETHERNET_MTU: Bytes = Bytes::new(1500);
/// Changes of a path are followed at about so many moments.
const POINTS: usize = 500;

/// What takes longer never ends.
const LONGEST: Span = Span::from_secs(1_000_000_000);

/// About so many packets, spread over the trial, tell the mean round trip.
const PACKETS: f64 = 2_000.0;
/// Round trips that differ by no more than this share of their mean are alike.
const STEADY: f64 = 0.01;
/// The golden ratio less one. Its multiples, less their whole part, are spread most evenly and in
/// step with nothing that repeats (Knuth, The Art of Computer Programming 3, section 6.4).
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What a path gives at best in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Ideal {
    /// The largest IP packet that it takes.
    pub mtu: Bytes,
    /// The mean round trip time of a small packet (64 B each way) that finds the path idle: with
    /// its waits for a trace's opportunities and for a wireless medium, and with jitter.
    pub base_rtt: Span,
    /// Whether such a packet takes as long whenever it sets out, jitter aside.
    pub is_steady: bool,
    /// The mean rate of its bottleneck, in bits of IP packets a second; none without one.
    pub rate: Option<Rate>,
    /// What limits each of the paths.
    paths: Vec<Vec<Limit>>,
}

/// So much passes at once, and the rest at a rate that may change.
#[derive(Debug, Clone, PartialEq)]
struct Limit {
    burst: Bytes,
    /// The rate from each of these moments on; the first is the start.
    rates: Vec<(Instant, Rate)>,
}

impl Ideal {
    /// That of a path, of which this is the direction of the payload, from the start until then in
    /// a trial with this `seed`. None of a path that cannot be, or that is none.
    pub fn of(path: &PathSpec, direction: Direction, until: Instant, seed: u64) -> Option<Ideal> {
        Ideal::of_packets(path, direction, until, seed, Train::SMALLEST)
    }

    /// As [`Ideal::of`], but `base_rtt` is that of a packet of this size, which a small one
    /// answers.
    pub(crate) fn of_packets(
        path: &PathSpec,
        direction: Direction,
        until: Instant,
        seed: u64,
        size: Bytes,
    ) -> Option<Ideal> {
        if path.same_host {
            return None;
        }
        let there = path.link(direction).ok()?;
        let back = path.link(direction.opposite()).ok()?;
        let until = until.max(Instant::ZERO + Span::from_millis(1));
        let outlook = there.outlook(until, seed, POINTS);
        let both = [&outlook, &back.outlook(until, seed, POINTS)];
        let (base_rtt, is_steady) = round_trip([&there, &back], size, both);
        let mtus = there.elements.iter().filter_map(|element| match element {
            ElementPlan::Mtu(plan) => Some(plan.size),
            _ => None,
        });
        Some(Ideal {
            mtu: mtus.min().unwrap_or(ETHERNET_MTU).min(ETHERNET_MTU),
            base_rtt,
            is_steady,
            rate: mean_rate(&outlook),
            paths: vec![limits(&there, &outlook, seed)],
        })
    }

    /// That of a path that never changes.
    pub(crate) fn steady(mtu: Bytes, base_rtt: Span, rate: Option<Rate>) -> Ideal {
        let rates = rate.map(|rate| vec![(Instant::ZERO, rate)]);
        let limits = rates.map(|rates| Limit { burst: Bytes::ZERO, rates });
        let paths = vec![limits.into_iter().collect()];
        Ideal { mtu, base_rtt, is_steady: true, rate, paths }
    }

    /// What both give together, of two paths; the round trip is the first one's.
    #[must_use]
    pub(crate) fn beside(self, second: Option<Ideal>) -> Ideal {
        let Some(second) = second else { return self };
        let both = self.rate.zip(second.rate);
        let sum = |(a, b): (Rate, Rate)| a.bits_per_second().saturating_add(b.bits_per_second());
        let rate = both.map(|both| Rate::from_bits_per_second(sum(both)));
        let paths = self.paths.iter().cloned().chain(second.paths).collect();
        Ideal { mtu: self.mtu.min(second.mtu), rate, paths, ..self }
    }

    /// That of a connection between these ports.
    #[must_use]
    pub(crate) fn between_ports(self, path: &PathSpec, ports: [u16; 2]) -> Ideal {
        Ideal { base_rtt: self.base_rtt + path.delay_between_ports(ports) * 2, ..self }
    }

    /// The payload of a full segment without options.
    pub fn segment(&self) -> Bytes {
        self.mtu.saturating_sub(WITHOUT_OPTIONS)
    }

    /// The most payload a second.
    pub fn goodput(&self) -> Option<Rate> {
        let share = self.segment().as_u64() as f64 / self.mtu.as_u64().max(1) as f64;
        let bits = self.rate?.bits_per_second() as f64 * share;
        (bits >= 1.0).then(|| Rate::from_bits_per_second(bits as u64))
    }

    /// The time that so much payload takes at best: what bursts let through at once, and the rest
    /// at the rate, as it changes from the start on; of a steady rate the ideal transfer time of
    /// RFC 6349 section 4.1. What is left behind the last change goes at its rate.
    pub fn time(&self, payload: Bytes) -> Option<Span> {
        let mean = self.goodput()?.bits_per_second() as f64;
        let share = mean / self.rate?.bits_per_second() as f64;
        let bits = payload.bits() as f64 / share;
        let is_through = |span: Span| self.passed(Instant::ZERO + span) >= bits;
        let mut high = Span::from_millis(1);
        while !is_through(high) {
            high = high * 2;
            // Nothing passes any more.
            if high > LONGEST {
                return Some(Span::from_secs_f64(payload.bits() as f64 / mean));
            }
        }
        let mut low = Span::ZERO;
        while low < high {
            let middle = Span::from_nanos(low.as_nanos().midpoint(high.as_nanos()));
            if is_through(middle) {
                high = middle;
            } else {
                low = middle + Span::from_nanos(1);
            }
        }
        Some(high)
    }

    /// How many bits of IP packets have passed by then.
    fn passed(&self, until: Instant) -> f64 {
        let of_path = |limits: &Vec<Limit>| {
            limits.iter().map(|limit| limit.passed(until)).fold(f64::INFINITY, f64::min)
        };
        self.paths.iter().map(of_path).sum()
    }

    /// What is under way when the path is full and no queue stands: the bandwidth-delay product of
    /// RFC 6349 section 3.3.1.
    pub fn bdp(&self) -> Option<Bytes> {
        Some(self.rate?.bytes_in(self.base_rtt))
    }
}

/// How long a packet of this size is under way there, and a small one back, in the mean over
/// packets that set out all the time, and whether this hardly depends on when. One at a time,
/// because when it comes to one trace depends on when it left the other.
fn round_trip([there, back]: [&LinkPlan; 2], size: Bytes, outlooks: [&Outlook; 2]) -> (Span, bool) {
    let (there, back) = (there.lone_passage(size), back.lone_passage(Train::SMALLEST));
    let until = outlooks[0].until;
    let mut edges: Vec<Instant> =
        outlooks.iter().flat_map(|outlook| &outlook.moments).map(|moment| moment.at).collect();
    edges.push(until);
    edges.sort_unstable();
    edges.dedup();
    let whole = until.since(Instant::ZERO).as_secs_f64();
    let (mut mean, mut least, mut most) = (0.0, Span::MAX, Span::ZERO);
    for (from, to) in edges.iter().zip(&edges[1..]) {
        let span = to.since(*from).as_secs_f64();
        let packets = (PACKETS * span / whole).ceil().max(1.0);
        for number in 0..packets as u32 {
            let place = (f64::from(number) + 0.5) * GOLDEN % 1.0;
            let sets_out = *from + Span::from_secs_f64(span * place);
            let took = back.through(there.through(sets_out)).since(sets_out);
            (least, most) = (least.min(took), most.max(took));
            mean += took.as_nanos() as f64 / packets * (span / whole);
        }
    }
    let spread = most.saturating_sub(least).as_nanos() as f64;
    (Span::from_nanos(mean.round() as u64), spread <= STEADY * mean)
}

impl Limit {
    fn passed(&self, until: Instant) -> f64 {
        let ends = self.rates.iter().skip(1).map(|(at, _)| *at).chain([until]);
        let each = self.rates.iter().zip(ends).map(|((from, rate), end)| {
            rate.bits_per_second() as f64 * end.min(until).since(*from).as_secs_f64()
        });
        self.burst.bits() as f64 + each.sum::<f64>()
    }
}

/// What limits a path: together where nothing passes at once, else each by itself.
fn limits(link: &LinkPlan, outlook: &Outlook, seed: u64) -> Vec<Limit> {
    let bursts = || link.elements.iter().filter_map(|it| Some((it, it.burst()?)));
    if bursts().all(|(_, burst)| burst == Bytes::ZERO) {
        let rates = rates(outlook);
        return rates.map(|rates| Limit { burst: Bytes::ZERO, rates }).into_iter().collect();
    }
    let each = bursts().filter_map(|(element, burst)| {
        let alone = LinkPlan { elements: vec![element.clone()] };
        Some(Limit { burst, rates: rates(&alone.outlook(outlook.until, seed, POINTS))? })
    });
    each.collect()
}

/// The rates of a path, from when on each; none where at some time there is none.
fn rates(outlook: &Outlook) -> Option<Vec<(Instant, Rate)>> {
    let each = outlook.moments.iter().map(|moment| Some((moment.at, moment.rate?)));
    let mut all = each.collect::<Option<Vec<_>>>()?;
    all.dedup_by_key(|(_, rate)| *rate);
    Some(all)
}

fn mean_rate(outlook: &Outlook) -> Option<Rate> {
    let bits = mean(outlook, |moment| Some(moment.rate?.bits_per_second() as f64))?;
    Some(Rate::from_bits_per_second(bits as u64))
}

/// The mean over time; none where at some time there is none.
fn mean(outlook: &Outlook, of: impl Fn(&tcplab_path::Moment) -> Option<f64>) -> Option<f64> {
    let ends = outlook.moments.iter().skip(1).map(|moment| moment.at).chain([outlook.until]);
    let mut sum = 0.0;
    for (moment, end) in outlook.moments.iter().zip(ends) {
        sum += of(moment)? * end.since(moment.at).as_secs_f64();
    }
    Some(sum / outlook.until.since(Instant::ZERO).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ideal(path: &str, seconds: u64) -> Ideal {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let until = Instant::ZERO + Span::from_secs(seconds);
        Ideal::of(&path, Direction::Forward, until, 1).unwrap()
    }

    #[test]
    fn steady_path_matches_rfc_6349() {
        let ideal = ideal(r#"{ "rate": "50 Mbit/s", "delay": "50 ms" }"#, 10);
        // 64 B at 50 Mbit/s: 10.24 µs each way.
        assert_eq!(ideal.base_rtt, Span::from_nanos(100_020_480));
        assert_eq!(ideal.segment(), Bytes::new(1460));
        // 50 Mbit/s × 1460 / 1500.
        assert_eq!(ideal.goodput().unwrap().bits_per_second(), 48_666_666);
        let time = ideal.time(Bytes::new(10_000_000)).unwrap().as_secs_f64();
        assert!((time - 80e6 / 48_666_666.0).abs() < 1e-9, "{time}");
        assert_eq!(ideal.bdp().unwrap(), Bytes::new(625_128));
    }

    #[test]
    fn two_paths_carry_the_sum() {
        let first = ideal(r#"{ "rate": "10 Mbit/s", "delay": "10 ms" }"#, 1);
        let second = ideal(r#"{ "rate": "5 Mbit/s", "delay": "40 ms", "mtu": "1400 B" }"#, 1);
        let both = first.clone().beside(Some(second));
        assert_eq!(both.rate.unwrap().bits_per_second(), 15_000_000);
        assert_eq!((both.base_rtt, both.mtu), (first.base_rtt, Bytes::new(1400)));
        let unlimited = ideal(r#"{ "delay": "5 ms" }"#, 1);
        assert_eq!(first.beside(Some(unlimited)).rate, None);
    }

    #[test]
    fn changing_rate_gives_mean() {
        let steps = r#"{ "rate": { "start": "10 Mbit/s",
                                   "steps": [{ "at": "5 s", "to": "30 Mbit/s" }] } }"#;
        assert_eq!(ideal(steps, 10).rate.unwrap().bits_per_second(), 20_000_000);
    }

    /// What fits into the first second does not wait for the slower rate behind it.
    #[test]
    fn time_follows_a_changing_rate() {
        let slows = r#"{ "rate": { "start": "15 Mbit/s",
                                   "steps": [{ "at": "1 s", "to": "1.5 Mbit/s" }] } }"#;
        // 14.6 and 1.46 Mbit/s of payload.
        let took = |ideal: &Ideal, bytes: u64| ideal.time(Bytes::new(bytes)).unwrap().as_secs_f64();
        for seconds in [2, 10] {
            let ideal = ideal(slows, seconds);
            for (bytes, expected) in [(912_500, 0.5), (1_825_000, 1.0), (2_007_500, 2.0)] {
                let time = took(&ideal, bytes);
                assert!((time - expected).abs() < 1e-5, "{bytes} B in {seconds} s: {time} s");
            }
        }
        let beside = ideal(r#"{ "rate": "15 Mbit/s" }"#, 10).beside(Some(ideal(slows, 10)));
        assert!((took(&beside, 3_650_000) - 1.0).abs() < 1e-5);
        assert!((took(&beside, 3_650_000 + 2_007_500) - 2.0).abs() < 1e-5);
    }

    /// The burst goes as fast as anything else lets it, and what is left at the rate.
    #[test]
    fn bursts_pass_at_once() {
        // With 1000 B of IP packets in 973.3 B of payload: 0.5 MB of payload are 513,699 B.
        let took =
            |path: &str, bytes: u64| ideal(path, 10).time(Bytes::new(bytes)).unwrap().as_secs_f64();
        let ip = 500_000.0 * 1500.0 / 1460.0;
        let left = (ip * 8.0 - 8e5) / 1e6;
        for (path, seconds) in [
            (r#"{ "rate": "1 Mbit/s", "burst": "1 MB" }"#, 0.0),
            (r#"{ "rate": "1 Mbit/s", "burst": "100 kB" }"#, left),
            (r#"{ "police": { "rate": "1 Mbit/s", "burst": "100 kB" } }"#, left),
            // Behind a line, which is slower than the burst.
            (
                r#"{ "rate": "10 Mbit/s", "stages": [{ "rate": "1 Mbit/s", "burst": "1 MB" }] }"#,
                ip * 8.0 / 1e7,
            ),
        ] {
            let time = took(path, 500_000);
            assert!((time - seconds).abs() < 1e-6 * seconds.max(0.1), "{path}: {time} s");
        }
        let [bucket, line] =
            [r#"{ "rate": "1 Mbit/s", "burst": "100 kB" }"#, r#"{ "rate": "1 Mbit/s" }"#];
        let both = ideal(bucket, 10).beside(Some(ideal(line, 10)));
        let time = both.time(Bytes::new(500_000)).unwrap().as_secs_f64();
        assert!((time - left / 2.0).abs() < 1e-6, "{time} s");
    }

    #[test]
    fn base_rtt_is_that_of_lone_packets() {
        for (path, milliseconds) in [
            (r#"{ "rate": "64 kbit/s", "delay": "100 us" }"#, 16.2),
            // A bucket that holds more than the packet sends it at once.
            (r#"{ "rate": "64 kbit/s", "burst": "2 kB", "delay": "100 us" }"#, 0.2),
            // The next opportunity is 50 ms away in the mean; what comes back by the delay later
            // waits for nearly a whole one.
            (r#"{ "rate": { "opportunities": [100] }, "delay": "100 us" }"#, 150.1),
            // Frames of 100 B: 192 µs and 73 µs each (IEEE 802.11-2016, 16.3.4).
            (r#"{ "wifi": { "standard": "b", "rate": "11 Mbit/s" }, "delay": "100 us" }"#, 0.73),
            // From -19.9 ms to 20.1 ms, nothing below zero: 20.1² / 80 ms each way.
            (r#"{ "delay": "100 us", "jitter": { "uniform": "20 ms" } }"#, 10.100_25),
            // A mean of 10 ms and one of 20 ms.
            (
                r#"{ "reverse": { "delay": "20 ms" }, "forward": { "delay": {
                     "start": "5 ms", "steps": [{ "at": "5 s", "to": "15 ms" }] } } }"#,
                30.0,
            ),
        ] {
            let ideal = ideal(path, 10);
            let rtt = ideal.base_rtt.as_millis_f64();
            assert!((rtt / milliseconds - 1.0).abs() < 0.005, "{path}: {rtt} ms");
            let varies = path.contains("steps") || path.contains("opportunities");
            assert_eq!(ideal.is_steady, !varies, "{path}");
        }
    }

    #[test]
    fn unlimited_path_has_no_ideal_time() {
        let ideal = ideal(r#"{ "delay": "5 ms" }"#, 1);
        assert_eq!(
            (ideal.base_rtt, ideal.rate, ideal.time(Bytes::new(1)), ideal.bdp()),
            (Span::from_millis(10), None, None, None)
        );
    }
}
