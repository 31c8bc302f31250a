//! The packets that `tshark -Y` shows, and those of a listing with the same display filter; the
//! fields that `tshark -T fields` prints, and ours.

use std::path::Path;
use std::process::Command;

use tcplab_trace::{Connection, DisplayFilter, PacketField, listing, packet_lines, packet_values};

use super::oracle;

/// Frames of each capture that are compared.
const FRAMES: u64 = 3_000;

/// What does not depend on how a packet is classified.
const EXPRESSIONS: [&str; 34] = [
    "tcp",
    "tcp.stream == 1 && tcp.stream not in {0, 7..9}",
    "ip && !ipv6",
    "tcp.len > 0",
    "tcp.len == 0 && tcp.flags.ack == 1",
    "tcp.len != 1448",
    "tcp.len in {1, 2..1000, 1448}",
    "tcp.len not in {0, 1448}",
    "tcp.len ge 0x5a8",
    "tcp.flags.syn == 1",
    "tcp.flags.syn == 1 and not tcp.flags.ack == 1",
    "tcp.flags.fin == 1 || tcp.flags.reset == 1",
    "ip.src == 10.98.0.1",
    "ip.addr == 10.98.0.2/31",
    "ip.addr != 10.98.0.1",
    "!(ip.dst == 10.98.0.1)",
    "tcp.port == 5201",
    "tcp.port != 5201",
    "tcp.srcport < 10000 or tcp.dstport > 60000",
    "frame.number in {1..20, 500} && tcp.len > 0 || frame.number == 7",
    "frame.time_relative >= 0.5 && frame.time_relative < 0.75",
    "tcp.ack > 100000 && tcp.ack <= 200000",
    "tcp.len > 0 && tcp.seq < 100000",
    "tcp.options.sack_le > 0",
    "tcp.window_size < 500000 && tcp.flags.syn == 0",
    "tcp.len in {1 .. 1000}",
    "tcp.flags == 0x12 || tcp.flags == 0x18",
    "tcp.options.mss_val == 1460",
    "tcp.time_relative < 0.5",
    "tcp.time_delta > 0.001",
    "tcp.analysis.ack_rtt > 0.0205",
    "tcp.analysis.window_update",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
];

#[test]
fn display_filters_show_the_packets_that_tshark_shows() {
    if oracle::version().is_none() {
        eprintln!("skipped: tshark is not installed, nothing was compared");
        return;
    }
    let mut shown = 0;
    for name in ["loss1_cubic.snd", "nosack_loss1.snd"] {
        let mut captures = super::captures().into_iter();
        let capture = captures.find(|it| super::name(it) == name).expect("it is of the corpus");
        let (trace, file) = (super::trace(&capture), oracle::unpacked(&capture));
        for text in EXPRESSIONS {
            let filter = DisplayFilter::parse(text).unwrap();
            let ours = frames(&trace.connections, &filter);
            let lines = fields(file.path(), text, &["frame.number"]);
            let theirs: Vec<u64> = lines.lines().map(|line| line.parse().unwrap()).collect();
            assert_eq!(ours, theirs, "{name}: {text}");
            shown += theirs.len();
        }
    }
    assert!(shown > 1_000, "{shown} packets were compared");
}

/// What does not depend on how a packet is classified. Of packets with the ACK flag, as we keep no
/// acknowledgment number of others, and with data, as of those alone a sequence number is kept.
const FIELDS: [&str; 23] = [
    "frame.number",
    "frame.time_relative",
    "ip.src",
    "ip.dst",
    "ip.addr",
    "ipv6.addr",
    "tcp.stream",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.port",
    "tcp.len",
    "tcp.seq",
    "tcp.nxtseq",
    "tcp.ack",
    "tcp.window_size",
    "tcp.time_relative",
    "tcp.time_delta",
    "tcp.flags",
    "tcp.analysis.ack_rtt",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.analysis.bytes_in_flight",
    "tcp.analysis.retransmission",
];

#[test]
fn fields_are_those_that_tshark_prints() {
    if oracle::version().is_none() {
        eprintln!("skipped: tshark is not installed, nothing was compared");
        return;
    }
    let names = |count: usize| FIELDS.iter().take(count).map(|name| name.parse().unwrap());
    let mut compared = 0;
    // The last two depend on how packets are classified: they are compared where nothing is lost.
    for (name, text, count) in [
        ("loss1_cubic.snd", "tcp.len > 0 && tcp.flags.ack == 1", 21),
        ("loss1_cubic.rcv", "tcp.len > 0 && tcp.flags.ack == 1", 21),
        ("clean_cubic_20ms.snd", "tcp.len > 0 && tcp.flags.ack == 1", 23),
    ] {
        let mut captures = super::captures().into_iter();
        let capture = captures.find(|it| super::name(it) == name).expect("it is of the corpus");
        let (trace, file) = (super::trace(&capture), oracle::unpacked(&capture));
        let (chosen, filter) =
            (names(count).collect::<Vec<PacketField>>(), DisplayFilter::parse(text));
        let connections = trace.connections.iter().enumerate();
        let mut packets: Vec<(u64, String)> = connections
            .flat_map(|(index, it)| packet_values(index, it, filter.as_ref().ok(), &chosen))
            .map(|packet| (packet.frame, packet.to_string()))
            .filter(|(frame, _)| *frame <= FRAMES)
            .collect();
        packets.sort_unstable();
        let theirs = fields(file.path(), text, &FIELDS[..count]);
        assert_eq!(packets.len(), theirs.lines().count(), "{name}");
        for ((_, ours), theirs) in packets.iter().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{name}");
        }
        compared += packets.len();
    }
    assert!(compared > 1_000, "{compared} packets were compared");
}

/// What tshark prints of these fields of the first packets for which the expression holds.
fn fields(file: &Path, expression: &str, names: &[&str]) -> String {
    let output = Command::new("tshark")
        .args(["-n", "-c", &FRAMES.to_string(), "-T", "fields"])
        .args(names.iter().flat_map(|name| ["-e", name]))
        .args(["-Y", expression, "-r"])
        .arg(file)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark: {expression}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The frames that the listing of a whole capture names, among the first.
fn frames(connections: &[Connection], filter: &DisplayFilter) -> Vec<u64> {
    let lines = connections.iter().enumerate().flat_map(|(index, connection)| {
        let (lines, _) = packet_lines(index, connection, Some(filter));
        let of_one = listing(index, connection, Some(filter));
        assert_eq!(of_one.lines().count(), lines.len() + 2, "between its ends and its count");
        lines
    });
    let mut frames: Vec<u64> = lines.map(|(frame, _)| frame).collect();
    frames.retain(|frame| *frame <= FRAMES);
    frames.sort_unstable();
    frames
}
