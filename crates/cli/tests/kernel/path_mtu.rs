//! Packets above the path's MTU: kernel and model retransmit the same segments.

use std::path::Path;
use tcplab_recording::capture_file;

use tcplab_capture::Reader;
use tcplab_units::Endpoint;
use tcplab_wire::{FrameView, too_big};

use crate::experiment::Experiment;
use crate::home::Home;
use crate::program::Io;

const SCENARIO: &str = r#"
title    = "Small packets only"
path     = { rate = "20 Mbit/s", delay = "20 ms", queue = "100 packets" }
workload = { upload = "30 kB" }
repeat   = { trials = 1, retries = 0 }
[client]
stack  = "linux"
socket = { congestion = "reno" }
[client.sysctl]
"net.ipv4.tcp_mtu_probing" = 1
[matrix.router]
small = { "path.forward.mtu" = "1400 B" }
least = { "path.forward.mtu" = "500 B" }
hole  = { "path.forward.mtu" = { size = "1400 B", answer = false } }
"#;

/// The ten packets that are too large, and ten more; later ones depend on timing.
const COMPARED: usize = 20;

#[test]
fn both_worlds_retransmit_equally() {
    let Some(experiment) = Experiment::run(SCENARIO, Io::Tun) else { return };
    let home = Home::with("made.toml", SCENARIO);
    home.answer("run made.toml --world sim --snaplen whole");
    let modelled = home.only("runs/made");
    let mut trials = 0;
    for trial in experiment.trials() {
        let directories = [&trial.directory, &modelled.join(&trial.row.directory)];
        let captures = directories.map(|it| it.join(capture_file(Endpoint::Client)));
        let [kernel, model] = captures.each_ref().map(|capture| look(capture));
        assert_eq!(kernel, model, "{}", trial.name());
        assert_eq!(kernel.1, if trial.name().contains("hole") { 0 } else { 10 });
        trials += 1;
    }
    assert_eq!(trials, 3);
}

/// The client's first segments with data: sequence number, length, DF bit; and the number of ICMP
/// messages about too large packets.
fn look(capture: &Path) -> (Vec<(u32, usize, bool)>, usize) {
    let mut reader = Reader::open(capture).unwrap();
    let (mut sent, mut answers, mut first) = (Vec::new(), 0, None);
    while let Some(record) = reader.next_record().unwrap() {
        let view = FrameView::of_packet(record.captured);
        answers += usize::from(view.ip().is_some_and(|ip| too_big(&ip).is_some()));
        let Some(tcp) = view.tcp().filter(|tcp| tcp.dst_port() == 5_001) else { continue };
        if !tcp.payload().is_empty() && sent.len() < COMPARED {
            let seq = tcp.seq().as_u32();
            let from = seq.wrapping_sub(*first.get_or_insert(seq)) + 1;
            sent.push((from, tcp.payload().len(), tcp.ip().dont_fragment()));
        }
    }
    assert_eq!(sent.len(), COMPARED, "{}", capture.display());
    (sent, answers)
}
