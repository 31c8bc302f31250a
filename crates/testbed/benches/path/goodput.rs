//! How much of a TCP stream gets through.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tcplab_testbed::DeviceKind;
use tcplab_testbed::workbench::PathJoint;
use tcplab_units::Span;

use crate::clock::{Usage, spread};
use crate::setting::{Joint, Setting, path};
use crate::streams::{Kind, Stream};
use crate::{Arguments, mahimahi, say};

/// Processors that others may use in a round that counts.
const QUIET: f64 = 0.25;
const WARM_UP: Duration = Duration::from_millis(300);

/// A way between the rooms, by name.
struct Contender {
    name: &'static str,
    joint: Joint,
    congestion: &'static str,
    capture: Capture,
    rates: Vec<f64>,
    /// Processors that others used, round by round.
    foreign: Vec<f64>,
    notes: String,
}

/// What is captured of each packet, at both ends.
#[derive(Clone, Copy)]
enum Capture {
    None,
    First(u32),
    Whole,
}

/// Two contenders, and what the first should reach of the second.
const GOALS: [(&str, &str, f64); 7] = [
    ("tun, passed through", "veth with GSO", 0.75),
    ("tun, each segment", "veth without GSO", 0.4),
    ("tun, 1 ms each way", "veth without GSO", 0.4),
    ("packet socket, each segment", "veth without GSO", 0.4),
    ("tun, loss 0.1 %, bbr", "tun, passed through, bbr", 0.9),
    ("tun, each segment, capture 128 B", "tun, each segment", 0.8),
    ("tun, each segment, capture whole", "tun, each segment", 0.8),
];

fn contenders() -> Vec<Contender> {
    const EACH: &str = r#"{ "rate": "100 Gbit/s", "queue": "100000 packets" }"#;
    let of = |name, joint| Contender {
        name,
        joint,
        congestion: "cubic",
        capture: Capture::None,
        rates: Vec::new(),
        foreign: Vec::new(),
        notes: String::new(),
    };
    let by = |name, device, spec| of(name, Joint::Path(path(device, spec)));
    let (tun, packet) = (DeviceKind::Tun, DeviceKind::PacketSocket);
    let mut unmerged = path(tun, EACH);
    unmerged.tuning.coalesce = Span::ZERO;
    let bbr = |contender| Contender { congestion: "bbr", ..contender };
    let captured = |contender, capture| Contender { capture, ..contender };
    vec![
        of("veth with GSO", Joint::Veth { offloads: true }),
        of("veth without GSO", Joint::Veth { offloads: false }),
        by("tun, passed through", tun, "{}"),
        by("tun, each segment", tun, EACH),
        of("tun, each segment, never merged", Joint::Path(unmerged)),
        by("tun, 1 ms each way", tun, r#"{ "delay": "1 ms" }"#),
        by("packet socket, passed through", packet, "{}"),
        by("packet socket, each segment", packet, EACH),
        bbr(by("tun, passed through, bbr", tun, "{}")),
        bbr(by("tun, loss 0.1 %, bbr", tun, r#"{ "loss": "0.1 %" }"#)),
        captured(by("tun, each segment, capture 128 B", tun, EACH), Capture::First(128)),
        captured(by("tun, each segment, capture whole", tun, EACH), Capture::Whole),
    ]
}

/// Rounds of all contenders, one after the other; then the table.
pub(crate) fn compare(arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    let mut contenders = contenders();
    contenders.retain(|contender| arguments.wants(contender.name));
    let mut mahimahi = Vec::new();
    for _ in 0..arguments.rounds {
        for contender in &mut contenders {
            contender.measure(arguments.seconds)?;
        }
        if arguments.wants("mahimahi") {
            mahimahi.extend(mahimahi::goodput(arguments.seconds)?);
        }
    }
    say(&format!(
        "One TCP stream, median of {} rounds of {} s [range], Gbit/s",
        arguments.rounds, arguments.seconds
    ));
    for contender in &contenders {
        let (median, least, most) = spread(&contender.quiet());
        let (foreign, ..) = spread(&contender.foreign);
        say(&format!(
            "  {:34} {median:6.2} [{least:.2}-{most:.2}]  foreign {foreign:.2}  {}",
            contender.name, contender.notes
        ));
    }
    if !mahimahi.is_empty() {
        let (median, least, most) = spread(&mahimahi);
        say(&format!("  {:34} {median:6.2} [{least:.2}-{most:.2}]", "mm-delay 0"));
    }
    let mut ratios = Vec::new();
    for (name, of, goal) in GOALS {
        let median = |name| {
            contenders.iter().find(|c| c.name == name).map(|contender| spread(&contender.quiet()).0)
        };
        if let (Some(reached), Some(whole)) = (median(name), median(of)) {
            let ratio = reached / whole;
            let verdict = if ratio >= goal { "ok" } else { "MISSED" };
            say(&format!("  {name} / {of}: {ratio:.2} (goal {goal}) {verdict}"));
            ratios.push(json!({ "of": name, "to": of, "ratio": ratio, "goal": goal }));
        }
    }
    let rows = contenders.iter().map(|c| {
        json!({ "name": c.name, "gbit_per_s": c.rates, "foreign_cpus": c.foreign,
                "notes": c.notes })
    });
    Ok(json!({ "streams": rows.collect::<Vec<_>>(), "mahimahi": mahimahi, "ratios": ratios }))
}

impl Contender {
    /// The rounds in which others left the machine alone, if these were at least three; else all.
    fn quiet(&self) -> Vec<f64> {
        let rounds = self.rates.iter().zip(&self.foreign);
        let quiet = rounds.filter(|(_, foreign)| **foreign < QUIET).map(|(rate, _)| *rate);
        let quiet: Vec<f64> = quiet.collect();
        if quiet.len() < 3 { self.rates.clone() } else { quiet }
    }

    fn measure(&mut self, seconds: f64) -> Result<(), Box<dyn Error>> {
        let directory = tempfile::tempdir_in(memory_disk())?;
        let joint = match (&self.joint, self.capture) {
            (Joint::Path(joint), Capture::Whole) => recorded(joint, directory.path(), None),
            (Joint::Path(joint), Capture::First(n)) => recorded(joint, directory.path(), Some(n)),
            (joint, _) => joint.clone(),
        };
        let setting = Setting::new(&joint)?;
        let kind = Kind { congestion: self.congestion, pacing: 0, warm_up: WARM_UP };
        let usage = Usage::start();
        let stream = Stream::start(&setting.rooms, kind)?;
        std::thread::sleep(WARM_UP + Duration::from_secs_f64(seconds));
        let flow = stream.end()?;
        self.foreign.push(usage.foreign());
        self.rates.push(flow.bits_per_second() / 1e9);
        if let Some(moved) = setting.end()? {
            self.notes = format!(
                "busy {:.2}, starved {}, turn {}, ring p99 {}, late p99 {}, drops {} device {} capture of {}",
                moved.mover.busy,
                micros(moved.mover.starved),
                micros(moved.mover.longest_turn),
                micros(moved.ring_wait.p99),
                micros(moved.lateness.p99),
                moved.device_drops,
                moved.capture_drops,
                moved.packets,
            );
        }
        Ok(())
    }
}

fn recorded(joint: &PathJoint, directory: &Path, snaplen: Option<u32>) -> Joint {
    Joint::Path(PathJoint { recording: Some((directory.into(), snaplen)), ..joint.clone() })
}

/// Where files are memory: what is measured is not a disk.
fn memory_disk() -> &'static Path {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() { shm } else { Path::new("/tmp") }
}

fn micros(span: Span) -> String {
    format!("{} us", span.as_micros())
}
