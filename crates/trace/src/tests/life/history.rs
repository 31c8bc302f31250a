//! What Zeek would write into its log.

use super::connections;
use crate::ConnectionState::{self, *};

/// A name, the packets, `conn_state` and `history`, by Zeek's documentation; those with * by Zeek's
/// own tests.
type Case = (&'static str, &'static str, ConnectionState, &'static str);

const CASES: &[Case] = &[
    ("a SYN *", "0 > S\n1 > S", S0, "S"),
    ("open *", "open 0.01 0.02\n0.1 > 1:99\n0.11 < ack 99\n0.12 < 1:9", S1, "ShADad"),
    ("SYN-ACK seen only", "0 > S\n0.01 < S", S1, "Sh"),
    ("the client closed", "open 0.01 0.02\n0.1 > 1:2 fin\n0.11 < ack 2", S2, "ShAFa"),
    ("the server closed", "open 0.01 0.02\n0.1 < 1:2 fin\n0.11 > ack 2", S3, "ShAf"),
    (
        "a whole life *",
        "open 0.01 0.02\n0.1 > 1:99\n0.11 < ack 99\n0.12 < 1:9 acking 99
         0.13 > 99:100 fin acking 9\n0.14 < 9:10 fin acking 100\n0.15 > ack 10 at 100",
        Sf,
        "ShADadFf",
    ),
    ("refused", "0 > S\n0.01 < R 0 ack 1", Rej, "Sr"),
    ("both reset before any data", "0 > S\n0.01 < S\n0.02 > R 1\n0.03 < R 1", Rej, "ShRr"),
    ("the client aborts", "open 0.01 0.02\n0.1 > 1:99\n0.2 > R 99", Rsto, "ShADR"),
    ("the server aborts", "open 0.01 0.02\n0.1 > 1:99\n0.2 < R 1", Rstr, "ShADr"),
    ("SYN and RST *", "0 > S\n1 > R 1", Rstos0, "SR"),
    ("an ACK between *", "0 > S\n0.5 < ack 9\n1 > R 1", Rstos0, "SaR"),
    ("a FIN between *", "0 > S\n0.4 < ack 9\n0.5 > 1:2 fin\n1 > R 2", Oth, "SaFR"),
    ("SYN-ACK and RST", "0.01 < S\n0.02 < R 1", Rstrh, "^hr"),
    ("SYN and FIN", "0 > S\n1 > 1:2 fin", Sh, "SF"),
    ("SYN-ACK and FIN", "0.01 < S\n0.02 < ack 1\n0.03 < 1:2 fin", Shr, "^haf"),
    ("an RST *", "0 > R 1", Oth, "R"),
    ("the middle", "0 > 1:99\n0.01 < ack 99\n0.02 < 1:9", Oth, "Dad"),
    ("the SYN was missed *", "0.01 < S\n0.02 > ack 1\n0.03 > 1:9\n0.04 < 1:2 fin", S3, "^hADf"),
    // A SYN-ACK with the number of the SYN before is not written again.
    ("both at once", "0 > S\n0.005 < S plain\n0.01 < S ack 1\n0.015 > S ack 1", S1, "Ss"),
    ("FIN again, another RST", "0 > 1:2 fin\n1 > 1:2 fin\n2 < R 1\n3 < R 1\n4 < R 9", Rstr, "Frr"),
    ("zero window", "open 0.01 0.02\n0.1 > 1:99\n0.11 < ack 99 win 0", S1, "ShADaw"),
    (
        "the window does not matter when the other end has closed",
        "open 0.01 0.02\n0.1 > 1:99 fin\n0.11 < ack 99 win 0",
        S2,
        "ShAFa",
    ),
    (
        "a gap: acknowledged and never seen *",
        "open 0.01 0.02\n0.1 > 1449:2897\n0.11 < ack 2897",
        S1,
        "ShADaG",
    ),
    (
        "two gaps at once are but one letter",
        "open 0.01 0.02\n0.1 > 1449:2897\n0.11 > 4345:5793\n0.12 < ack 5793",
        S1,
        "ShADaG",
    ),
    ("no gap in what is half seen", "0 > 1449:2897\n0.01 > 4345:5793\n0.02 < ack 5793", Oth, "Da"),
];

#[test]
fn history_matches_zeek() {
    for (name, text, state, history) in CASES {
        let found = connections(text);
        assert_eq!(found.len(), 1, "{name}");
        let life = &found[0].life;
        assert_eq!((life.state, life.history.as_str()), (*state, *history), "{name}");
    }
}

#[test]
fn repeats_are_written_at_every_power_of_ten() {
    for (times, letters) in
        [(0, "ShAD"), (1, "ShADT"), (9, "ShADT"), (10, "ShADTT"), (100, "ShADTTT")]
    {
        let opening = ["0 > S", "0.01 < S", "0.02 > ack 1", "0.1 > 1:99"].map(str::to_owned);
        let repeats = (0..times).map(|n| format!("{}.5 > 1:99", n + 1));
        let text = opening.into_iter().chain(repeats).collect::<Vec<_>>().join("\n");
        assert_eq!(connections(&text)[0].life.history, letters, "{times}");
    }
}

/// Flags that cannot be together.
#[test]
fn strange_flags() {
    use super::super::drill::{analyze, drill};
    for (flags, letters) in [(0x05, "SI"), (0x03, "SQ"), (0x06, "SQ"), (0x07, "SI")] {
        let mut packets = drill("0 > S\n1 > R 1 win 9\n2 > R 1 win 9", 1_000);
        for packet in &mut packets[1..] {
            packet.bytes[33] = flags;
            packet.seal();
        }
        assert_eq!(analyze(&packets).connections[0].life.history, letters, "{flags:#x}");
    }
}

/// A wrong checksum is marked; where its sender's were right before, the packet does not count.
#[test]
fn corrupt_packets() {
    use super::super::drill::{analyze, drill};
    let mut packets = drill("open 0.01 0.02\n0.1 > R 1\n0.2 > 1:99\n0.3 < ack 99", 1_000);
    packets[3].bytes[36] ^= 0x10;
    let life = analyze(&packets).connections.remove(0).life;
    assert_eq!((life.history.as_str(), life.close), ("ShACDa", None));
}
