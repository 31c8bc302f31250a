//! Long runs: memory stays flat, and every packet is accounted for.
//!
//! They take minutes and are not part of the suite: `make soak` runs them.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant as Moment};

use tcplab_path::{Departure, Direction, Fate, Link, Packet, PathSpec};
use tcplab_units::{Instant, Span};

/// Full-sized packets at 100 Mbit/s, back to back.
const GAP: Span = Span::from_micros(120);
/// Packets of an hour.
const HOUR: u64 = 30_000_000;

/// All random elements, and a queue that overflows now and then.
const LIVELY: &str = r#"{
    "rate": { "start": "100 Mbit/s", "repeat": "10 s",
              "steps": [{ "at": "5 s", "to": "60 Mbit/s", "over": "1 s" }] },
    "queue": { "codel": { "limit": "1000 packets" } },
    "cross": { "rate": "5 Mbit/s" },
    "delay": "20 ms", "jitter": { "normal": "2 ms", "correlation": "30 %" },
    "loss": { "gilbert_elliott": { "p": "0.1 %", "r": "30 %" } },
    "interruption": { "up": "20 s", "lasting": "50 ms" },
    "duplicate": "0.5 %", "reorder": { "probability": "1 %", "gap": 3 }
}"#;

/// Resident memory of a process, KiB.
fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
#[ignore = "an hour of virtual time takes a minute or two: `make soak`"]
fn an_hour_in_virtual_time() {
    let path: PathSpec = serde_json::from_str(LIVELY).unwrap();
    let mut link = Link::new(&path.link(Direction::Forward).unwrap(), 1, Direction::Forward);
    let (mut delivered, mut dropped, mut absorbed, mut copies) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut count = |departure: &Departure| {
        let verdict = departure.verdict;
        match verdict.fate {
            Fate::Absorbed => absorbed += 1,
            Fate::StillOnLink if verdict.is_made() => {}
            _ if verdict.is_made() => copies += 1,
            Fate::Delivered => delivered += 1,
            Fate::Dropped(_) | Fate::StillOnLink => dropped += 1,
        }
    };
    let mut spare: Vec<Vec<u8>> = Vec::new();
    let mut after_a_tenth = 0;
    for id in 0..HOUR {
        let now = Instant::ZERO + GAP * id;
        let bytes = spare.pop().unwrap_or_else(|| vec![0; 1500]);
        link.handle_packet(now, Packet::new(id, bytes));
        while let Some(departure) = link.poll(now) {
            count(&departure);
            if departure.packet.bytes.len() == 1500 && spare.len() < 64 {
                spare.push(departure.packet.bytes);
            }
        }
        if id == HOUR / 10 {
            after_a_tenth = resident(std::process::id()).expect("this is Linux");
        }
    }
    link.drain(Instant::ZERO + GAP * HOUR).iter().for_each(&mut count);
    let at_the_end = resident(std::process::id()).expect("this is Linux");
    eprintln!(
        "an hour at 100 Mbit/s: {delivered} delivered, {dropped} dropped, {copies} copies, \
         {absorbed} of cross traffic; {after_a_tenth} KiB after 6 min, {at_the_end} KiB at the end"
    );
    assert_eq!(delivered + dropped, HOUR, "each packet has one verdict");
    assert!(copies > HOUR / 1000 && absorbed > HOUR / 100, "the path was lively");
    assert!(at_the_end < after_a_tenth + 4096, "memory is flat");
}

/// Killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process and its descendants.
fn family(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let own = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    std::iter::once(pid).chain(own.flat_map(family)).collect()
}

fn is_ours(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "tcplab")
}

#[test]
#[ignore = "ten minutes: `make soak`"]
fn ten_minutes_in_real_time() {
    let seconds: u64 =
        std::env::var("TCPLAB_SOAK_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(600);
    let home = tempfile::tempdir().unwrap();
    let client = format!("iperf3 -c $TCPLAB_FAR -t {seconds} -C cubic > iperf3.txt");
    let shell = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["shell", "-s", "rate=100 Mbit/s", "-s", "delay=10 ms", "-s", "loss=0.01 %"])
        .args(["--json=summary.json", "--far-command", "iperf3 -s -1 > /dev/null"])
        .args(["--wait-for", "5201", "--", "sh", "-c", &client])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut shell = Running(shell);
    let began = Moment::now();
    let (mut early, mut latest) = (0, 0);
    while shell.0.try_wait().unwrap().is_none() {
        let all = family(shell.0.id()).into_iter().filter(|pid| is_ours(*pid));
        let sum: u64 = all.filter_map(resident).sum();
        if sum > 0 {
            latest = sum;
        }
        // By a tenth of the time, queues and buffers have reached all sizes.
        if began.elapsed() < Duration::from_secs(seconds / 10) {
            early = latest;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let summary = fs::read_to_string(home.path().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    eprintln!("{seconds} s at 100 Mbit/s: {early} KiB early, {latest} KiB at the end\n{summary:#}");
    assert_eq!(summary["exit_code"], 0);
    for way in ["forward", "reverse"] {
        let way = &summary["traffic"][way];
        let number = |name: &str| way[name].as_u64().unwrap();
        let accounted = number("packets_out") + number("dropped");
        assert_eq!(number("packets_in"), accounted, "each packet came out or was dropped: {way}");
    }
    assert_eq!(summary["world"]["device_drops"], 0);
    let bytes = summary["traffic"]["forward"]["bytes_out"].as_u64().unwrap();
    // Slow start and 0.01 % of loss cost CUBIC some; the point is that much went through.
    assert!(bytes * 8 > seconds * 50_000_000, "{bytes} B in {seconds} s");
    assert!(latest < early + 4096, "memory is flat");
}
