//! The path gives equal verdicts in real and in virtual time.

use std::fs;

use crate::experiment::Experiment;
use crate::program::Io;

/// All elements that drop, delay, copy, change or read packets, in both directions.
const LIVELY_PATH: &str = r#"
[path]
rate      = { start = "20 Mbit/s", steps = [{ at = "300 ms", to = "8 Mbit/s", over = "100 ms" }] }
delay     = "5 ms"
queue     = { fq_codel = { limit = "100 packets", ecn = true } }
jitter    = { normal = "1 ms", correlation = "30 %" }
loss      = { gilbert_elliott = { p = "0.5 %", r = "40 %" } }
drop      = [{ kind = "retransmission", nth = [2] }, { kind = "syn-ack", nth = [1] }]
interruption = { up = "700 ms", lasting = "20 ms" }
duplicate = "1 %"
corrupt   = "0.5 %"
reorder   = { probability = "1 %", gap = 3, extra = "20 ms" }
cross     = { rate = "1 Mbit/s" }
[path.reverse]
rate  = "5 Mbit/s"
queue = { pie = {} }
"#;

/// Elements that need sizes only, so packets stay where they were read.
const BLIND_PATH: &str = r#"
[path]
rate   = "50 Mbit/s"
burst  = "15 kB"
delay  = "5 ms"
queue  = "100 packets"
loss   = "1 %"
jitter = "500 µs"
"#;

fn log_is_replayed(path: &str, io: Io) {
    let scenario = format!(
        "title = \"Replayed\"\n{path}\n[workload]\nupload = \"400 kB\"\n[repeat]\ntrials = 1\n"
    );
    let Some(run) = Experiment::run(&scenario, io) else { return };
    for trial in run.trials() {
        let rows = trial.truth.len();
        let line = format!("replay {}", trial.directory.display());
        let expected = format!("{rows} packets, all with equal verdicts in virtual time\n");
        assert_eq!(run.home().answer(&line), expected);
        // Another seed gives other verdicts, so this really compares.
        let record = trial.directory.join("result.json");
        let text = fs::read_to_string(&record).unwrap();
        let seed = format!("\"seed\": {}", trial.record.seed);
        assert!(text.contains(&seed), "{text}");
        fs::write(&record, text.replace(&seed, "\"seed\": 7")).unwrap();
        let ended = run.home().run(&line);
        assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("have a different verdict"), "{}", ended.stdout);
    }
}

#[test]
fn replay_of_tun_recording_matches() {
    log_is_replayed(LIVELY_PATH, Io::Tun);
}

#[test]
fn replay_of_packet_socket_recording_matches() {
    log_is_replayed(LIVELY_PATH, Io::PacketSocket);
}

#[test]
fn replay_of_size_only_path_matches() {
    log_is_replayed(BLIND_PATH, Io::Tun);
}
