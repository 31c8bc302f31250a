//! Scenarios as `tcplab run --dry-run` takes them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tcplab_lab::{Overrides, Refusal, estimate_plan, plan};
use tcplab_scenario::Scenario;

use crate::pages::bench;
use crate::paths::{FILE, make};

/// How long is looked ahead.
const PATIENCE: Duration = Duration::from_millis(20);

/// Planned, looked ahead, each path shown. All of it ends soon and takes little memory, whatever
/// the scenario asks for. It is text, or below a space as first byte a choice of lines.
pub(crate) fn dry_run(bytes: &[u8]) {
    let source = match bytes {
        [0..b' ', choice @ ..] => scenario_of(choice),
        text => String::from_utf8_lossy(text).into_owned(),
    };
    let parsed = Scenario::parse_with_files(&source, "fuzz", &mut |_| Ok(FILE.to_vec()));
    let Ok(scenario) = parsed else { return };
    let refused = || Some(Refusal { why: "this is no experiment".into(), remedy: None });
    let Ok(plan) = plan(&scenario, None, refused, Overrides::default()) else { return };
    let estimate = estimate_plan(&scenario, &plan, Path::new("."), &bench(), PATIENCE);
    assert!(!estimate.to_string().is_empty());
    assert!(!serde_json::to_string(&estimate).expect("an estimate is data").is_empty());
    for case in scenario.cases.iter().take(3).filter(|case| !case.path.same_host) {
        make(&case.path);
    }
}

/// Keys and values; `N` is a number of the input.
const LINES: [(&str, &str); 24] = [
    ("workload.upload", "'N B'"),
    ("workload.download", "'N B'"),
    ("workload.client", "['write N B', 'shutdown write', 'read to end']"),
    ("workload.server", "['read to end', 'write N B', 'close']"),
    ("workload.client", "[{ repeat = N, steps = ['write N B', 'sleep N ms'] }]"),
    ("workload.client", "[{ repeat = N, steps = [{ repeat = N, steps = ['write N B'] }] }]"),
    ("workload.write_size", "'N B'"),
    ("path.rate", "'N bit/s'"),
    ("path.rate", "{ trace = 'it' }"),
    ("path.delay", "'N µs'"),
    ("path.jitter", "'N µs'"),
    ("path.loss", "'N %'"),
    ("path.queue", "'N B'"),
    ("path.mtu", "'N B'"),
    ("path.forward.stages", "[{ delay = 'N µs' }, { rate = 'N bit/s' }, { loss = 'N %' }]"),
    ("repeat.trials", "N"),
    ("repeat.until", "{ ci = 'N %', min = N, max = N }"),
    ("repeat.warm_up", "N"),
    ("sampling.tcp_info", "'N µs'"),
    ("limits.trial", "'N ms'"),
    ("recording.snaplen", "'N B'"),
    ("client.socket.sndbuf", "'N B'"),
    ("matrix.'path.delay'", "['N µs', 'N µs', 'N µs']"),
    ("matrix.'path.loss'", "['N %', 'N %', 'N %']"),
];

/// Each byte chooses a line, the next ones its numbers: a digit and how many zeros follow.
fn scenario_of(mut choice: &[u8]) -> String {
    let mut lines = BTreeMap::new();
    while let [line, rest @ ..] = choice {
        choice = rest;
        let (key, value) = LINES[usize::from(*line) % LINES.len()];
        let mut text = String::new();
        for (place, part) in value.split('N').enumerate() {
            if place > 0 {
                let number = choice.split_off_first().copied().unwrap_or_default();
                text += &(u64::from(number % 16) * 10_u64.pow(u32::from(number / 16))).to_string();
            }
            text += part;
        }
        lines.entry(key).or_insert(text);
    }
    lines.iter().fold(String::new(), |text, (key, value)| text + &format!("{key} = {value}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_scenarios() {
        for place in 0..LINES.len() as u8 {
            // Every number is 2: too small or too large at worst, and no unknown key or step.
            let source = scenario_of(&[place, 2, 2, 2]);
            let read = Scenario::parse_with_files(&source, "lines", &mut |_| Ok(FILE.to_vec()));
            let error = read.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!error.contains("unknown") && !error.contains("step"), "{source}: {error}");
        }
    }
}
