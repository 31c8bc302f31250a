//! Both endpoints on one host: both captures contain each packet of the loopback once.

use std::fs;

use tcplab_capture::{Direction, Reader};
use tcplab_recording::Recording;
use tcplab_scenario::metrics;
use tcplab_units::Endpoint;
use tcplab_wire::FrameView;

use crate::experiment::Experiment;
use crate::program::Io;

/// TCP sequence and acknowledgement numbers, length and time of a packet.
type Passed = (u32, u32, u32, u64);

/// The packets of a direction captured at an endpoint.
fn passed(recording: &Recording, end: Endpoint, way: Direction) -> Vec<Passed> {
    let mut reader = Reader::new(recording.capture(end).unwrap().1).unwrap();
    let mut packets = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        assert!(record.captured.len() <= 128, "captures keep what the headers need");
        if record.direction() == Some(way) {
            let tcp = FrameView::of_packet(record.captured).tcp().expect("only TCP is here");
            let (seq, ack) = (tcp.seq().as_u32(), tcp.ack().as_u32());
            let at = record.time.expect("ours have a time").as_nanos();
            packets.push((seq, ack, record.original_len, at));
        }
    }
    packets
}

#[test]
fn loopback_is_captured_at_both_endpoints() {
    let scenario = "title = \"Same host\"\n[path]\nsame_host = true\n\
                    [workload]\nupload = \"80 MB\"\n[sampling]\ntcp_info = \"1 ms\"\n\
                    [repeat]\ntrials = 1\n";
    let Some(run) = Experiment::run(scenario, Io::PacketSocket) else { return };
    let trial = &run.result().cases[0].trials[0];
    let metric = |name| trial.metrics.value_named(name);
    assert_eq!((metric("payload_intact"), metric("lost")), (Some(1.0), None));
    assert_eq!(trial.warnings, [""; 0]);
    let recording = Recording::open(&run.directory().join(&trial.directory)).unwrap();
    assert_eq!(recording.record().unwrap().world.device, "loopback");
    assert!(recording.truth().unwrap().is_empty());
    let samples = recording.samples().unwrap();
    // The kernel tells TCP_INFO only while no system call works on the socket (`tcp_get_info` takes
    // its lock), and here one nearly always does: samples may be missed, and then that is said.
    let missed = recording.record().unwrap().world.samples_missed;
    let due = samples.len() as u64 / 2 + missed;
    let said = format!("{missed} of {due} samples of TCP_INFO were missed");
    assert_eq!(trial.flaws, Vec::from_iter((missed * 100 > due * 2).then_some(said)));
    let acked = samples.iter().map(|sample| sample.bytes_acked).max();
    assert!(acked.is_some_and(|acked| acked <= 80_000_002), "{acked:?}");
    for [sender, receiver] in [Endpoint::BOTH, [Endpoint::Server, Endpoint::Client]] {
        let left = passed(&recording, sender, Direction::Outbound);
        let came = passed(&recording, receiver, Direction::Inbound);
        let what = |it: &Passed| (it.0, it.1, it.2);
        assert!(left.len() > 3, "{left:?}");
        // Of two processors the order may differ.
        let sorted = |passed: &[Passed]| {
            let mut all: Vec<_> = passed.iter().map(what).collect();
            all.sort_unstable();
            all
        };
        assert!(sorted(&left) == sorted(&came), "each packet is there, once");
        let longest = left.iter().map(|it| it.2).max();
        assert_eq!(sender == Endpoint::Client, longest > Some(1500), "the MTU is the loopback's");
    }

    let report = fs::read_to_string(run.directory().join("report.html")).unwrap();
    assert!(report.contains("both ends talk over the loopback of the same host"));
    assert!(!report.contains("The path was not verified"));
    run.home().refuses(&[
        ("run made.toml --world sim", "is on the same host, which needs a kernel"),
        ("path show made.toml", "`same_host` has no path"),
    ]);
}

#[test]
fn pipes_and_memory_move_bytes_without_packets() {
    let scenario = "title = \"Baselines\"\n[path]\nsame_host = true\n\
                    [workload]\nupload = \"1 MB\"\nwrite_size = \"1 kB\"\n\
                    [matrix]\n\"workload.through\" = [\"unix\", \"pipe\", \"memory\"]\n\
                    [repeat]\ntrials = 1\n";
    let Some(run) = Experiment::run(scenario, Io::PacketSocket) else { return };
    let report = fs::read_to_string(run.directory().join("report.html")).unwrap();
    for (case, medium) in run.result().cases.iter().zip(["a UNIX socket", "a pipe", "memory"]) {
        let trial = &case.trials[0];
        let names: Vec<&str> = trial.metrics.iter().map(|metric| metric.name).collect();
        assert_eq!(names, ["transfer_time", "goodput", "payload_intact"], "{medium}");
        assert_eq!(trial.metrics.value(metrics::PAYLOAD_INTACT), Some(1.0), "{medium}");
        assert_eq!(trial.medium.as_deref(), Some(medium));
        assert!(trial.warnings.is_empty() && trial.flaws.is_empty(), "{trial:?}");
        let said = format!("The data went through {medium} between two endpoints on one host");
        assert!(report.contains(&said), "{medium}");
        let recording = Recording::open(&run.directory().join(&trial.directory)).unwrap();
        let app = recording.app().unwrap();
        assert_eq!((app.client.calls, app.client.bytes.as_u64()), (1000, 1_000_000), "{medium}");
        assert!(app.server.has_all_of(&app.client), "{medium}");
    }
}
