//! Cases drawn at random, away from any grid.

use std::fmt::Write;

use tcplab_scenario::Scenario;
use tcplab_units::Rng;

/// The congestion controls that kernels in virtual time and models have.
pub const CONTROLS: [&str; 6] = ["reno", "cubic", "westwood", "vegas", "veno", "bbr"];
/// How often, of a hundred, a path has each kind of disturbance.
const KINDS: [(Kind, u64); 7] = [
    (Kind::None, 30),
    (Kind::Loss, 25),
    (Kind::Bursts, 12),
    (Kind::Interruptions, 12),
    (Kind::Reordering, 9),
    (Kind::LostAcks, 6),
    (Kind::Jitter, 6),
];
/// How often, of a hundred, SACK is off, timestamps are off, ECN is on.
const OPTIONS: [(&str, &str, u64, u8); 3] = [
    ("tcp_sack", "no-sack", 8, 0),
    ("tcp_timestamps", "no-timestamps", 12, 0),
    ("tcp_ecn", "ecn", 8, 1),
];

/// Queues hold at least so much, bytes: four packets.
const LEAST_QUEUE: f64 = 6_000.0;
/// Transfers have so many bytes, at least and at most.
const SIZES: (f64, f64) = (100e3, 20e6);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    Loss,
    Bursts,
    Interruptions,
    Reordering,
    LostAcks,
    Jitter,
}

/// A scenario with `count` cases of one trial each, drawn from `seed`: one of the congestion
/// `controls`, rates of 1 to 100 Mbit/s, RTTs of 4 to 200 ms, queues of a quarter to
/// four bandwidth-delay products, losses, interruptions, reordering, jitter, options. Transfers
/// would take one to six seconds at the full rate.
///
/// # Panics
/// Without controls.
pub fn random(count: u32, seed: u64, controls: &[&str]) -> Scenario {
    let mut draw = Draw { rng: Rng::new(seed, "random cases"), controls };
    let points: String = (0..count).map(|number| draw.point(number)).collect();
    let text = format!(
        "# {count} cases, drawn at random from the seed {seed}.\n\n\
         title    = \"Model and kernel: cases drawn at random\"\n\
         path     = {{ rate = \"10 Mbit/s\" }}\n\
         workload = {{ upload = \"1 MB\" }}\n\
         limits   = {{ trial = \"10 min\" }}\n\n\
         [matrix]\npoint = {{\n{points}}}\n\n\
         [repeat]\ntrials = 1\nseed   = {seed}\n"
    );
    Scenario::parse(&text, "random").expect("what is drawn is a valid scenario")
}

struct Draw<'a> {
    rng: Rng,
    controls: &'a [&'a str],
}

impl Draw<'_> {
    /// A number between two, all ratios alike.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.share())
    }

    fn share(&mut self) -> f64 {
        self.rng.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn kind(&mut self) -> Kind {
        let mut at = self.rng.below(100);
        for (kind, percent) in KINDS {
            if at < percent {
                return kind;
            }
            at -= percent;
        }
        Kind::None
    }

    /// A level of the factor: a line of the matrix.
    fn point(&mut self, number: u32) -> String {
        let control = self.controls[self.rng.below(self.controls.len() as u64) as usize];
        let (rate, rtt) = (self.between(1.0, 100.0), self.between(4.0, 200.0));
        let product = rate * 1e6 / 8.0 * rtt * 1e-3;
        let queue = self.between(0.25, 4.0).max(LEAST_QUEUE / product);
        let size = (rate * 1e6 / 8.0 * self.between(1.0, 6.0)).clamp(SIZES.0, SIZES.1);
        let mut name = format!("{number:03}-{control}");
        let mut keys = format!(
            "\"client.socket.congestion\" = \"{control}\", \"path.rate\" = \"{rate:.1} Mbit/s\", \
             \"path.delay\" = \"{:.2} ms\", \"path.queue\" = \"{queue:.2} bdp\", \
             \"workload.upload\" = \"{size:.0} B\"",
            rtt / 2.0
        );
        if let Some((word, key)) = self.disturbance() {
            name += &format!("-{word}");
            keys += &format!(", {key}");
        }
        for (sysctl, word, percent, value) in OPTIONS {
            if self.happens(percent) {
                name += &format!("-{word}");
                let _ = write!(keys, ", \"client.sysctl.net.ipv4.{sysctl}\" = {value}");
            }
        }
        format!("  \"{name}\" = {{ {keys} }},\n")
    }

    /// What disturbs the path: a word for it, and its key.
    fn disturbance(&mut self) -> Option<(&'static str, String)> {
        Some(match self.kind() {
            Kind::None => return None,
            Kind::Loss => {
                ("loss", format!("\"path.forward.loss\" = \"{:.2} %\"", self.between(0.05, 4.0)))
            }
            Kind::Bursts => {
                let (p, r) = (self.between(0.1, 1.0), self.between(25.0, 60.0));
                let model = format!("{{ p = \"{p:.2} %\", r = \"{r:.1} %\" }}");
                ("bursts", format!("\"path.forward.loss\" = {{ gilbert_elliott = {model} }}"))
            }
            Kind::Interruptions => {
                let (every, lasting) = (self.between(1.2, 3.0), self.between(30.0, 200.0));
                let offset = self.between(300.0, 900.0);
                let table = format!(
                    "{{ every = \"{every:.2} s\", lasting = \"{lasting:.0} ms\", \
                     offset = \"{offset:.0} ms\" }}"
                );
                ("interruptions", format!("\"path.interruption\" = {table}"))
            }
            Kind::Reordering => ("reordering", self.reordering()),
            Kind::LostAcks => {
                let percent = self.between(3.0, 50.0);
                ("lost-acks", format!("\"path.reverse.loss\" = \"{percent:.0} %\""))
            }
            Kind::Jitter => {
                let (most, reorder) = (self.between(0.5, 2.5), self.happens(50));
                let jitter = format!("{{ uniform = \"{most:.1} ms\", reorder = {reorder} }}");
                let stage = format!("[{{ delay = \"2.5 ms\", jitter = {jitter} }}]");
                ("jitter", format!("\"path.forward.stages\" = {stage}"))
            }
        })
    }

    fn reordering(&mut self) -> String {
        let stage = if self.happens(50) {
            format!("every = {}, gap = {}", 20 + self.rng.below(181), 1 + self.rng.below(5))
        } else {
            let (percent, extra) = (self.between(0.3, 3.0), self.between(2.0, 20.0));
            format!("probability = \"{percent:.1} %\", extra = \"{extra:.0} ms\"")
        };
        format!("\"path.forward.stages\" = [{{ reorder = {{ {stage} }} }}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_cases_are_valid_and_follow_the_seed() {
        let scenario = random(300, 1, &CONTROLS);
        assert_eq!(scenario.cases.len(), 300);
        assert_eq!(random(300, 1, &CONTROLS), scenario);
        assert_ne!(random(300, 2, &CONTROLS).source, scenario.source);
        for word in CONTROLS.iter().chain(&["loss", "bursts", "interruptions", "reordering"]) {
            assert!(scenario.cases.iter().any(|case| case.name.contains(word)), "{word}");
        }
    }

    #[test]
    fn random_cases_have_only_the_controls_that_are_there() {
        let scenario = random(60, 1, &["reno", "cubic"]);
        let has = |word: &str| scenario.cases.iter().filter(|it| it.name.contains(word)).count();
        assert_eq!(has("reno") + has("cubic"), 60);
        assert!(has("reno") > 0 && has("cubic") > 0);
    }
}
