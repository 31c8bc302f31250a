//! What a capture of very many connections takes: the limit is on the address space of the process
//! (setrlimit(2), RLIMIT_AS).

use std::process::Command;

use tcplab_wire::{Ecn, Ipv4Repr, SeqNumber, TcpFlags, TcpRepr};

use crate::home::{Home, ended};

const SYNS: u32 = 6_000;
/// Kilobytes: less than whole connections took (160 MB and the program).
const LIMIT: u32 = 160_000;

/// SYNs that nobody answers, each of another connection.
fn flood() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for number in 0..SYNS {
        let ip = Ipv4Repr {
            src: (0x0a00_0000 + number).into(),
            dst: 0xc000_0201.into(),
            id: 0,
            ttl: 64,
            ecn: Ecn::NotEct,
        };
        let (flags, window) = (TcpFlags::SYN, 1_000);
        let seq = SeqNumber::new(number);
        let syn =
            TcpRepr { src_port: 1_024, dst_port: 80, seq, flags, window, ..TcpRepr::default() };
        let packet = syn.to_packet(&ip.into(), &[]);
        let long = packet.len() as u32;
        for word in [1_700_000_000 + number / 10_000, number % 10_000 * 100, long, long] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

#[test]
fn flood_of_syns_takes_little_memory_in_each_output() {
    let home = Home::with("syn.pcap", flood());
    for output in ["--top 1", "--jsonl", "--json=all.json", "--html page.html", "--csv all.csv"] {
        let program = env!("CARGO_BIN_EXE_tcplab");
        let script = format!("ulimit -v {LIMIT}; exec '{program}' trace syn.pcap {output}");
        let mut command = Command::new("sh");
        let end = ended(command.args(["-c", &script]).current_dir(home.path("")));
        assert_eq!(end.code, Some(0), "{output}: {}", end.stderr);
    }
    // None is lost, and they stand in order.
    let all: serde_json::Value = serde_json::from_slice(&home.bytes("all.json")).unwrap();
    let numbers = all["connections"].as_array().unwrap().iter();
    assert!(numbers.map(|it| it["connection"].as_u64().unwrap()).eq(0..u64::from(SYNS)));
    assert_eq!(all["capture"]["packets"], SYNS);
    assert!(home.text("page.html").contains(&format!("{} more not shown.", SYNS - 1_000)));
}

#[test]
fn limit_of_memory_holds_with_files_too() {
    let home = Home::with("syn.pcap", flood());
    home.answer("trace syn.pcap --memory 64MB --json=all.json --html page.html");
    assert!(home.exists("all.json") && home.exists("page.html"));
}
