//! What bounded a transfer, held against what the sender's kernel wrote down meanwhile: `ss -ti`
//! prints how long the socket was busy, and of that, how long the receiver's window or the send
//! buffer kept it (`tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).

use std::io::Read;
use std::path::{Path, PathBuf};

use tcplab_capture::{Source, UnixTime};
use tcplab_trace::{Analyzer, Connection, Flow, Frame, Limit};
use tcplab_wire::LinkType;

/// As far as the shares may lie apart, in hundredths of the busy time.
const APART: f64 = 5.0;

/// What the kernel last said of the data connection.
#[derive(Debug, Default)]
struct Account {
    /// When, nanoseconds since the Unix epoch.
    at: u64,
    busy: f64,
    receive_window: f64,
    send_buffer: f64,
    acked: u64,
}

#[test]
fn shares_are_those_that_the_kernel_keeps() {
    let mut apart = Vec::new();
    for name in [
        "ackloss30",
        "app_limited",
        "blackout",
        "clean_cubic_20ms",
        "loss1_cubic",
        "nosack_loss1",
        "nots_loss1",
        "rwnd_limited",
    ] {
        let kernel = account(name);
        let flow = flow(name, &std::env::var("END").unwrap_or("snd".into()), kernel.at);
        let busy = flow.shares.busy().as_secs_f64();
        let total = flow.shares.total().as_secs_f64();
        let ours = |limit| 100.0 * flow.shares.of(limit).as_secs_f64() / busy;
        let rows = [
            (
                "receive window",
                ours(Limit::ReceiveWindow),
                100.0 * kernel.receive_window / kernel.busy,
            ),
            ("send buffer", ours(Limit::SendBuffer), 100.0 * kernel.send_buffer / kernel.busy),
            ("busy", 100.0 * busy / total, 100.0 * (kernel.busy / total).min(1.0)),
        ];
        for (what, ours, kernels) in rows {
            let line =
                format!("{name:17} {what:15} {ours:5.1} % here, {kernels:5.1} % in the kernel");
            if (ours - kernels).abs() > APART {
                apart.push(line.clone());
            }
            eprintln!("{line}");
        }
        if std::env::var_os("SHOW").is_some() {
            show(&flow);
        }
    }
    assert!(apart.is_empty(), "more than {APART} points apart:\n{}", apart.join("\n"));
}

fn show(flow: &Flow) {
    for limit in Limit::ALL {
        eprint!("   {} {:.1}", limit.name(), 100.0 * flow.shares.share(limit));
    }
    eprintln!("\n   {:?}", flow.transfer);
    eprintln!("   {} periods", flow.limits.len());
    for period in flow.limits.iter().take(40) {
        eprintln!(
            "     {:.3}-{:.3} {} {:?} frames {:?}",
            period.from.as_secs_f64(),
            period.until.as_secs_f64(),
            period.limit.name(),
            period.shares.spans.map(|s| s.as_millis_f64().round()),
            period.frames
        );
    }
    for stall in flow.stalls.iter().take(30) {
        eprintln!(
            "     stall {:.3}-{:.3} {} {} {:?}",
            stall.from.as_secs_f64(),
            stall.until.as_secs_f64(),
            stall.cause.name(),
            stall.in_flight,
            stall.frames
        );
    }
}

/// The client's data in the connection that carried most, up to `until`.
fn flow(name: &str, end: &str, until: u64) -> Flow {
    let mut reader = tcplab_capture::open(corpus().join(format!("{name}.{end}.pcap.zst"))).unwrap();
    let link = LinkType::from_number(reader.interfaces()[0].link_type);
    let mut analyzer = Analyzer::new();
    while let Some(record) = reader.next_record().unwrap() {
        let time_ns = record.time.map_or(0, UnixTime::as_nanos);
        if time_ns <= until {
            analyzer.packet(&Frame {
                time_ns,
                link,
                captured: record.captured,
                original_len: record.original_len,
                comment: None,
            });
        }
    }
    let mut connections = analyzer.finish().connections;
    connections.sort_by_key(|c: &Connection| c.forward.totals.data);
    connections.pop().unwrap().forward
}

/// The last word on the socket that carried most. A line with a time stands before each list.
fn account(name: &str) -> Account {
    let path = corpus().join(format!("{name}.ss.txt.gz"));
    let mut text = String::new();
    Source::open(&path).unwrap().read_to_string(&mut text).unwrap();
    let (mut at, mut latest) = (0, Account::default());
    for line in text.lines() {
        if let Ok(seconds) = line.trim().parse::<f64>() {
            at = (seconds * 1e9) as u64;
        } else if line.starts_with("ESTAB") {
            let acked = word(line, "bytes_acked:").unwrap_or(0.0) as u64;
            if acked >= latest.acked {
                latest = Account {
                    at,
                    busy: word(line, "busy:").unwrap_or(0.0),
                    receive_window: word(line, "rwnd_limited:").unwrap_or(0.0),
                    send_buffer: word(line, "sndbuf_limited:").unwrap_or(0.0),
                    acked,
                };
                latest.busy /= 1e3;
                latest.receive_window /= 1e3;
                latest.send_buffer /= 1e3;
            }
        }
    }
    latest
}

/// The number after `name`, without its unit.
fn word(line: &str, name: &str) -> Option<f64> {
    let rest = line.split_whitespace().find_map(|word| word.strip_prefix(name))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth")
}
