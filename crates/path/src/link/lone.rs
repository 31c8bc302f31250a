//! How long a packet takes that finds the link idle.

use tcplab_units::{Bytes, Instant, Span};

use crate::elements::{DelayPlan, DelaySpec};
use crate::{ElementPlan, LinkPlan, ServerPlan};

/// Lone packets on their way through a link: each finds it idle, and meets the mean of what chance
/// decides. What happens to some packets only (losses, interruptions, being held back) is left out,
/// and so is cross traffic.
#[derive(Debug, Clone)]
pub struct LonePassage<'a> {
    size: Bytes,
    legs: Vec<Leg<'a>>,
}

/// What an element takes.
#[derive(Debug, Clone)]
enum Leg<'a> {
    /// As long at any time.
    Steady(Span),
    /// What its server takes at that time.
    Server(&'a ServerPlan),
    /// A delay that changes with time.
    Delay(&'a DelayPlan),
}

impl LinkPlan {
    /// The passage of lone packets of that size.
    pub fn lone_passage(&self, size: Bytes) -> LonePassage<'_> {
        let legs = self.elements.iter().filter_map(|element| match element {
            ElementPlan::Bottleneck(plan) => Some(match &plan.server {
                server @ (ServerPlan::Varying(_) | ServerPlan::Trace(_)) => Leg::Server(server),
                server => Leg::Steady(server.lone(Instant::ZERO, size)),
            }),
            ElementPlan::Delay(plan) => Some(match &plan.delay {
                DelaySpec::Constant(_) => Leg::Steady(plan.mean_at(Instant::ZERO)),
                DelaySpec::Schedule(_) => Leg::Delay(plan),
            }),
            _ => None,
        });
        LonePassage { size, legs: legs.collect() }
    }
}

impl LonePassage<'_> {
    /// When a packet is through that comes at that time.
    pub fn through(&self, comes: Instant) -> Instant {
        self.legs.iter().fold(comes, |now, leg| {
            now + match leg {
                Leg::Steady(span) => *span,
                Leg::Server(server) => server.lone(now, self.size),
                Leg::Delay(plan) => plan.mean_at(now),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Direction, Fate, Link, Packet, PathSpec};

    use super::*;

    const SIZE: Bytes = Bytes::new(64);
    /// From one packet to the next: longer than any of them takes, and no multiple of what repeats.
    const APART: Span = Span::from_micros(1_234_567);

    /// The mean time of lone packets, in milliseconds: as the link does it, and as it is said.
    fn means(path: &str, packets: u64) -> (f64, f64) {
        let path: PathSpec = serde_json::from_str(path).unwrap();
        let plan = path.link(Direction::Forward).unwrap();
        let (mut link, lone) = (Link::new(&plan, 1, Direction::Forward), plan.lone_passage(SIZE));
        let (mut made, mut said, mut arrived) = (0.0, 0.0, 0.0);
        for id in 0..packets {
            let comes = Instant::ZERO + APART * id;
            link.handle_packet(comes, Packet::of_size(id, SIZE));
            let departure = loop {
                if let Some(departure) = link.poll(link.poll_at().unwrap_or(comes)) {
                    break departure.verdict;
                }
            };
            if departure.fate == Fate::Delivered {
                made += departure.left.since(comes).as_millis_f64();
                said += lone.through(comes).since(comes).as_millis_f64();
                arrived += 1.0;
            }
        }
        (made / arrived, said / arrived)
    }

    #[test]
    fn mean_of_lone_packets_is_what_the_link_makes_of_them() {
        for (path, exact) in [
            (r#"{ "rate": "64 kbit/s", "delay": "1 ms" }"#, Some(9.0)),
            (r#"{ "rate": "64 kbit/s", "stages": [{ "rate": "64 kbit/s" }] }"#, Some(16.0)),
            // There are always tokens for a small packet.
            (r#"{ "rate": "64 kbit/s", "burst": "2 kB", "delay": "0.1 ms" }"#, Some(0.1)),
            // A frame of 100 B at 11 Mbit/s: 192 µs and 73 µs (IEEE 802.11-2016, 16.3.4).
            (r#"{ "wifi": { "standard": "b", "rate": "11 Mbit/s" } }"#, Some(0.265)),
            (r#"{ "rate": { "opportunities": [100] } }"#, None),
            (r#"{ "rate": { "opportunities": [1, 30, 31, 90] }, "delay": "5 ms" }"#, None),
            (
                r#"{ "rate": { "start": "64 kbit/s",
                     "steps": [{ "at": "400 s", "to": "1 Mbit/s", "over": "90 s" }] },
                     "delay": { "start": "5 ms", "steps": [{ "at": "300 s", "to": "9 ms" }] } }"#,
                None,
            ),
            (r#"{ "wifi": { "standard": "n", "rate": "65 Mbit/s", "stations": 5 } }"#, None),
            (r#"{ "wifi": { "standard": "g", "rate": "54 Mbit/s", "error": "40 %" } }"#, None),
            (r#"{ "delay": "0.1 ms", "jitter": { "uniform": "20 ms" } }"#, None),
            (r#"{ "delay": "2 ms", "jitter": { "normal": "3 ms" } }"#, None),
            (r#"{ "delay": "1 ms", "jitter": { "pareto": "3 ms" } }"#, None),
            (r#"{ "delay": "50 ms", "jitter": { "pareto_normal": "3 ms" } }"#, None),
            (
                r#"{ "delay": { "start": "1 ms", "steps": [{ "at": "900 s", "to": "4 ms" }] },
                     "jitter": { "normal": "3 ms" } }"#,
                None,
            ),
        ] {
            let (made, said) = means(path, if exact.is_some() { 100 } else { 20_000 });
            // The mean of 20,000 values is within three hundredths of what they spread.
            let bound = if exact.is_some() { 1e-6 } else { said * 0.03 };
            assert!((made - said).abs() <= bound, "{path}: {made} ms, said {said} ms");
            let exact = exact.unwrap_or(said);
            assert!((said - exact).abs() < 1e-6, "{path}: said {said} ms, not {exact} ms");
        }
    }
}
