//! What connections cost in memory, by the kernel's account of this process: `VmRSS` and `VmHWM` of
//! `/proc/self/status`, proc(5).

use std::env;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

use tcplab_trace::{Analyzer, Connection, Frame, Sink, Trace};
use tcplab_units::Bytes;
use tcplab_wire::{Ecn, Ipv4Repr, Ipv6Repr, LinkType, SeqNumber, TcpFlags, TcpRepr};

/// Set where a test is [alone] in its process.
const ALONE: &str = "TCPLAB_TEST_ALONE";

/// Keeps no more than counts: connections, and packets of them.
#[derive(Debug, Default)]
struct Counts(u64, u64);

impl Sink for Counts {
    fn wants_packets(&self) -> bool {
        false
    }
    fn connection(&mut self, _: usize, connection: &Connection) {
        self.0 += 1;
        self.1 += connection.packets;
    }
}

/// An analyser that is fed.
struct Fed {
    analyzer: Analyzer<Counts>,
    frames: u64,
    is_ipv6: bool,
}

impl Fed {
    fn new() -> Fed {
        Fed { analyzer: Analyzer::with_sink(Counts::default()), frames: 0, is_ipv6: false }
    }

    fn packet(&mut self, number: u32, from_client: bool, tcp: TcpRepr, data: &[u8]) {
        let addresses = [Ipv4Addr::from_bits(0x0a00_0000 + number), Ipv4Addr::new(192, 0, 2, 1)];
        let ports = [40_000 + number as u16 % 1_000, 443];
        let (from, to) = if from_client { (0, 1) } else { (1, 0) };
        let (src, dst) = (addresses[from], addresses[to]);
        let tcp = TcpRepr { src_port: ports[from], dst_port: ports[to], ..tcp };
        let ip = if self.is_ipv6 {
            // Their interface identifiers have no zeros and nothing in common.
            let [src, dst] = [src, dst].map(|address| {
                let spread = u128::from(address.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                Ipv6Addr::from_bits(0x2001_0db8 << 96 | spread)
            });
            Ipv6Repr { src, dst, hop_limit: 64, ecn: Ecn::NotEct }.into()
        } else {
            Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct }.into()
        };
        let bytes = tcp.to_packet(&ip, data);
        self.frames += 1;
        let time = 1_700_000_000_000_000_000 + self.frames * 20_000;
        self.analyzer.packet(&Frame::whole(time, LinkType::RawIp, &bytes));
    }

    fn syn(&mut self, number: u32) {
        let mss = Some(1_460);
        let (window_scale, sack_permitted) = (Some(7), true);
        let timestamps = Some((self.frames as u32 / 50, 0));
        let seq = SeqNumber::new(number.wrapping_mul(2_654_435_761));
        let window = 64_240;
        let flags = TcpFlags::SYN;
        let syn = TcpRepr {
            seq,
            flags,
            window,
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ..TcpRepr::default()
        };
        self.packet(number, true, syn, &[]);
    }

    /// Opens a connection, and requests with their answers, acknowledged: then it is quiet.
    fn open(&mut self, number: u32, rounds: u32) {
        self.syn(number);
        let isn = number.wrapping_mul(2_654_435_761);
        let of = |seq: u32, ack: u32, flags| {
            let timestamps = Some((number, number / 2));
            let (seq, ack) = (SeqNumber::new(seq), SeqNumber::new(ack));
            TcpRepr { seq, ack, flags, window: 501, timestamps, ..TcpRepr::default() }
        };
        let (syn_ack, ack) = (TcpFlags::SYN | TcpFlags::ACK, TcpFlags::ACK);
        let options = TcpRepr {
            mss: Some(1_460),
            window_scale: Some(7),
            sack_permitted: true,
            ..of(9, isn + 1, syn_ack)
        };
        self.packet(number, false, options, &[]);
        self.packet(number, true, of(isn + 1, 10, ack), &[]);
        for round in 0..rounds {
            let (seq, answer) = (isn + 1 + round * 200, 10 + round * 900);
            let data = ack | TcpFlags::PSH;
            self.packet(number, true, of(seq, answer, data), &[0; 200]);
            self.packet(number, false, of(answer, seq + 200, data), &[0; 900]);
            self.packet(number, true, of(seq + 200, answer + 900, ack), &[]);
        }
    }

    fn finish(self) -> (Trace, Counts) {
        self.analyzer.finish_into()
    }
}

/// A line of `/proc/self/status`, bytes.
fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}

/// Whether this process runs only this test; else one that does has passed it.
fn alone(test: &str) -> bool {
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let own = env::current_exe().unwrap();
    let only = Command::new(own).args(["--exact", test]).env(ALONE, "").output().unwrap();
    assert!(only.status.success(), "{}", String::from_utf8_lossy(&only.stdout));
    false
}

/// The bytes that each of the last two thirds of `count` connections adds: those in use, which
/// take more, are as many before and after.
fn each(mut fed: Fed, count: u32, mut add: impl FnMut(&mut Fed, u32)) -> (u64, Fed) {
    let first = count / 3;
    (0..first).for_each(|number| add(&mut fed, number));
    let before = status("VmRSS");
    (first..count).for_each(|number| add(&mut fed, number));
    ((status("VmRSS") - before) / u64::from(count - first), fed)
}

#[test]
fn unanswered_syn_costs_at_most_120_bytes() {
    const SYNS: u32 = 120_000;
    if !alone("unanswered_syn_costs_at_most_120_bytes") {
        return;
    }
    let (bytes, fed) = each(Fed::new(), SYNS, Fed::syn);
    assert!(bytes <= 120, "{bytes} bytes each");
    let Counts(connections, packets) = fed.finish().1;
    assert_eq!((connections, packets), (SYNS.into(), SYNS.into()));
}

#[test]
fn unanswered_syn_of_ipv6_costs_at_most_160_bytes() {
    const SYNS: u32 = 120_000;
    if !alone("unanswered_syn_of_ipv6_costs_at_most_160_bytes") {
        return;
    }
    let (bytes, fed) = each(Fed { is_ipv6: true, ..Fed::new() }, SYNS, Fed::syn);
    assert!(bytes <= 160, "{bytes} bytes each");
    let Counts(connections, packets) = fed.finish().1;
    assert_eq!((connections, packets), (SYNS.into(), SYNS.into()));
}

#[test]
fn quiet_connection_of_few_packets_costs_at_most_450_bytes() {
    const OPEN: u32 = 90_000;
    if !alone("quiet_connection_of_few_packets_costs_at_most_450_bytes") {
        return;
    }
    let (bytes, fed) = each(Fed::new(), OPEN, |fed, number| fed.open(number, 1));
    assert!(bytes <= 450, "{bytes} bytes each");
    let Counts(connections, packets) = fed.finish().1;
    assert_eq!((connections, packets), (OPEN.into(), u64::from(OPEN) * 6));
}

/// Its packets are too many to be kept instead of its state.
#[test]
fn quiet_connection_of_nine_packets_costs_at_most_1200_bytes() {
    const OPEN: u32 = 90_000;
    if !alone("quiet_connection_of_nine_packets_costs_at_most_1200_bytes") {
        return;
    }
    let (bytes, fed) = each(Fed::new(), OPEN, |fed, number| fed.open(number, 2));
    assert!(bytes <= 1_200, "{bytes} bytes each");
    let Counts(connections, packets) = fed.finish().1;
    assert_eq!((connections, packets), (OPEN.into(), u64::from(OPEN) * 9));
}

#[test]
fn memory_limit_holds_and_says_what_it_ended() {
    const OPEN: u32 = 130_000;
    if !alone("memory_limit_holds_and_says_what_it_ended") {
        return;
    }
    let limit = Analyzer::<Counts>::LEAST_MEMORY;
    let before = status("VmHWM");
    let mut fed = Fed::new();
    fed.analyzer = Analyzer::with_sink(Counts::default()).with_memory(limit);
    (0..OPEN).for_each(|number| fed.open(number, 2));
    let grew = status("VmHWM") - before;
    assert!(grew <= limit.as_u64(), "{} grew by {grew}", Bytes::new(before));
    let (trace, Counts(connections, packets)) = fed.finish();
    assert_eq!((connections, packets), (OPEN.into(), u64::from(OPEN) * 9));
    let notes: Vec<_> = trace.notes.iter().map(|note| note.text.as_str()).collect();
    let [note] = notes[..] else { panic!("{notes:?}") };
    assert!(note.starts_with("the limit of 64 MB of memory ended "), "{note}");
    let ended: u64 = note.split_whitespace().nth(8).unwrap().parse().unwrap();
    assert!((10_000..120_000).contains(&ended), "{note}");
}
