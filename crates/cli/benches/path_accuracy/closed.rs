//! Queues under transfers of TCP, which answers to what they do: a kernel sends either through the
//! path, or through a queueing discipline.
//!
//! The sender is a namespace of its own and the discipline stands behind it, in the guest that
//! forwards: on a sender's own device TCP keeps no more than a few packets waiting (TCP Small
//! Queues), and learns of a drop at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_capture::{Direction, Reader};
use tcplab_wire::{Ecn, FrameView, protocol};

use crate::qdiscs::cases::Case;
use crate::qdiscs::distance;
use crate::qdiscs::kernel;
use crate::qdiscs::quantity::Row;

const BULK: &str = include_str!("bulk.py");
const FLOWS: u32 = 4;
const SECONDS: u32 = 12;
/// On both sides.
const SEEDS: u64 = 5;
/// What packets are longer by in all, one way.
const DELAY_NANOS: u64 = 10_000_000;
/// Before it TCP seeks its window.
const SETTLED_NANOS: u64 = 4_000_000_000;

/// What came of a transfer.
struct Outcome {
    /// In Mbit/s of IP, all flows together, once they have settled.
    throughput: f64,
    /// Jain's index of fairness of the flows' throughput.
    fairness: f64,
    /// Retransmitted segments a second.
    retransmitted: f64,
    /// Packets of TCP that arrived marked (CE), per second.
    marked: f64,
    /// How long probes waited, in ms.
    waits: Vec<f64>,
}

/// Name, number, and what it may be off beside chance, as a share: what the kernel's Newton step
/// and a packet more or less make.
type Compared = (&'static str, fn(&Outcome) -> f64, f64);

const COMPARED: [Compared; 6] = [
    ("TCP: throughput, Mbit/s", |it| it.throughput, 0.02),
    ("TCP: fairness of 4 flows", |it| it.fairness, 0.02),
    ("TCP: retransmissions a second", |it| it.retransmitted, 0.1),
    ("TCP: marks a second", |it| it.marked, 0.1),
    ("TCP: wait, median, ms", |it| distance::quantile(&it.waits, 0.5), 0.1),
    ("TCP: wait, 95th percentile, ms", |it| distance::quantile(&it.waits, 0.95), 0.1),
];

/// Elements that differ here, and why.
const KNOWN: [(&str, &str); 1] = [("fq_codel", "Linux's CoDel sees the sum of all queues")];

/// Runs a case on both sides, with several seeds.
pub(crate) fn rows(case: &Case, kernel: &str) -> Result<Vec<Row>, String> {
    let mut outcomes = [Vec::new(), Vec::new()];
    for seed in 1..=SEEDS {
        for (side, outcomes) in outcomes.iter_mut().enumerate() {
            outcomes.push(outcome(case, kernel, seed, side == 0)?);
        }
    }
    let rows = COMPARED.iter().map(|(quantity, of, off)| {
        let [ours, theirs] = outcomes.each_ref().map(|it| it.iter().map(of).collect::<Vec<f64>>());
        let values = [&ours, &theirs].map(|it| format!("{:.3}", distance::mean(it)));
        let distance = distance::means(&ours, &theirs, *off);
        let known = KNOWN.iter().find(|(element, _)| *element == case.element).map(|(_, why)| *why);
        Row { element: case.element.into(), quantity, values, distance, known }
    });
    let is_of_something = |row: &Row| row.values.iter().any(|value| value != "0.000");
    Ok(rows.filter(is_of_something).collect())
}

fn outcome(case: &Case, kernel: &str, seed: u64, by_path: bool) -> Result<Outcome, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let setup = if by_path { String::new() } else { kernel::setup_lines(case) };
    let script = format!(
        "{}sysctl -qw net.ipv4.tcp_ecn=1\n$inside sysctl -qw net.ipv4.tcp_ecn=1\n{setup}\n\
         $inside python3 bulk.py near {FLOWS} {SECONDS} {seed}\n",
        kernel::GUEST
    );
    for (name, content) in [("guest.sh", script.as_str()), ("bulk.py", BULK)] {
        fs::write(place.path().join(name), content).map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(["shell", "-q", "--near", kernel, "--far", kernel, "--snaplen", "64"]);
    command.args(["--seed", &seed.to_string(), "--capture", kernel::CAPTURE]);
    command.args(["--far-command", "python3 bulk.py far", "-s", "delay=10 ms"]);
    if by_path {
        command.args(["-s", &format!("forward={}", case.as_toml())]);
    }
    command.args(["--", "sh", "guest.sh"]).current_dir(&place).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Outcome::of(place.path()))
}

impl Outcome {
    fn of(directory: &Path) -> Outcome {
        let probes = kernel::stamps(&directory.join("probes.bin"));
        let begin = probes[0] + SETTLED_NANOS;
        let end = *probes.last().expect("many probes");
        let mut reader = Reader::open(directory.join(kernel::CAPTURE).join("server.pcapng"))
            .expect("the shell has recorded");
        let mut flows: BTreeMap<u16, u64> = BTreeMap::new();
        let (mut waits, mut marked) = (Vec::new(), 0);
        while let Some(record) = reader.next_record().expect("a whole capture") {
            let at = record.time.expect("ours have a time").as_nanos();
            let size = u64::from(record.original_len);
            let Some(ip) = FrameView::of_packet(record.captured).ip() else { continue };
            if record.direction() != Some(Direction::Inbound) || !(begin..end).contains(&at) {
                continue;
            }
            if ip.protocol() == protocol::UDP {
                let number = ip.payload().get(8..).and_then(<[u8]>::first_chunk);
                let sent = number.map(|it| probes[u32::from_le_bytes(*it) as usize]);
                waits.extend(sent.map(|sent| (at - sent - DELAY_NANOS) as f64 / 1e6));
            } else if let Some(port) = ip.payload().first_chunk() {
                *flows.entry(u16::from_be_bytes(*port)).or_default() += size;
                marked += u64::from(ip.ecn() == Ecn::Ce);
            }
        }
        let seconds = (end - begin) as f64 / 1e9;
        let rates: Vec<f64> = flows.values().map(|bytes| *bytes as f64 * 8e-6 / seconds).collect();
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        let retransmitted = fs::read_to_string(directory.join("retransmitted"));
        let retransmitted = retransmitted.ok().and_then(|it| it.trim().parse::<f64>().ok());
        Outcome {
            throughput: sum,
            fairness: sum * sum / (rates.len() as f64 * squares),
            retransmitted: retransmitted.expect("a number") / f64::from(SECONDS),
            marked: marked as f64 / seconds,
            waits,
        }
    }
}
