//! Datagrams on the kernel and in virtual time: equal seeds give equal losses and answers, and an
//! independent reader accepts the packets.

use std::path::Path;
use std::process::Command;

use tcplab_recording::{Recording, capture_file};
use tcplab_units::Endpoint;
use tcplab_workload::DatagramReport;

use crate::experiment::Experiment;
use crate::home::Home;
use crate::program::{Io, installed};

const SCENARIO: &str = r#"
title    = "Datagrams"
path     = { delay = "5 ms" }
workload = { datagrams = { count = 14, timeout = "400 ms", retries = 1, backoff = 1 } }
repeat   = { trials = 1, retries = 0 }
[matrix.channel.lossy]
"path.loss" = "20 %"
"path.duplicate" = "10 %"
[matrix.channel.closed]
"workload.datagrams.count" = 4
"workload.datagrams.server" = "closed"
"workload.datagrams.connected" = true
[[expect]]
claim    = "Nobody has the port, and the socket hears of it"
where    = { channel = "closed" }
metric   = "call.result"
endpoint = "client"
call     = "recv"
equals   = "ECONNREFUSED"
[[expect]]
claim    = "Requests are lost and retried"
where    = { channel = "lossy" }
metric   = "request_retries"
at_least = 2
[[expect]]
claim    = "What was read is what was sent"
metric   = "payload_intact"
equals   = true
"#;

#[test]
fn both_worlds_lose_and_answer_equally() {
    let Some(experiment) = Experiment::run(SCENARIO, Io::Tun) else { return };
    let home = Home::with("made.toml", SCENARIO);
    let text = home.answer("run made.toml --world sim --snaplen whole");
    assert!(text.contains("no TCP connection: the endpoints exchanged UDP datagrams"));
    let modelled = home.only("runs/made");
    for trial in experiment.trials() {
        let own = Recording::open(&modelled.join(&trial.row.directory)).unwrap();
        let app = own.app().unwrap();
        let pairs = [(&trial.app.client, &app.client), (&trial.app.server, &app.server)];
        for (kernel, virtual_time) in pairs {
            let [kernel, virtual_time] = [kernel, virtual_time].map(|it| it.datagrams.as_ref());
            assert_eq!(kernel.map(untimed), virtual_time.map(untimed), "{}", trial.name());
        }
        let sent = trial.truth.iter().filter(|row| row.frame.is_some()).count();
        assert_eq!(sent, own.truth().unwrap().iter().filter(|row| row.frame.is_some()).count());
        for directory in [&trial.directory, &modelled.join(&trial.row.directory)] {
            checksums_are_right(&directory.join(capture_file(Endpoint::Client)));
        }
    }
}

/// Without its times.
fn untimed(report: &DatagramReport) -> DatagramReport {
    let mut untimed = report.clone();
    for request in &mut untimed.requests {
        request.asked = tcplab_units::Instant::ZERO;
        request.answered = request.answered.map(|_| tcplab_units::Instant::ZERO);
        request.tries.fill(tcplab_units::Instant::ZERO);
    }
    untimed
}

/// By tshark: 1 is "good". ICMP quotes the packet before the device completed its checksum.
fn checksums_are_right(capture: &Path) {
    if !installed(&["tshark"]) {
        return;
    }
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    tshark.args(["-Y", "not icmp", "-T", "fields", "-e", "ip.checksum.status"]);
    tshark.args(["-e", "udp.checksum.status", "-e", "udp.length", "-r"]).arg(capture);
    let output = tshark.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.lines().count() >= 4, "{}", capture.display());
    for line in lines.lines() {
        assert_eq!(line, "1\t1\t72", "{}", capture.display());
    }
}
