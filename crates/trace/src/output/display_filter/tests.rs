//! The language: what holds, mistakes at their places, the page of fields.

use std::fmt::Write;

use super::{DisplayFilter, PacketField, packet_values};
use crate::tests::drill;
use crate::{Connection, listing};

/// The frames of a listing with this filter.
fn frames(text: &str, filter: &str) -> Vec<u64> {
    frames_of(&drill::connection(text), filter)
}

fn frames_of(connection: &Connection, filter: &str) -> Vec<u64> {
    let filter = DisplayFilter::parse(filter).unwrap();
    let shown = listing(0, connection, Some(&filter));
    let numbers = shown.lines().filter_map(|line| line.split('#').nth(1)?.split(' ').next());
    numbers.map(|number| number.parse().unwrap()).collect()
}

const REPAIRED: &str = "open 0.010
    0.100 > 1:1449
    0.101 > 1449:2897
    0.102 > 2897:4345
    0.103 > 4345:5793
    0.111 < ack 1449
    0.112 < ack 1449 sack 2897-4345
    0.113 < ack 1449 sack 2897-5793
    0.114 > 1449:2897
    0.125 < ack 5793";

#[test]
fn analysis_is_that_of_the_listing() {
    for (filter, expected) in [
        ("tcp.analysis.retransmission", &[11][..]),
        ("tcp.analysis.fast_retransmission && tcp.seq == 1449", &[11]),
        ("tcplab.timeout || tcplab.probe", &[]),
        ("tcp.analysis.duplicate_ack", &[9, 10]),
        ("tcp.options.sack_re == 5793", &[10]),
        ("tcp.analysis.bytes_in_flight > 5000", &[7]),
        ("not tcp.len > 0 and tcp.ack in {1449, 5793}", &[8, 9, 10, 12]),
    ] {
        assert_eq!(frames(REPAIRED, filter), expected, "{filter}");
    }
    let filter = DisplayFilter::parse("tcp.len > 0").unwrap();
    let shown = listing(0, &drill::connection(REPAIRED), Some(&filter));
    assert!(shown.ends_with("5 of 12 packets\n"), "{shown}");
}

/// Packets without flags or with URG alone, an acknowledgement of another connection, and RST with
/// SYN and FIN: all are listed, with their flags as sent.
#[test]
fn unusual_packets_are_listed_with_their_flags() {
    let mut packets = drill::drill(
        "0.000 > S
         0.010 < S
         0.0101 > ack 1
         0.100 > at 1
         0.200 > at 1
         0.300 > 1:101
         0.400 < R 1 ack 1",
        1_000,
    );
    let (flags, ack) = (33, 28..32);
    packets[3].bytes[flags] = 0;
    packets[4].bytes[flags] = 0x20;
    packets[5].bytes[ack].copy_from_slice(&0x7fff_0000_u32.to_be_bytes());
    packets[6].bytes[flags] = 0x17;
    packets.iter_mut().for_each(drill::Captured::seal);
    let connection = drill::analyze(&packets).connections.remove(0);
    let shown = listing(0, &connection, None);
    assert!(shown.contains("#4 > flags [none] 1:1(0)\n"), "{shown}");
    assert!(shown.contains("#5 > flags [U] 1:1(0)\n"), "{shown}");
    let frames = |filter| frames_of(&connection, filter);
    assert_eq!(frames("tcp.flags.ack == 0"), [1, 4, 5]);
    assert_eq!(frames("tcp.flags.reset == 1 && tcp.flags.syn == 1 && tcp.flags.fin == 1"), [7]);
    assert_eq!(frames("tcp.len == 100 && !tcp.ack"), [6]);
    assert_eq!(frames("frame.number > 0").len(), 7);
}

/// The server answers a SYN from an older connection of the same ports.
#[test]
fn answer_of_an_older_connection_is_listed() {
    let text = "0.000 > S\n0.018 < ack 77777 at 5555\n0.0181 > R 77777\n3.000 > S";
    let shown = listing(0, &drill::connection(text), None);
    assert!(shown.contains("#2 < flags [.] (0) outside the connection\n"), "{shown}");
    assert_eq!(frames(text, "tcp.flags.ack == 1"), [2]);
}

/// Without a handshake the scale is unknown, and zero is zero.
#[test]
fn zero_window_is_known_without_its_scale() {
    let midway = "1.0 < ack 1449 win 0\n1.1 > 1:1449\n1.2 < ack 1449 win 0\n1.3 < ack 1449 win 9\n\
                  1.4 < R 1 ack 1449";
    assert_eq!(frames(midway, "tcp.analysis.zero_window"), [1, 3]);
    assert_eq!(frames(midway, "tcp.window_size == 0"), [1, 3, 5]);
}

/// As in the header: no SYN's window is scaled, and a reset's is mostly zero.
#[test]
fn window_of_syns_and_resets() {
    let text = "0 > S win 1000\n0.01 < S win 2000\n0.0101 > ack 1 win 7\n0.2 < R 1 ack 1";
    for (filter, expected) in [
        ("tcp.window_size == 1000", &[1][..]),
        ("tcp.window_size == 2000", &[2]),
        ("tcp.window_size == 0", &[4]),
    ] {
        assert_eq!(frames(text, filter), expected, "{filter}");
    }
    assert_eq!(frames("0 > S\n0.01 < S\n0.02 > R 1", "tcp.window_size == 0"), [3]);
    assert!(frames("0 > S\n0.01 < S\n0.02 > R 1 win 9", "tcp.window_size == 0").is_empty());
}

#[test]
fn fields_are_lines_and_json() {
    let connection = drill::connection(REPAIRED);
    let names = "frame.number frame.time_relative ip.src tcp.stream tcp.seq tcp.options.sack_le \
                 tcp.flags.ack tcp.analysis.fast_retransmission";
    let names: Vec<PacketField> = names.split(' ').map(|name| name.parse().unwrap()).collect();
    let filter = DisplayFilter::parse("frame.number in {10, 11}").unwrap();
    let [ack, repair] = &packet_values(3, &connection, Some(&filter), &names)[..] else {
        panic!("two packets");
    };
    let of = |packet: &str| packet.replace('\t', " ");
    assert_eq!(of(&ack.to_string()), "10 0.113000000 10.0.0.2 3  2897 1 ");
    assert_eq!(of(&repair.to_string()), "11 0.114000000 10.0.0.1 3 1449  1 1");
    assert_eq!(
        serde_json::to_string(ack).unwrap(),
        "{\"frame.number\":10,\"frame.time_relative\":0.113,\"ip.src\":\"10.0.0.2\",\"tcp.stream\":3,\
         \"tcp.seq\":null,\"tcp.options.sack_le\":[2897],\"tcp.flags.ack\":true,\
         \"tcp.analysis.fast_retransmission\":false}"
    );
    assert_eq!(
        "tcp.lem".parse::<PacketField>().unwrap_err().split(';').next(),
        Some("no field `tcp.lem`")
    );
    assert_eq!(packet_values(0, &connection, None, &PacketField::all()).len(), 12);
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let mut all = String::new();
    for text in [
        "",
        "tcp.length > 0",
        "http.request",
        "tcp.len >",
        "tcp.len > many",
        "tcp.len == -1",
        "tcp.flags.syn == 2",
        "ip.src == 10.0.0",
        "ip.src == 10.0.0.0/33",
        "ip.src > 10.0.0.1",
        "frame.time_relative > 1s",
        "tcp.analysis.retransmission == 1",
        "tcp.len in 1, 2",
        "tcp.len in {1, 2",
        "tcp.len > 1 tcp.len < 2",
        "(tcp.len > 1",
        "tcp.len ==== 1",
        "é == 1",
    ] {
        writeln!(all, "{}", DisplayFilter::parse(text).unwrap_err()).unwrap();
    }
    insta::assert_snapshot!(all);
    for nested in ["(", "!", "not "] {
        let deep = nested.repeat(100_000) + "tcp";
        let error = DisplayFilter::parse(&deep).unwrap_err().to_string();
        assert!(error.contains("nested too deeply"));
    }
}

/// docs/display-filters.md has all fields.
#[test]
fn page_has_all_fields() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/display-filters.md");
    let page = std::fs::read_to_string(place).unwrap();
    let (text, _) = page.split_once("| field |").expect("the table");
    let mut made = format!("{text}| field | what it is |\n|---|---|\n");
    for (name, about) in DisplayFilter::fields() {
        writeln!(made, "| `{name}` | {about} |").unwrap();
    }
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        std::fs::write(place, &made).unwrap();
        return;
    }
    assert!(page == made, "make it anew with `TCPLAB_BLESS=1 cargo test -p tcplab-trace`");
}

/// As Wireshark counts, with windows of 128 bytes: the seventh packet fills the window, the ninth
/// changes it; the last two are beside what was not captured.
#[test]
fn packets_beside_those_before_them() {
    let text = "open 0.010
        0.100 > 1:1001
        0.110 < ack 1001 win 16
        0.111 > 1001:3049
        0.121 < ack 3049 win 4
        0.122 < ack 3049 win 8
        0.130 > 4001:4101
        0.140 < ack 5001 win 8";
    for (filter, expected) in [
        ("tcp.analysis.window_full", &[7][..]),
        ("tcp.analysis.window_update", &[9]),
        ("tcp.analysis.lost_segment", &[10]),
        ("tcp.analysis.ack_lost_segment", &[11]),
        ("tcp.analysis.flags", &[7, 9, 10, 11]),
        ("tcp.analysis.ack_rtt > 0.0099 && tcp.time_relative > 0.02", &[5, 8]),
        ("tcp.analysis.initial_rtt && tcp.time_relative < 0.1", &[3]),
        ("tcp.time_delta > 0.05", &[4]),
        ("tcp.flags == 0x12", &[2]),
        ("tcp.flags.syn == 1 && tcp.options.mss_val == 1460", &[1, 2]),
        ("tcp.len in {1 .. 100, 600}", &[7, 10]),
        ("frame.number in {2.. 3,5 ..6}", &[2, 3, 5, 6]),
    ] {
        assert_eq!(frames(text, filter), expected, "{filter}");
    }
    let names = ["tcp.flags", "tcp.analysis.initial_rtt"].map(|name| name.parse().unwrap());
    let values = packet_values(0, &drill::connection(text), None, &names);
    let lines: Vec<String> = values.iter().take(3).map(ToString::to_string).collect();
    assert_eq!(lines, ["0x0002\t", "0x0012\t", "0x0010\t0.010100000"]);
    let error = DisplayFilter::parse("ip.src in {10.0.0.1 .. 10.0.0.9}").unwrap_err().to_string();
    assert!(error.starts_with("addresses have no ranges"), "{error}");
}
