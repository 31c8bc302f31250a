//! Packets of all connections: in the order of the capture, by a filter, fields of them.

use serde_json::Value;

use super::{answer, home};

#[test]
fn packets_of_all_connections_are_listed_in_order() {
    let home = home();
    let frames = |text: &str| -> Vec<u64> {
        let numbers = text.lines().filter_map(|line| line.split('#').nth(1)?.split(' ').next());
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let all = answer(&home, "a.pcap --listing");
    let listed = frames(&all);
    assert!(listed.is_sorted() && listed.len() > 1_000);
    let summary = format!("{0} of {0} packets of 2 connections\n", listed.len());
    assert!(all.ends_with(&summary), "{all:.300}");
    let of_each = ["a.pcap -c 0 -Y tcp", "a.pcap -c 1 -Y tcp"].map(|it| frames(&answer(&home, it)));
    assert_eq!(of_each.each_ref().map(Vec::len).iter().sum::<usize>(), listed.len());
    let both = answer(&home, "a.pcap -Y tcp.flags.syn==1 --jobs 2");
    let of = |line: &str| line.split(" connection ").nth(1).map(|rest| rest[..3].to_owned());
    let connections: Vec<String> = both.lines().filter_map(of).collect();
    assert_eq!(connections, ["0 >", "0 <", "1 >", "1 <"]);
    let early = answer(&home, "a.pcap -Y tcp --to 20");
    assert!(frames(&early).iter().all(|frame| *frame <= 20) && frames(&early).len() > 10);
    let none = answer(&home, "a.pcap -Y tcp.len>99999");
    assert!(none.starts_with("0 of "), "{none}");
    let numbers = answer(&home, "a.pcap -e frame.number");
    let numbers: Vec<u64> = numbers.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(numbers, listed);
    let lines = answer(&home, "a.pcap --listing --jsonl");
    let packets = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let numbers: Vec<u64> = packets.map(|it| it["frame.number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, listed);
    let opening = answer(&home, "a.pcap -c 1 -Y tcp.flags.syn==1 -e tcp.stream,tcp.flags.ack");
    assert_eq!(opening, "1\t0\n1\t1\n");
    assert_eq!(answer(&home, "a.pcap -Y tcp.len>99999 -e tcp.len"), "");
}
