//! The limits of a transfer, compared with the sender's kernel: `ss -ti` prints the socket's busy
//! time and the parts limited by the receive window and the send buffer (`tcpi_busy_time`,
//! `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).

use tcplab_capture::UnixTime;
use tcplab_trace::{Analyzer, Confidence, Connection, Flow, Frame, Limit, StallCause};
use tcplab_wire::LinkType;

use super::{TRANSFERS, capture, socket_statistics};

/// The largest allowed difference, per cent of the busy time.
const APART: f64 = 5.0;

/// The kernel's last report on the data connection.
#[derive(Debug, Default)]
struct Account {
    /// When, nanoseconds since the Unix epoch.
    at: u64,
    busy: f64,
    receive_window: f64,
    send_buffer: f64,
    acked: u64,
}

/// Gathers what lies too far apart.
#[derive(Default)]
struct Comparison {
    apart: Vec<String>,
}

impl Comparison {
    #[expect(clippy::print_stderr, reason = "how close they are is worth reading, too")]
    fn row(&mut self, name: &str, what: &str, ours: f64, kernels: f64) {
        let line = format!("{name:17} {what:15} {ours:5.1} % here, {kernels:5.1} % in the kernel");
        eprintln!("{line}");
        if (ours - kernels).abs() > APART {
            self.apart.push(line);
        }
    }
    fn finish(self) {
        let list = self.apart.join("\n");
        assert!(self.apart.is_empty(), "more than {APART} points apart:\n{list}");
    }
}

#[test]
fn limit_shares_at_sender_match_kernel() {
    let mut comparison = Comparison::default();
    for name in TRANSFERS {
        let kernel = account(name);
        let shares = flow(name, "snd", kernel.at).shares;
        let (busy, total) = (shares.busy().as_secs_f64(), shares.total().as_secs_f64());
        let ours = |limit| 100.0 * shares.of(limit).as_secs_f64() / busy;
        let kernels = |time: f64| 100.0 * time / kernel.busy;
        let window = ours(Limit::ReceiveWindow);
        comparison.row(name, "receive window", window, kernels(kernel.receive_window));
        comparison.row(name, "send buffer", ours(Limit::SendBuffer), kernels(kernel.send_buffer));
        comparison.row(name, "busy", 100.0 * busy / total, kernels_busy(&kernel, total));
        assert_eq!(shares.confidence, Confidence::High);
    }
    comparison.finish();
}

/// At the receiver a full window looks like a full buffer of the same size.
#[test]
fn limit_shares_at_receiver_match_kernel() {
    let mut comparison = Comparison::default();
    for name in TRANSFERS {
        let kernel = account(name);
        let shares = flow(name, "rcv", kernel.at).shares;
        let (busy, total) = (shares.busy().as_secs_f64(), shares.total().as_secs_f64());
        let kept = shares.of(Limit::ReceiveWindow) + shares.of(Limit::SendBuffer);
        let kernels = 100.0 * (kernel.receive_window + kernel.send_buffer) / kernel.busy;
        comparison.row(name, "window or buffer", 100.0 * kept.as_secs_f64() / busy, kernels);
        // The machine stalled: ACKs reached the sender half a second late.
        if name != "ackloss30" {
            comparison.row(name, "busy", 100.0 * busy / total, kernels_busy(&kernel, total));
        }
        assert_eq!(shares.confidence, Confidence::Low);
    }
    comparison.finish();
}

#[test]
fn limits_match_emulated_path() {
    for (name, limit) in [
        ("app_limited", Limit::Application),
        ("clean_cubic_20ms", Limit::Path),
        ("loss1_cubic", Limit::Congestion),
        ("nosack_loss1", Limit::Congestion),
        ("nots_loss1", Limit::Congestion),
        ("rwnd_limited", Limit::ReceiveWindow),
    ] {
        for end in ["snd", "rcv"] {
            let shares = flow(name, end, u64::MAX).shares;
            assert_eq!(shares.largest(), Some(limit), "{name}, {end}: {shares:?}");
        }
    }
    // Nothing passed for 1.6 s, and timers back off.
    let blackout = flow("blackout", "snd", u64::MAX);
    assert!(blackout.shares.of(Limit::Timeout).as_secs_f64() > 1.6, "{:?}", blackout.shares);
    // The segments had arrived before it: the ACKs were lost, as the receiver's capture shows.
    let lost = blackout.stalls.iter().filter(|s| s.cause == StallCause::AckLoss);
    let ended: Vec<u64> = lost.map(|stall| stall.frames.1).collect();
    assert_eq!(ended.len(), 4, "{:?}", blackout.stalls);
    let received = flow("blackout", "rcv", u64::MAX).segments;
    for timer in blackout.segments.iter().filter(|s| ended.contains(&s.frame)) {
        let times = received.iter().filter(|s| s.range.overlaps(timer.range)).count();
        assert!(timer.range.start >= blackout.segments[0].range.end && times > 0, "{timer:?}");
    }
}

/// The link carried 50 Mbit/s of IP packets: 1448 bytes of data in 1500.
#[test]
fn capacity_matches_link() {
    let truth = 50e6 * 1448.0 / 1500.0;
    for name in TRANSFERS {
        for end in ["snd", "rcv"] {
            let capacity = flow(name, end, u64::MAX).transfer.capacity.unwrap();
            let found = capacity.bits_per_second() as f64;
            assert!((found / truth - 1.0).abs() < 0.04, "{name}, {end}: {capacity}");
        }
    }
}

/// A sample of `ss -ti`: its sender's state at one moment.
struct Sampled {
    at: f64,
    /// Segments in flight reach the congestion window.
    full: bool,
    /// Something is not sent yet, or marked lost.
    has_data: bool,
    /// BBR's startup: 2/ln 2 times the rate.
    starting: bool,
    /// Bytes that the receiver has.
    delivered: f64,
    round_trip: f64,
}

/// The samples of the only socket.
fn samples(name: &str) -> Vec<Sampled> {
    let (text, mut at) = (socket_statistics(name), 0.0);
    let mut samples = Vec::new();
    for line in text.lines() {
        if let Ok(seconds) = line.trim().parse::<f64>() {
            at = seconds;
        } else if line.starts_with("ESTAB") {
            let count = |name: &str| word(line, name).unwrap_or(0.0);
            let (sacked, lost) = (count("sacked:"), count("lost:"));
            let in_flight = count("unacked:") - sacked - lost + count("retrans:");
            samples.push(Sampled {
                at,
                full: in_flight >= count("cwnd:"),
                has_data: count("notsent:") > 0.0 || lost > 0.0,
                starting: line.contains("pacing_gain:2.88"),
                delivered: count("bytes_acked:") + sacked * count("mss:"),
                round_trip: count("rtt:") / 1e3,
            });
        }
    }
    samples
}

/// The shares of application, slow start, congestion window and path, per cent of the time, as
/// docs/limits.md defines them; `rate`: the path's, in bytes of data a second.
fn shares_by_samples(samples: &[Sampled], rate: f64) -> [f64; 4] {
    let mut spans = [0.0; 4];
    for pair in samples.windows(2) {
        let (now, from, until) = (
            &pair[0],
            pair[0].at - pair[0].round_trip / 2.0,
            pair[0].at + pair[0].round_trip / 2.0,
        );
        let first = samples.iter().rev().find(|s| s.at <= from).unwrap_or(&samples[0]);
        let last = samples.iter().find(|s| s.at >= until).unwrap_or(&samples[samples.len() - 1]);
        let busy = last.delivered - first.delivered >= 0.85 * rate * (last.at - first.at);
        let limit = match now {
            _ if !now.has_data && !now.full => 0,
            _ if busy => 3,
            _ if now.starting => 1,
            _ if now.full => 2,
            _ => 3,
        };
        spans[limit] += pair[1].at - now.at;
    }
    let total: f64 = spans.iter().sum();
    spans.map(|span| 100.0 * span / total)
}

/// BBR at 5 Mbit/s with 3 % lost. `ss` shows its window full in every fourth sample, while the
/// pacing timer keeps the path busy; in recovery the same holds as outside.
#[test]
fn limit_shares_of_bbr_match_samples_of_ss() {
    let name = "../limits/bbr_loss3";
    let samples = samples(name);
    let full = samples.iter().filter(|sample| sample.full).count();
    assert!(samples.len() > 150 && (10..40).contains(&(100 * full / samples.len())), "{full}");
    let kernel = shares_by_samples(&samples, 5e6 / 8.0 * 1448.0 / 1500.0);
    for end in ["snd", "rcv"] {
        let shares = flow(name, end, u64::MAX).shares;
        let limits = [Limit::Application, Limit::SlowStart, Limit::Congestion, Limit::Path];
        for (limit, kernels) in limits.into_iter().zip(kernel) {
            let ours = 100.0 * shares.share(limit);
            let both = format!("{end}: {} {ours:.1} %, ss {kernels:.1} %", limit.name());
            assert!((ours - kernels).abs() <= 6.0, "{both}");
        }
        assert_eq!(shares.largest(), Some(Limit::Path));
    }
}

/// The connection may have been busy before its first data: with its handshake.
fn kernels_busy(kernel: &Account, total: f64) -> f64 {
    100.0 * (kernel.busy / total).min(1.0)
}

/// The client's data in the connection that carried most, up to `until`.
fn flow(name: &str, end: &str, until: u64) -> Flow {
    let mut reader = capture(&format!("{name}.{end}"));
    let link = LinkType::from_number(reader.interfaces()[0].link_type);
    let mut analyzer = Analyzer::new();
    while let Some(record) = reader.next_record().unwrap() {
        let time_ns = record.time.map_or(0, UnixTime::as_nanos);
        if time_ns <= until {
            let (captured, original_len) = (record.captured, record.original_len);
            analyzer.packet(&Frame { time_ns, link, captured, original_len, comment: None });
        }
    }
    let mut connections = analyzer.finish().connections;
    connections.sort_by_key(|c: &Connection| c.forward.totals.data);
    connections.pop().unwrap().forward
}

/// The last report on the socket that carried most. A line with a time precedes each list.
fn account(name: &str) -> Account {
    let text = socket_statistics(name);
    let (mut at, mut latest) = (0, Account::default());
    for line in text.lines() {
        if let Ok(seconds) = line.trim().parse::<f64>() {
            at = (seconds * 1e9) as u64;
        } else if line.starts_with("ESTAB") {
            let acked = word(line, "bytes_acked:").unwrap_or(0.0) as u64;
            if acked >= latest.acked {
                let seconds = |name: &str| word(line, name).unwrap_or(0.0) / 1e3;
                latest = Account {
                    at,
                    busy: seconds("busy:"),
                    receive_window: seconds("rwnd_limited:"),
                    send_buffer: seconds("sndbuf_limited:"),
                    acked,
                };
            }
        }
    }
    latest
}

fn word(line: &str, name: &str) -> Option<f64> {
    let rest = line.split_whitespace().find_map(|word| word.strip_prefix(name))?;
    rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.parse().ok()
}
