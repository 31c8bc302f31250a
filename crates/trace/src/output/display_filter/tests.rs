//! The language: what holds, mistakes at their places, the page of fields.

use std::fmt::Write;

use super::{DisplayFilter, PacketField, packet_values};
use crate::listing;
use crate::tests::drill;

/// The frames of a listing with this filter.
fn frames(text: &str, filter: &str) -> Vec<u64> {
    let filter = DisplayFilter::parse(filter).unwrap();
    let shown = listing(0, &drill::connection(text), Some(&filter));
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
