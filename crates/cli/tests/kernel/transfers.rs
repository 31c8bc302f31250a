//! Transfers through interruptions and losses: records and conclusions are correct.

use tcplab_units::Span;

use crate::experiment::{Experiment, QUIET_PATH, Recorded};
use crate::program::Io;
use crate::{captures, states, tcp_info, truth, tshark};

/// The default interval of `TCP_INFO` samples.
const SAMPLING: Span = Span::from_millis(10);

const INTERRUPTED: &str =
    r#"interruption = { every = "600 ms", lasting = "100 ms", offset = "250 ms" }"#;

/// 2 MB from `sender`, with Reno and with CUBIC.
fn scenario(faults: &str, sender: &str) -> String {
    let workload = if sender == "client" { "upload" } else { "download" };
    format!(
        r#"
title = "A transfer that loses packets"
{QUIET_PATH}
{faults}

[workload]
{workload} = "2 MB"

[matrix]
"{sender}.socket.congestion" = ["reno", "cubic"]

[repeat]
trials = 1

[[expect]]
claim  = "every byte arrives as it was sent"
metric = "payload_intact"
equals = true
"#
    )
}

/// Properties of every recording, whatever the path did.
fn recordings_are_right(trials: &[Recorded<'_>]) {
    truth::something_was_lost(trials);
    for trial in trials {
        let warnings = trial.row.warnings.iter();
        // A busy machine is late and reports it.
        let busy = |text: &str| text.contains("handed over late") || text.contains("were missed");
        let others: Vec<_> = warnings.filter(|text| !busy(text)).collect();
        assert_eq!(others, [""; 0], "{}", trial.name());
        captures::are_right(trial);
        truth::losses_are_found(trial);
        tcp_info::fits(trial, SAMPLING);
        tcp_info::congestion_is_as_asked(trial);
        states::agree(trial);
    }
    // One is enough, and takes long.
    tshark::agrees(&trials[0]);
}

fn interrupted(sender: &str, io: Io) {
    let Some(experiment) = Experiment::run(&scenario(INTERRUPTED, sender), io) else { return };
    let trials = experiment.trials();
    recordings_are_right(&trials);
    for trial in &trials {
        truth::interruptions_are_episodes(trial);
    }
}

#[test]
fn an_interrupted_upload_through_tun_devices() {
    interrupted("client", Io::Tun);
}

#[test]
fn an_interrupted_upload_through_packet_sockets() {
    interrupted("client", Io::PacketSocket);
}

#[test]
fn an_interrupted_download_through_tun_devices() {
    interrupted("server", Io::Tun);
}

#[test]
fn an_interrupted_download_through_packet_sockets() {
    interrupted("server", Io::PacketSocket);
}

#[test]
fn random_losses() {
    let lossy = scenario("loss = \"1 %\"", "client");
    let Some(experiment) = Experiment::run(&lossy, Io::PacketSocket) else { return };
    recordings_are_right(&experiment.trials());
}
