//! No share exceeds the whole, whatever a capture holds.

use std::net::Ipv4Addr;
use std::path::Path;

use tcplab_trace::{Analyzer, Connection, Frame, Limit, Trace, analyze};
use tcplab_units::Rng;
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SeqNumber, TcpFlags, TcpRepr};

use super::*;

/// Random captures.
const CAPTURES: u64 = 400;

/// The numbers before each `%`, except of what is no share: the buffer delay of RFC 6349.
fn percents(text: &str) -> Vec<f64> {
    let number = |before: &str| {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let digits = before.trim_end().rsplit(|c| !is_part(c)).next()?;
        digits.replace(',', "").parse::<f64>().ok()
    };
    let lines = text.lines().map(|line| line.split("buffer delay").next().unwrap_or_default());
    let pieces: Vec<&str> =
        lines.filter_map(|line| line.rsplit_once('%').map(|(it, _)| it)).collect();
    pieces.iter().flat_map(|line| line.split('%')).filter_map(number).collect()
}

/// Every share of a connection that is stored or printed; returns how many were printed.
fn check(connection: &Connection, name: &str) -> usize {
    for flow in [&connection.forward, &connection.reverse] {
        let sum: f64 = Limit::ALL.iter().map(|limit| flow.shares.share(*limit)).sum();
        assert!(sum <= 1.0 + 1e-9, "{name}: limits are {sum} of the time");
        assert!(flow.retransmitted_share() <= 1.0, "{name}: {:?}", flow.totals);
        let efficiency = flow.transfer.efficiency.unwrap_or(100.0);
        assert!((0.0..=100.0).contains(&efficiency), "{name}: {efficiency}");
    }
    let row = summary([connection.clone()], 1);
    let ratio = |way: &crate::trace::row::RowDirection| way.retransmission_ratio().unwrap_or(0.0);
    let [row] = row.by_loss()[..] else { panic!("{name}") };
    assert!(ratio(&row.forward) <= 1.0 && ratio(&row.reverse) <= 1.0, "{name}");
    let findings = tcplab_findings::examine(connection);
    let mut text = connection_text(0, connection, &findings, WIDE);
    text += &summary_text(&head(), &summary([connection.clone()], 1), &[], WIDE);
    // Wrapped text may part a number from its sign.
    let shares = percents(&text.replace('\n', " \n"));
    assert!(shares.iter().all(|share| *share <= 100.0), "{name}: {shares:?}\n{text}");
    shares.len()
}

/// Up to 60 packets between two hosts, few of which fit together: data, SYN and FIN of each
/// direction, many of them more than once.
fn random(seed: u64) -> Trace {
    let mut rng = Rng::new(seed, "a capture");
    let mut analyzer = Analyzer::new();
    let (mut time_ns, sizes) = (0, [0, 0, 1, 100, 1_460, 1_460, 4_380]);
    let (places, sack, stamps) = (1 + rng.below(6), rng.below(2) == 0, rng.below(2) == 0);
    for packet in 0..2 + rng.below(60) {
        let digits = 1 + rng.below(10) as u32;
        time_ns += rng.below(10_u64.pow(digits));
        let from_client = rng.below(3) > 0;
        let kind = if packet < 2 { 0 } else { rng.below(10) };
        let flags = match kind {
            0 if from_client => TcpFlags::SYN,
            0 => TcpFlags::SYN | TcpFlags::ACK,
            1 => TcpFlags::FIN | TcpFlags::ACK,
            _ => TcpFlags::ACK,
        };
        let place = |rng: &mut Rng| 1_000 + 1 + (1_460 * rng.below(places)) as u32;
        let is_syn = kind == 0;
        let tcp = TcpRepr {
            src_port: if from_client { 40_000 } else { 80 },
            dst_port: if from_client { 80 } else { 40_000 },
            seq: SeqNumber::new(if is_syn { 1_000 } else { place(&mut rng) }),
            ack: SeqNumber::new(if flags == TcpFlags::SYN { 0 } else { place(&mut rng) }),
            flags,
            window: 65_535,
            mss: is_syn.then_some(1_460),
            sack_permitted: is_syn && sack,
            timestamps: stamps.then_some(((time_ns / 1_000_000) as u32, 1)),
            ..TcpRepr::default()
        };
        let (client, server) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let (src, dst) = if from_client { (client, server) } else { (server, client) };
        let ip = Ipv4Repr { src, dst, id: rng.below(4) as u16, ttl: 64, ecn: Ecn::NotEct };
        let len = if is_syn { 0 } else { sizes[rng.below(sizes.len() as u64) as usize] };
        let bytes = tcp.to_packet(&ip.into(), &vec![0; len]);
        for _ in 0..=rng.below(8) / 7 {
            analyzer.packet(&Frame::whole(time_ns, LinkType::RawIp, &bytes));
        }
    }
    analyzer.finish()
}

#[test]
fn shares_are_at_most_one_in_random_captures() {
    let mut printed = 0;
    for seed in 0..CAPTURES {
        for connection in &random(seed).connections {
            printed += check(connection, &format!("seed {seed}"));
        }
    }
    assert!(printed > CAPTURES as usize, "{printed} shares were printed");
}

#[test]
fn shares_are_at_most_one_in_the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut captures = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".pcap.zst") {
            continue;
        }
        captures += 1;
        let trace = analyze(tcplab_capture::open(&path).unwrap()).connections;
        let name = path.file_name().unwrap().to_string_lossy();
        let printed: usize = trace.iter().map(|connection| check(connection, &name)).sum();
        assert!(printed > 0, "{name}");
    }
    assert_eq!(captures, 16);
}
