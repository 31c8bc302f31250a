//! A small language for captures, near to packetdrill's:
//!
//! ```text
//! open 0.010                         the handshake: SYN at 0, SYN-ACK at 0.010, ACK at 0.0101
//! open 0.010 0.020 nosack            ACK at 0.020; both SYNs without SACK
//! 0.000 > S                          the client's SYN alone; `< S`: the server's SYN-ACK
//! 0.100 > 1:14481 every 0.001        data, cut into segments of 1448 bytes, one each 0.001 s
//! 0.110 < ack 1449 sack 2897-4345    an ACK; also `dsack 1-1449`, `win 500`, `ece`, `ce`
//! 0.110 < acks 1449 5793 every 0.001 an acknowledgement for each segment, up to 5793
//! 0.120 < ack 5793 sack 7241-... 10137 every 0.001   one with the block 7241-8689, 7241-10137 ...
//! 0.200 > 14481:14482 fin            the last segment
//! 0.300 > 1:1449 clock 7             with a timestamp of 7; `echo 7` in the answer
//! 0.400 > 1:1449 psh urg ce          each segment pushed, urgent, marked by a router; also `cwr`
//! 0.310 > 1449:1450 fin acking 5     with another acknowledgement than of the SYN
//! 0.320 > ack 5 at 1450              from another place than the first byte's
//! 0.330 < R 1 ack 1450               an RST, with ACK or without
//! 0.340 < ack 1 bits 101             `bits` and `option` as below; on data, too
//! 0.400 < S plain                    the server's SYN without ACK; `> S ack 1`: the client's with
//! 0.400 > S isn 5 data 100 bits 011  also `mss 536`, `win 9`, `noscale`, `clock 7`, `echo 7`,
//!                                    `bits`: AE, CWR, ECE; `option 2202`: further options in hex
//! 0.300 > 1:2897 id 40               numbered 40 and 41 in the IP header; also `ttl 57`
//! 0.110 < too big 1449 mtu 1400      ICMP: the segment from 1449 on was too large
//! 0.300 > at 0                       no data, from this place in the stream
//! # a comment
//! ```
//!
//! Numbers are relative to the initial sequence number, times in seconds.

use std::net::Ipv4Addr;

use tcplab_wire::{
    Ecn, FrameView, Ipv4Repr, LinkType, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpRepr,
    TooBigRepr,
};

// By the crate's outer name: the findings' tests include this file.
use tcplab_trace::{Analyzer, Connection, Flow, Frame, Sink, Trace};

pub(crate) const MSS: u64 = 1448;

#[derive(Debug, Clone)]
pub(crate) struct Captured {
    pub(crate) time_ns: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The packets that `text` describes, with this initial sequence number for the client.
pub(crate) fn drill(text: &str, isn: u32) -> Vec<Captured> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut packets: Vec<Captured> = lines.flat_map(|line| packets(line, isn)).collect();
    packets.sort_by_key(|packet| packet.time_ns);
    packets
}

pub(crate) fn feed<S: Sink>(analyzer: &mut Analyzer<S>, packets: &[Captured]) {
    for packet in packets {
        analyzer.packet(&Frame::whole(packet.time_ns, LinkType::RawIp, &packet.bytes));
    }
}

pub(crate) fn analyze(packets: &[Captured]) -> Trace {
    let mut analyzer = Analyzer::new();
    feed(&mut analyzer, packets);
    analyzer.finish()
}

pub(crate) fn connection(text: &str) -> Connection {
    let mut trace = analyze(&drill(text, 1_000));
    assert_eq!(trace.connections.len(), 1);
    trace.connections.remove(0)
}

/// The segments that the client sends in the drill `text`.
pub(crate) fn flow(text: &str) -> Flow {
    connection(text).forward
}

fn packets(line: &str, isn: u32) -> Vec<Captured> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words[0] == "open" {
        return handshake(&words[1..]).iter().flat_map(|line| packets(line, isn)).collect();
    }
    let at: f64 = words[0].parse().unwrap();
    let from_client = words[1] == ">";
    let ecn = if words.contains(&"ce") { Ecn::Ce } else { Ecn::NotEct };
    let after =
        |name: &str| words.iter().position(|word| *word == name).map(|index| &words[index + 1..]);
    let id = after("id").map_or(0, |rest| rest[0].parse().unwrap());
    let ttl = after("ttl").map_or(64, |rest| rest[0].parse().unwrap());
    let header = Header { from_client, isn, ecn, id, ttl };
    let every = after("every").map_or(0.0, |rest| rest[0].parse::<f64>().unwrap());
    let stamp = |name: &str| after(name).map(|rest| rest[0].parse::<u32>().unwrap());
    if words[2] == "S" {
        return vec![syn(header, &words, at)];
    }
    if words[2] == "R" {
        let mut tcp = header.tcp(words[3].parse().unwrap());
        let ack = after("ack").map(|rest| rest[0].parse().unwrap());
        tcp.flags = if ack.is_some() { TcpFlags::RST | TcpFlags::ACK } else { TcpFlags::RST };
        tcp.ack = ack.map_or(SeqNumber::new(0), |ack| header.peer(ack));
        tcp.window = after("win").map_or(0, |rest| rest[0].parse().unwrap());
        return vec![header.with_option(at, &tcp, 0, &words)];
    }
    if words[2..].starts_with(&["too", "big"]) {
        let mtu = after("mtu").map_or(1_400, |rest| rest[0].parse().unwrap());
        let sent = Header { from_client: !from_client, ..header };
        let about = sent.packet(at, &sent.tcp(words[4].parse().unwrap()), MSS as usize).bytes;
        let about = FrameView::of_packet(&about).ip().expect("a packet");
        let bytes = TooBigRepr { mtu, about }.to_packet(&header.ip().into());
        return vec![Captured { time_ns: (at * 1e9).round() as u64, bytes }];
    }
    if let Some(unrolled) = unrolled(&words, at, every) {
        return unrolled.iter().flat_map(|line| packets(line, isn)).collect();
    }
    if let Some(numbers) = after("ack") {
        let mut tcp = header.tcp(after("at").map_or(1, |rest| rest[0].parse().unwrap()));
        tcp.timestamps = stamp("echo").map(|echo| (stamp("clock").unwrap_or(1), echo));
        tcp.ack = header.peer(numbers[0].parse().unwrap());
        if words.contains(&"ece") {
            tcp.flags |= TcpFlags::ECE;
        }
        tcp.window = after("win").map_or(65_535, |rest| rest[0].parse().unwrap());
        let listed = |rest: Option<&[&str]>| -> Vec<SackBlock> {
            let ranges = rest.unwrap_or_default().iter().map_while(|word| word.split_once('-'));
            ranges
                .map(|(left, right)| SackBlock {
                    left: header.peer(left.parse().unwrap()),
                    right: header.peer(right.parse().unwrap()),
                })
                .collect()
        };
        let blocks = listed(after("dsack")).into_iter().chain(listed(after("sack")));
        tcp.sack = blocks.collect::<SackBlocks>();
        tcp.flags |= bits(&words);
        return vec![header.with_option(at, &tcp, 0, &words)];
    }
    if words[2] == "at" {
        return vec![header.packet(at, &header.tcp(words[3].parse().unwrap()), 0)];
    }
    let (start, end) = words[2].split_once(':').unwrap();
    let (start, end): (u64, u64) = (start.parse().unwrap(), end.parse().unwrap());
    let fin = words.contains(&"fin");
    let starts = (start..end).step_by(MSS as usize).enumerate();
    starts
        .map(|(index, from)| {
            let mut tcp = header.tcp(from);
            let echo = stamp("echo").unwrap_or(1);
            tcp.timestamps = stamp("clock").map(|clock| (clock, echo));
            let flags = [("psh", TcpFlags::PSH), ("urg", TcpFlags::URG), ("cwr", TcpFlags::CWR)];
            for (word, flag) in flags {
                if words.contains(&word) {
                    tcp.flags |= flag;
                }
            }
            tcp.flags |= bits(&words);
            tcp.ack = header.peer(after("acking").map_or(1, |rest| rest[0].parse().unwrap()));
            let last = from + MSS >= end;
            if last && fin {
                tcp.flags |= TcpFlags::FIN;
            }
            let len = (end - from).min(MSS) - u64::from(last && fin);
            let numbered =
                Header { id: header.id + index as u16 * u16::from(header.id > 0), ..header };
            numbered.with_option(at + every * index as f64, &tcp, len as usize, &words)
        })
        .collect()
}

/// The lines that `open` expands to.
fn handshake(words: &[&str]) -> [String; 3] {
    let mut times = words.iter().map_while(|word| word.parse::<f64>().ok());
    let syn_ack = times.next().expect("the SYN-ACK's time");
    let ack = times.next().unwrap_or(syn_ack + 0.0001);
    let sack = if words.contains(&"nosack") { " nosack" } else { "" };
    [format!("0 > S{sack}"), format!("{syn_ack} < S{sack}"), format!("{ack} > ack 1")]
}

fn syn(header: Header, words: &[&str], at: f64) -> Captured {
    let number = |name: &str| word_after(words, name).map(|word| word.parse::<u32>().unwrap());
    let mut tcp = header.syn(words.contains(&"nosack"));
    if words.contains(&"plain") {
        tcp.flags = TcpFlags::SYN;
        tcp.ack = SeqNumber::new(0);
    }
    if let Some(ack) = number("ack") {
        tcp.flags |= TcpFlags::ACK;
        tcp.ack = header.peer(u64::from(ack));
    }
    if let Some(isn) = number("isn") {
        tcp.seq = SeqNumber::new(isn);
    }
    if words.contains(&"noscale") {
        tcp.window_scale = None;
    }
    tcp.mss = number("mss").map(|mss| mss as u16).or(tcp.mss);
    tcp.window = number("win").map_or(tcp.window, |window| window as u16);
    let stamps = (number("clock"), number("echo"));
    tcp.timestamps = (stamps != (None, None))
        .then(|| (stamps.0.unwrap_or_default(), stamps.1.unwrap_or_default()));
    tcp.flags |= bits(words);
    header.with_option(at, &tcp, number("data").unwrap_or_default() as usize, words)
}

/// The word behind another.
fn word_after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).map(|index| words[index + 1])
}

/// AE, CWR and ECE as the words say.
fn bits(words: &[&str]) -> TcpFlags {
    let flags = [TcpFlags::AE, TcpFlags::CWR, TcpFlags::ECE];
    let bits = word_after(words, "bits").unwrap_or("000").chars();
    let set = bits.zip(flags).filter(|(bit, _)| *bit == '1');
    set.fold(TcpFlags::from_bits(0), |all, (_, flag)| all | flag)
}

impl Captured {
    /// Adds an option that the representation of legal segments does not know, behind the others.
    fn add_option(&mut self, hex: &str, header_len: usize) {
        let digits: Vec<u8> =
            hex.bytes().map(|b| (b as char).to_digit(16).unwrap() as u8).collect();
        let mut option: Vec<u8> = digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect();
        while !option.len().is_multiple_of(4) {
            option.push(1);
        }
        let (ip, end) = (20, 20 + header_len);
        self.bytes.splice(end..end, option.iter().copied());
        self.bytes[ip + 12] =
            (((header_len + option.len()) / 4) << 4) as u8 | (self.bytes[ip + 12] & 0x0f);
        let total = self.bytes.len() as u16;
        self.bytes[2..4].copy_from_slice(&total.to_be_bytes());
        self.seal();
    }

    pub(crate) fn seal(&mut self) {
        let segment = self.bytes.len() as u16 - 20;
        self.bytes[36..38].fill(0);
        let pseudo = [&self.bytes[12..20], &[0, 6], &segment.to_be_bytes()].concat();
        let sum = pseudo.chunks(2).chain(self.bytes[20..].chunks(2)).fold(0_u32, |sum, pair| {
            sum + u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
        });
        let folded = (sum & 0xffff) + (sum >> 16);
        let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
        self.bytes[36..38].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The single ACKs that `acks` and `sack A-... B` expand to.
fn unrolled(words: &[&str], at: f64, every: f64) -> Option<Vec<String>> {
    let number = |word: &str| word.parse::<u64>().unwrap();
    let line =
        |index: usize, rest: String| format!("{} {} {rest}", at + every * index as f64, words[1]);
    if words[2] == "acks" {
        let steps = (number(words[3])..=number(words[4])).step_by(MSS as usize).enumerate();
        return Some(steps.map(|(index, ack)| line(index, format!("ack {ack}"))).collect());
    }
    let growing = words.iter().position(|word| word.ends_with("-..."))?;
    let left = number(words[growing].strip_suffix("-...").unwrap());
    let rights = (left + MSS..=number(words[growing + 1])).step_by(MSS as usize).enumerate();
    let ack = number(words[3]);
    Some(rights.map(|(i, right)| line(i, format!("ack {ack} sack {left}-{right}"))).collect())
}

/// What all packets of one direction have in common.
#[derive(Clone, Copy)]
struct Header {
    from_client: bool,
    isn: u32,
    ecn: Ecn,
    /// In the IP header.
    id: u16,
    ttl: u8,
}

impl Header {
    const SERVER_ISN: u32 = 77_000;

    fn own_isn(self) -> u32 {
        if self.from_client { self.isn } else { Header::SERVER_ISN }
    }
    /// The peer's number at this offset.
    fn peer(self, offset: u64) -> SeqNumber {
        let isn = if self.from_client { Header::SERVER_ISN } else { self.isn };
        SeqNumber::new(isn.wrapping_add(offset as u32))
    }
    fn tcp(self, offset: u64) -> TcpRepr {
        let (client, server) = (40_000, 21);
        TcpRepr {
            src_port: if self.from_client { client } else { server },
            dst_port: if self.from_client { server } else { client },
            seq: SeqNumber::new(self.own_isn().wrapping_add(offset as u32)),
            ack: self.peer(1),
            flags: TcpFlags::ACK,
            window: 500,
            ..TcpRepr::default()
        }
    }
    fn syn(self, without_sack: bool) -> TcpRepr {
        TcpRepr {
            flags: if self.from_client { TcpFlags::SYN } else { TcpFlags::SYN | TcpFlags::ACK },
            seq: SeqNumber::new(self.own_isn()),
            ack: if self.from_client { SeqNumber::new(0) } else { self.peer(1) },
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: !without_sack,
            ..self.tcp(0)
        }
    }
    fn ip(self) -> Ipv4Repr {
        let (client, server) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let (src, dst) = if self.from_client { (client, server) } else { (server, client) };
        Ipv4Repr { src, dst, id: self.id, ttl: self.ttl, ecn: self.ecn }
    }
    /// [`Header::packet`] with the option that the words have, if any.
    fn with_option(self, at: f64, tcp: &TcpRepr, payload: usize, words: &[&str]) -> Captured {
        let mut captured = self.packet(at, tcp, payload);
        if let Some(hex) = word_after(words, "option") {
            captured.add_option(hex, usize::from(tcp.header_len() as u16));
        }
        captured
    }
    fn packet(self, at: f64, tcp: &TcpRepr, payload: usize) -> Captured {
        let bytes = tcp.to_packet(&self.ip().into(), &vec![0; payload]);
        Captured { time_ns: (at * 1e9).round() as u64, bytes }
    }
}
