//! What `tcplab latency` prints.

use std::fmt::Write as _;

use tcplab_load::{Clock, Direction, LatencyOutcome, Phase};
use tcplab_units::{Durations, visible_line};

use super::measured::Measured;
use crate::output::counted;

pub(super) fn table(target: &str, outcome: &LatencyOutcome) -> String {
    let LatencyOutcome { sent, lost, .. } = outcome;
    let mut text = format!(
        "{target}: {} in {:.1} s, {lost} lost ({:.2} %){}\n",
        counted(*sent, "probe"),
        outcome.elapsed.as_secs_f64(),
        *lost as f64 * 100.0 / (*sent).max(1) as f64,
        lost_by_way(outcome),
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
    }
    if let [idle, loaded] = &outcome.phases[..] {
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
        }
        if let Some(clock) = host.clock.filter(|clock| !clock.is_same) {
            let _ = writeln!(text, "  each way ±{}", milliseconds(clock.bound_ns as f64));
        }
    }
    text
}

fn lost_by_way(outcome: &LatencyOutcome) -> String {
    ways(outcome.lost, outcome.lost_there.zip(outcome.lost_back), outcome.lost_unknown)
}

/// On which way probes were lost; `known` are those there and back.
fn ways(lost: u64, known: Option<(u64, u64)>, unknown: u64) -> String {
    match known {
        _ if lost == 0 => String::new(),
        Some((there, back)) if unknown > 0 => {
            format!(": {there} there, {back} back, {unknown} way unknown")
        }
        Some((there, back)) => format!(": {there} there, {back} back"),
        None => ": the server did not count which way".into(),
    }
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
        let Durations { min, p50, p90, p99, p999, max, .. } = times;
        let shown = [min, p50, p90, p99, p999, max];
        let shown = shown.map(|nanos| format!("{:>9.3}", *nanos as f64 / 1e6));
        let _ = writeln!(text, "{:22} {}", format!("{indent}{what}"), shown.join(" "));
    }
    text
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
    let drift = match (clock.drift_ppb, clock.drift_bound_ppb) {
        (Some(drift), Some(bound)) => {
            format!("its drift {:.3} ppm ± {:.3} ppm", drift / 1e3, bound / 1e3)
        }
        _ => "its drift not known (too short, or never idle)".into(),
    };
    format!(
        "The RTT is measured; each way is exact to ±{bound} (half of the least RTT), and right if \
         the path\nwithout queues takes equally long both ways. The server's clock: {offset} \
         {ahead}, {drift}.\n"
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
        for (lost, known, unknown, wanted) in [
            (0, Some((0, 0)), 0, ""),
            (5, Some((2, 3)), 0, ": 2 there, 3 back"),
            (9, Some((2, 3)), 4, ": 2 there, 3 back, 4 way unknown"),
            (4, None, 4, ": the server did not count which way"),
        ] {
            assert_eq!(ways(lost, known, unknown), wanted);
        }
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
        assert!(exactness(&Clock { drift_ppb: None, ..clock }).contains("not known"));
        assert!(exactness(&Clock::same()).contains("Each way is exact"));
    }
}
