//! Two ends joined by a delay, and one end against packets written by hand.

mod accurate_ecn;
mod acks;
mod closing;
mod handshake;
mod machine;
mod options;
mod pair;
mod path_mtu;
mod peer;
mod pool;
mod silence;
mod streams;
mod urgent;

use tcplab_units::{Bytes, Instant};
use tcplab_wire::{SeqNumber, TcpFlags};

use super::*;
use crate::congestion::Reno;
use crate::{Segment, SendCause};

/// Linux's rules except what `change` changes.
fn changed(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

/// Buffers count bytes of data, not the memory of segments: all of the receive buffer is window.
fn count_bytes(config: &mut Config) {
    config.sending.charges_memory = false;
    config.receiving.segment_overhead = 0;
    config.receiving.window_share = 256;
}

/// Opens with sequence numbers from `initial` on, packets of 1500 bytes, IPv4.
fn opening(initial: u32) -> Opening {
    Opening {
        initial_sequence: SeqNumber::new(initial),
        timestamp_offset: initial,
        mtu: 1500,
        ip_header: 20,
        congestion: Box::new(Reno::named("reno")),
    }
}

/// Flags as tcpdump writes them, without the brackets: `S`, `F.`, `P.`.
fn flags(letters: &str) -> TcpFlags {
    let letter = |letter| match letter {
        'S' => TcpFlags::SYN,
        'F' => TcpFlags::FIN,
        'R' => TcpFlags::RST,
        'P' => TcpFlags::PSH,
        '.' => TcpFlags::ACK,
        'U' => TcpFlags::URG,
        'E' => TcpFlags::ECE,
        'W' => TcpFlags::CWR,
        other => panic!("`{other}` is no flag"),
    };
    letters.chars().map(letter).fold(TcpFlags::NONE, |all, flag| all | flag)
}

/// A segment as packetdrill writes it, numbers relative to the initial ones.
fn written(segment: &Segment, seq_from: SeqNumber, ack_from: Option<SeqNumber>) -> String {
    let header = &segment.header;
    let relative = |number: SeqNumber, from: SeqNumber| number.distance_from(from);
    let start = relative(header.seq, seq_from);
    let mut text = format!(
        "{} {start}:{}({})",
        header.flags.to_string().trim_matches(['[', ']']),
        start + segment.len() as i32,
        segment.len()
    );
    if header.flags.contains(TcpFlags::ACK) {
        let ack = ack_from.map_or(0, |from| relative(header.ack, from));
        text += &format!(" ack {ack}");
    }
    text += &format!(" win {}", header.window);
    if header.flags.contains(TcpFlags::URG) {
        text += &format!(" urg {}", header.urgent_pointer);
    }
    let mut options = vec![];
    options.extend(header.mss.map(|mss| format!("mss {mss}")));
    if header.sack_permitted {
        options.push("sackOK".into());
    }
    options.extend(header.timestamps.map(|(value, echo)| format!("TS {value} ecr {echo}")));
    options.extend(header.window_scale.map(|shift| format!("wscale {shift}")));
    if !header.sack.is_empty() {
        let from = ack_from.unwrap_or_default();
        let blocks = header
            .sack
            .iter()
            .map(|b| format!("{}:{}", relative(b.left, from), relative(b.right, from)))
            .collect::<Vec<_>>();
        options.push(format!("sack {}", blocks.join(" ")));
    }
    if !options.is_empty() {
        text += &format!(" <{}>", options.join(","));
    }
    if segment.ecn != tcplab_wire::Ecn::NotEct {
        text += &format!(" {:?}", segment.ecn);
    }
    text
}
