//! Captures of the kernel's TCP on known paths, at both ends; findings from sums alone.

use std::path::PathBuf;

use tcplab_findings::{Finding, RULES, examine};
use tcplab_trace::{Connection, analyze};

/// The rules that must fire at both capture points, at the sender only, and not at all.
struct Case {
    name: &'static str,
    found: &'static [&'static str],
    at_sender: &'static [&'static str],
    not: &'static [&'static str],
}

const CASES: &[Case] = &[
    // 50 Mbit/s, 20 ms, a deep queue.
    Case {
        name: "clean_cubic_20ms",
        found: &["path-full"],
        at_sender: &["standing-queue"],
        not: &["loss-rate", "window-limited", "application-limited", "timeouts", "slow-start"],
    },
    // 1 % of the packets lost.
    Case {
        name: "loss1_cubic",
        found: &["loss-rate"],
        at_sender: &[],
        not: &["path-full", "no-sack", "no-timestamps", "window-limited", "standing-queue"],
    },
    Case {
        name: "nosack_loss1",
        found: &["loss-rate", "no-sack"],
        at_sender: &[],
        not: &["path-full", "no-timestamps", "window-limited", "standing-queue"],
    },
    Case {
        name: "nots_loss1",
        found: &["loss-rate", "no-timestamps"],
        at_sender: &[],
        not: &["path-full", "no-sack", "window-limited", "standing-queue"],
    },
    // 1.6 s without a packet, both ways.
    Case {
        name: "blackout",
        found: &["timeouts"],
        at_sender: &["timeout-backoff"],
        not: &["loss-rate", "path-full", "window-limited", "application-limited"],
    },
    // 30 % of the acknowledgements lost, no data.
    Case {
        name: "ackloss30",
        found: &[],
        at_sender: &[],
        not: &["loss-rate", "window-limited", "application-limited", "no-sack"],
    },
    // An application that writes 4 Mbit/s.
    Case {
        name: "app_limited",
        found: &["application-limited"],
        at_sender: &[],
        not: &["loss-rate", "path-full", "window-limited", "send-buffer", "standing-queue"],
    },
    // Socket buffers of 24 kB.
    Case {
        name: "rwnd_limited",
        found: &["window-limited"],
        at_sender: &[],
        not: &["loss-rate", "path-full", "application-limited", "window-scaling"],
    },
];

/// Rules that fire in no connection of these paths and hosts.
const NEVER: &[&str] = &[
    "capture-gaps",
    "captured-twice",
    "no-reaction",
    "not-opened",
    "fast-open",
    "forged-reset",
    "half-closed",
    "window-scaling",
    "send-buffer",
    "lost-retransmissions",
    "nagle-delay",
    "small-segments",
    "silly-window",
    "window-shrunk",
    "segment-size",
    "path-mtu",
    "reordering",
    "network-duplicates",
    "link-retries",
    "congestion-marks",
    "slow-answers",
    "chatty-application",
    "accept-queue",
    "timestamps-reversed",
    "timestamps-misread",
    "delayed-acks",
];

fn captured(name: &str, tap: &str) -> Vec<Connection> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    analyze(tcplab_capture::open(folder.join(format!("{name}.{tap}.pcap.zst"))).unwrap())
        .connections
}

fn rules(findings: &[Finding]) -> Vec<&'static str> {
    let mut rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn findings_match_emulated_path() {
    for case in CASES {
        for tap in ["snd", "rcv"] {
            let connections = captured(case.name, tap);
            for connection in &connections {
                let found = rules(&examine(connection));
                let wrong: Vec<_> = found.iter().filter(|rule| NEVER.contains(rule)).collect();
                assert!(wrong.is_empty(), "{} at {tap}: {wrong:?}", case.name);
            }
            let transfer = connections.iter().max_by_key(|c| c.packets).unwrap();
            let found = rules(&examine(transfer));
            let expected = case.found.iter().chain(case.at_sender.iter().filter(|_| tap == "snd"));
            for rule in expected {
                assert!(found.contains(rule), "{} at {tap}: no {rule} in {found:?}", case.name);
            }
            for rule in case.not {
                assert!(!found.contains(rule), "{} at {tap}: {rule}", case.name);
            }
        }
    }
}

#[test]
fn findings_from_sums_alone_are_the_same() {
    for case in CASES {
        for tap in ["snd", "rcv"] {
            let mut transfer =
                captured(case.name, tap).into_iter().max_by_key(|c| c.packets).unwrap();
            let mut with_packets = rules(&examine(&transfer));
            with_packets.retain(|name| !RULES.iter().any(|r| r.name == *name && r.needs_packets));
            for flow in [&mut transfer.forward, &mut transfer.reverse] {
                flow.segments.clear();
                flow.acks.clear();
                flow.episodes.clear();
                flow.stalls.clear();
                flow.limits.clear();
            }
            assert_eq!(with_packets, rules(&examine(&transfer)), "{} at {tap}", case.name);
        }
    }
}
