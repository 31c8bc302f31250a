//! Captures of the kernel's TCP, taken at both ends, with the kernel's own counters: what the
//! analyser finds in the sender's capture alone is held against both. Runs with `TCPLAB_CORPUS`
//! set to a folder that holds `NAME.snd.pcap` and `NAME.rcv.pcap`, unpacked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tcplab_capture::Reader;
use tcplab_trace::{SegmentKind, Timer, Trace, analyze};
use tcplab_wire::{FrameView, LinkType, TcpFlags};

/// What the sender's kernel counted.
struct Counted {
    name: &'static str,
    /// `TcpRetransSegs`.
    retransmissions: usize,
    /// `TcpExtTCPTimeouts`.
    timeouts: usize,
    /// `TcpExtTCPLossProbes`.
    probes: usize,
}

const fn counted(
    name: &'static str,
    retransmissions: usize,
    timeouts: usize,
    probes: usize,
) -> Counted {
    Counted { name, retransmissions, timeouts, probes }
}

const CASES: &[Counted] = &[
    counted("ackloss30", 20, 1, 1),
    counted("app_limited", 3, 0, 4),
    counted("blackout", 52, 3, 3),
    counted("clean_cubic_20ms", 1, 0, 1),
    counted("loss1_cubic", 33, 0, 3),
    counted("nosack_loss1", 25, 0, 0),
    counted("nots_loss1", 26, 0, 0),
    counted("rwnd_limited", 1, 0, 1),
];

#[test]
fn agrees_with_the_kernel_and_with_the_other_end() {
    let Some(folder) = std::env::var_os("TCPLAB_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: TCPLAB_CORPUS is not set, so no capture was checked");
        return;
    };
    for case in CASES {
        let sender = folder.join(format!("{}.snd.pcap", case.name));
        let trace = analyze(Reader::open(&sender).unwrap());
        let repeats =
            count(&trace, |s| !matches!(s.kind, SegmentKind::New | SegmentKind::FillsHole));
        let timeouts = count(&trace, |s| s.timer == Some(Timer::Retransmission));
        let probes = count(&trace, |s| s.timer == Some(Timer::Probe));
        assert_eq!(
            (repeats, timeouts, probes),
            (case.retransmissions, case.timeouts, case.probes),
            "{}: retransmissions, timeouts, probes",
            case.name
        );
        let mut found: Vec<u64> = trace
            .connections
            .iter()
            .flat_map(|connection| &connection.forward.episodes)
            .flat_map(|episode| episode.lost.iter().map(|lost| lost.frame))
            .collect();
        found.sort_unstable();
        let missing = missing(&sender, &folder.join(format!("{}.rcv.pcap", case.name)));
        assert_eq!(found, missing, "{}: frames lost", case.name);
    }
}

fn count(trace: &Trace, test: impl Fn(&tcplab_trace::Segment) -> bool) -> usize {
    let segments = trace.connections.iter().flat_map(|c| &c.forward.segments);
    segments.filter(|s| test(s)).count()
}

/// The frames with data or FIN in the sender's capture that are not in the receiver's: a packet
/// is known by its IP identification, number, length and flags.
fn missing(sender: &Path, receiver: &Path) -> Vec<u64> {
    let mut arrived: BTreeMap<_, u64> = BTreeMap::new();
    for (_, key) in data_packets(receiver) {
        *arrived.entry(key).or_default() += 1;
    }
    let mut missing = Vec::new();
    for (frame, key) in data_packets(sender) {
        match arrived.get_mut(&key) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(frame),
        }
    }
    missing
}

type Key = (Option<u16>, u16, u32, u32, u16);

fn data_packets(path: &Path) -> Vec<(u64, Key)> {
    let mut reader = Reader::open(path).unwrap();
    let link = LinkType::from_number(reader.interfaces()[0].link_type);
    let (mut packets, mut frame) = (Vec::new(), 0);
    while let Some(record) = reader.next_record().unwrap() {
        frame += 1;
        let Some(tcp) = FrameView::new(link, record.captured, record.original_len).tcp() else {
            continue;
        };
        let counts = tcp.payload_len() > 0 || tcp.flags().contains(TcpFlags::FIN);
        if tcp.src().to_string() == "10.98.0.1" && counts {
            let (seq, len) = (tcp.seq().as_u32(), tcp.payload_len());
            let key = (tcp.ip().id(), tcp.src_port(), seq, len, tcp.flags().bits());
            packets.push((frame, key));
        }
    }
    packets
}
