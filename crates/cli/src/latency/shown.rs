//! What `tcplab latency` prints.

use std::fmt::Write as _;

use tcplab_load::{Clock, Direction, LatencyOutcome, Phase};
use tcplab_units::{Durations, visible_line};

use super::measured::Measured;
use crate::output::{counted, interrupted};

pub(super) fn table(target: &str, outcome: &LatencyOutcome) -> String {
    let unknown = outcome.lost_unknown;
    let mut text = format!(
        "{target}: {} in {:.1} s{}, {}\n",
        counted(outcome.sent, "probe"),
        outcome.elapsed.as_secs_f64(),
        interrupted(outcome.was_stopped),
        losses(outcome.sent, outcome.lost, outcome.lost_there, unknown),
    );
    let others = [
        (outcome.reordered, "reordered"),
        (outcome.duplicates, "duplicates"),
        (outcome.late, "after the timeout"),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    let others: Vec<String> = others.map(|(count, what)| format!("{count} {what}")).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "answers: {}", others.join(", "));
    }
    if outcome.ignored > 0 {
        let _ = writeln!(text, "{} ignored: not answers", counted(outcome.ignored, "datagram"));
    }
    text.push('\n');
    text += &heading();
    let is_loaded = outcome.phases.len() > 1;
    for phase in &outcome.phases {
        let name = if is_loaded { phase.name.as_str() } else { "" };
        text += &rows(name, phase);
        if is_loaded {
            text += &losses_of(phase);
        }
    }
    // How late the probes themselves were, of all.
    if outcome.send_delay.count > 0 {
        text += &row("send delay", &outcome.send_delay);
    }
    let [idle, loaded] = ["idle", "under load"]
        .map(|name| outcome.phases.iter().find(|phase| phase.name == name && phase.rtt.count > 0));
    if let (Some(idle), Some(loaded)) = (idle, loaded) {
        text += &increase(idle, loaded);
    }
    for load in &outcome.loads {
        let what = match load.direction {
            Direction::Upload => "upload",
            Direction::Download => "download",
        };
        let rate = load.bits_per_second / 1e6;
        let seconds = load.elapsed.as_secs_f64();
        let _ = writeln!(text, "{what}: {rate:.2} Mbit/s for {seconds:.1} s");
    }
    if let Some(clock) = &outcome.clock {
        let _ = write!(text, "\n{}", exactness(clock));
    }
    text
}

/// What a third host measured meanwhile.
pub(super) fn third(host: &Measured) -> String {
    format!("\nmeanwhile, from the third host\n{}", together(std::slice::from_ref(host)))
}

/// What several hosts measured.
pub(super) fn together(hosts: &[Measured]) -> String {
    let mut text = heading();
    for host in hosts {
        for phase in &host.phases {
            let name = if host.phases.len() > 1 {
                format!("{}, {}", host.name, phase.name)
            } else {
                host.name.clone()
            };
            text += &rows(&visible_line(&name), phase);
            if host.phases.len() > 1 {
                text += &losses_of(phase);
            }
        }
        let Measured { sent, lost, lost_there, lost_unknown, .. } = *host;
        let said = losses(sent, lost, lost_there, lost_unknown);
        let _ = writeln!(text, "  {}, {said}", counted(sent, "probe"));
        if let Some(clock) = host.clock.filter(|clock| !clock.is_same) {
            let _ = writeln!(text, "  each way ±{}", milliseconds(clock.bound_ns as f64));
        }
    }
    text
}

/// How many of the probes that were sent were lost, and on which way: `there`, if the server
/// counted.
fn losses(sent: u64, lost: u64, there: Option<u64>, unknown: u64) -> String {
    let share = lost as f64 * 100.0 / sent.max(1) as f64;
    let way = match there {
        _ if lost == 0 => String::new(),
        Some(there) => {
            let back = lost.saturating_sub(there.saturating_add(unknown));
            let rest = if unknown > 0 { format!(", {unknown} way unknown") } else { String::new() };
            format!(": {there} there, {back} back{rest}")
        }
        None => ": the server did not count which way".into(),
    };
    format!("{lost} lost ({share:.2} %){way}")
}

fn heading() -> String {
    format!(
        "{:22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "ms", "min", "median", "p90", "p99", "p99.9", "max"
    )
}

fn rows(name: &str, phase: &Phase) -> String {
    let mut text = if name.is_empty() { String::new() } else { format!("{name}\n") };
    let indent = if name.is_empty() { "" } else { "  " };
    for (what, times) in
        [("RTT", &phase.rtt), ("latency there", &phase.there), ("latency back", &phase.back)]
    {
        text += &row(&format!("{indent}{what}"), times);
    }
    text
}

fn row(name: &str, times: &Durations) -> String {
    let Durations { min, p50, p90, p99, p999, max, .. } = times;
    let shown = [min, p50, p90, p99, p999, max].map(|nanos| match times.count {
        0 => format!("{:>9}", "-"),
        _ => format!("{:>9.3}", *nanos as f64 / 1e6),
    });
    format!("{name:22} {}\n", shown.join(" "))
}

/// The losses of one of several phases; nothing where a result of an older version does not say.
fn losses_of(phase: &Phase) -> String {
    let Phase { sent, lost, lost_there, lost_back, .. } = *phase;
    if sent == 0 {
        return String::new();
    }
    let known = lost_there.saturating_add(lost_back);
    let there = (known > 0).then_some(lost_there);
    let said = losses(sent, lost, there, lost.saturating_sub(known));
    format!("  {}, {said}\n", counted(sent, "probe"))
}

/// What load adds to latency ("working latency").
fn increase(idle: &Phase, loaded: &Phase) -> String {
    let more = |loaded: u64, idle: u64| {
        let nanos = loaded as f64 - idle as f64;
        format!("{}{}", if nanos < 0.0 { "-" } else { "+" }, milliseconds(nanos.abs()))
    };
    format!(
        "increase under load, median: RTT {}, there {}, back {}\n",
        more(loaded.rtt.p50, idle.rtt.p50),
        more(loaded.there.p50, idle.there.p50),
        more(loaded.back.p50, idle.back.p50),
    )
}

fn exactness(clock: &Clock) -> String {
    if clock.is_same {
        return "Each way is exact: both hosts have one clock.\n".into();
    }
    let bound = milliseconds(clock.bound_ns as f64);
    let ahead = if clock.offset_ns < 0 { "behind" } else { "ahead" };
    let offset = milliseconds((clock.offset_ns as f64).abs());
    let (why, drift) = match (clock.drift_ppb, clock.drift_bound_ppb) {
        (Some(drift), Some(bound)) => {
            ("", format!("its drift {:.3} ppm ± {:.3} ppm", drift / 1e3, bound / 1e3))
        }
        _ => (" and 50 ppm of drift", "its drift not known (too short, or never idle)".into()),
    };
    format!(
        "The RTT is measured; each way is exact to ±{bound} (half of the least RTT{why}), and \
         right if the path\nwithout queues takes equally long both ways. The server's clock: \
         {offset} {ahead}, {drift}.\n"
    )
}

fn milliseconds(nanos: f64) -> String {
    format!("{:.3} ms", nanos / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, there: u64, back: u64) -> Phase {
        let times = |ms: u64| Durations { count: 3, p50: ms * 1_000_000, ..Durations::default() };
        Phase {
            name: name.into(),
            rtt: times(there + back),
            there: times(there),
            back: times(back),
            ..Phase::default()
        }
    }

    #[test]
    fn increase_is_of_each_way() {
        let said = increase(&phase("idle", 10, 40), &phase("under load", 110, 39));
        let wanted =
            "increase under load, median: RTT +99.000 ms, there +100.000 ms, back -1.000 ms";
        assert_eq!(said.trim_end(), wanted);
    }

    #[test]
    fn losses_after_the_last_answer_have_no_way() {
        for (lost, there, unknown, wanted) in [
            (0, Some(0), 0, "0 lost (0.00 %)"),
            (5, Some(2), 0, "5 lost (5.00 %): 2 there, 3 back"),
            (9, Some(2), 4, "9 lost (9.00 %): 2 there, 3 back, 4 way unknown"),
            (4, None, 4, "4 lost (4.00 %): the server did not count which way"),
        ] {
            assert_eq!(losses(100, lost, there, unknown), wanted);
        }
    }

    #[test]
    fn losses_are_said_of_each_host_and_phase() {
        let lossy = Phase { sent: 200, lost: 68, lost_there: 60, ..phase("under load", 110, 39) };
        let idle = Phase { sent: 100, ..phase("idle", 10, 40) };
        let mut host = Measured {
            name: "third".into(),
            sent: 200,
            lost: 68,
            lost_there: Some(60),
            lost_unknown: 8,
            phases: vec![lossy.clone()],
            ..Measured::default()
        };
        let said = "  200 probes, 68 lost (34.00 %): 60 there, 0 back, 8 way unknown\n";
        assert_eq!(together(&[host.clone()]).matches(said).count(), 1);
        host.phases.insert(0, idle);
        let text = together(&[host]);
        assert_eq!(text.matches(said).count(), 2, "of the phase, and of all: {text}");
        assert!(text.contains("\n  100 probes, 0 lost (0.00 %)\nthird, under load\n"), "{text}");
        let silent = rows("", &Phase { rtt: Durations::default(), ..lossy });
        assert!(silent.starts_with("RTT                            -         -"), "{silent}");
    }

    #[test]
    fn bound_of_each_way_is_said() {
        let clock = Clock {
            offset_ns: -3_200_000,
            bound_ns: 25_000_000,
            drift_ppb: Some(1_500.0),
            drift_bound_ppb: Some(20.0),
            is_same: false,
        };
        let said = exactness(&clock);
        for part in ["±25.000 ms", "3.200 ms behind", "1.500 ppm ± 0.020 ppm"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.contains("(half of the least RTT), and"), "{said}");
        let short = exactness(&Clock { drift_ppb: None, ..clock });
        let why = "(half of the least RTT and 50 ppm of drift)";
        assert!(short.contains("not known") && short.contains(why), "{short}");
        assert!(exactness(&Clock::same()).contains("Each way is exact"));
    }
}
