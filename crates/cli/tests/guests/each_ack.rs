//! The state of a kernel's sender at each acknowledgement.

use tcplab_recording::Recording;
use tcplab_trace::analyze;
use tcplab_units::{Endpoint, Instant};

use crate::causes::{Agreement, LOSS, RECOVERY, begin, of_client, state_at};
use crate::home::Home;
use crate::image::Images;

/// Losses, and acknowledgements that are late.
const SCENARIO: &str = r#"
title    = "States"
path     = { rate = "10 Mbit/s", delay = "20 ms", queue = "32 kB", loss = "1 %" }
workload = { upload = "1 MB" }
repeat   = { trials = 1 }
sampling = { each_ack = true }
client   = { stack = "linux-6.12", socket = { congestion = "reno" } }
server   = { stack = "linux-6.12" }
"#;

const CAUSES: [&str; 3] = [
    "path = { rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"32 kB\", loss = \"3 %\" }",
    "path = { rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"8 kB\" }",
    "path = { rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"32 kB\", \
     interruption = { every = \"1 s\", lasting = \"300 ms\", offset = \"300 ms\" } }",
];

#[test]
fn each_acknowledgement_has_the_state_of_the_sender() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    images.run_scenario(&home, SCENARIO, "--runs here");
    let trials = home.only(home.only("here")).join("trials");
    let recording = Recording::open(&home.only(trials)).unwrap();
    let samples = of_client(&recording);
    let (place, _) = recording.capture(Endpoint::Client).unwrap();
    let trace = analyze(tcplab_capture::open(place).unwrap());
    let flow = &trace.connections[0].forward;
    let zero = begin(&recording);

    // What the packets say was acknowledged, the kernel says at once: it counts the SYN.
    let mut highest = 1;
    let mut acknowledgements = 0;
    for ack in flow.acks.iter().filter(|ack| ack.ack.as_u64() > 1) {
        if ack.ack.as_u64() > highest {
            highest = ack.ack.as_u64();
            acknowledgements += 1;
            let at = zero + ack.at.since(Instant::ZERO);
            assert_eq!(state_at(&samples, at).unwrap().bytes_acked, highest, "{at:?}");
        }
    }
    assert!(acknowledgements > 300, "{acknowledgements}");
    // The window as Reno has it: one segment for each that is acknowledged in slow start.
    let open = samples.iter().take_while(|sample| sample.ca_state < RECOVERY);
    let grown = open.map(|sample| sample.cwnd_segments).max().unwrap();
    assert!(grown > 20, "{grown}");
    assert!(samples.iter().any(|sample| sample.ca_state == RECOVERY));
    let halved = samples
        .windows(2)
        .find(|pair| pair[0].ca_state < RECOVERY && (RECOVERY..=LOSS).contains(&pair[1].ca_state));
    let [before, after] = halved.unwrap() else { unreachable!() };
    assert!(after.ssthresh_segments <= before.cwnd_segments / 2 + 1, "{before:?} {after:?}");
    // The receiver's state does not change with each segment.
    let server = recording.samples().unwrap().len() - samples.len();
    assert!(server < 20, "{server}");
}

/// Random losses, a full queue, and the paper's interruptions: each retransmission has the cause
/// that the kernel's own state has.
#[test]
fn causes_of_retransmissions_are_those_of_the_kernel() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    for (nth, path) in CAUSES.iter().enumerate() {
        let (runs, line) =
            (format!("runs-{nth}"), SCENARIO.lines().find(|it| it.starts_with("path")));
        let scenario = SCENARIO.replace(line.unwrap(), path);
        images.run_scenario(&home, &scenario, &format!("--runs {runs}"));
        let trials = home.only(home.only(runs)).join("trials");
        let agreement = Agreement::of(&Recording::open(&home.only(trials)).unwrap());
        assert!(agreement.found >= 5, "{path}: {agreement:?}");
        assert_eq!(agreement.found as u64, agreement.counted, "{path}: {agreement:?}");
        assert!(agreement.wrong.is_empty(), "{path}: {agreement:?}");
        assert!(agreement.right >= agreement.found * 9 / 10, "{path}: {agreement:?}");
    }
}
