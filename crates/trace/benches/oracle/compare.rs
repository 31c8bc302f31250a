//! Two findings of one capture, packet by packet.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::found::{Found, Oddity, Packet};
use super::reasons::{Case, StreamFacts};
use super::tcptrace::Sums;
use super::{reasons, tcplab, tcptrace, tshark};

/// What the programs find in one capture.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) path: PathBuf,
    /// tcplab or tshark can read it.
    pub(crate) is_capture: bool,
    pub(crate) tcplab: Totals,
    pub(crate) tshark: Totals,
    pub(crate) tcptrace: Option<Sums>,
    pub(crate) differences: Vec<Difference>,
    /// tcplab's notes on the capture.
    pub(crate) notes: Vec<String>,
}

/// Sums over a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) packets: u64,
    pub(crate) connections: u64,
    pub(crate) bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) resets: u64,
}

/// A packet of which the two say different things.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    pub(crate) frame: u64,
    pub(crate) ends: String,
    pub(crate) tcplab: String,
    pub(crate) tshark: String,
    /// tcplab's.
    pub(crate) evidence: String,
    pub(crate) reason: Option<&'static str>,
}

impl Totals {
    fn of(found: &Found) -> Totals {
        let sum = |of: fn(&super::found::Connection) -> u64| found.connections.iter().map(of).sum();
        Totals {
            packets: sum(|it| it.packets),
            connections: found.connections.len() as u64,
            bytes: sum(|it| it.bytes),
            retransmissions: sum(|it| it.retransmissions.len() as u64),
            resets: sum(|it| it.resets),
        }
    }
}

/// The initial sequence number of a host in a stream of tshark.
type Initial = HashMap<(usize, SocketAddr), u32>;

/// Words of tcplab's notes on packets that no host sent like that.
const DAMAGE: [&str; 3] = ["claims", "out of range", "too short"];

/// The streams of tshark in which one host has SYNs with several initial sequence numbers, or which
/// are several connections to tcplab; and the first of these numbers.
fn streams_that_start_again(ours: &Found, theirs: &Found) -> (HashSet<usize>, Initial) {
    let (mut initial, mut connection) = (Initial::new(), HashMap::new());
    let mut again = HashSet::new();
    for (frame, their) in &theirs.packets {
        let Some(our) = ours.packets.get(frame) else { continue };
        let stream = their.connection;
        let is_other = *connection.entry(stream).or_insert(our.connection) != our.connection;
        let seq = our.frame.seq;
        let differs = our.frame.syn && *initial.entry((stream, our.from)).or_insert(seq) != seq;
        if is_other || differs {
            again.insert(stream);
        }
    }
    (again, initial)
}

/// Compares what the programs find in a capture.
pub(crate) fn capture(path: &Path) -> Comparison {
    let (ours, theirs) = (tcplab::find(path), tshark::find(path));
    let is_capture = ours.is_some() || theirs.is_some();
    let readable = [ours.is_some(), theirs.is_some()];
    let (ours, notes) = ours.unwrap_or_default();
    let theirs = theirs.unwrap_or_default();
    let mut differences = Vec::new();
    if is_capture
        && readable != [true, true]
        && !(ours.packets.is_empty() && theirs.packets.is_empty())
    {
        let words = readable.map(|is| if is { "readable" } else { "not readable" });
        differences.push(Difference::new(0, None, words));
    } else {
        packets(&ours, &theirs, &mut differences);
    }
    let (again, initial) = streams_that_start_again(&ours, &theirs);
    let is_padded = |frame: &u64| {
        ours.packets.get(frame).is_some_and(|it| it.frame.oddity == Some(Oddity::Padding))
    };
    let padded = theirs.packets.iter().filter(|(frame, _)| is_padded(frame));
    let padded: HashSet<usize> = padded.map(|(_, packet)| packet.connection).collect();
    let is_damaged = notes.iter().any(|note| DAMAGE.iter().any(|words| note.contains(words)));
    for difference in &mut differences {
        let theirs = theirs.packets.get(&difference.frame);
        let ours = ours.packets.get(&difference.frame);
        let isn = ours.zip(theirs).and_then(|it| initial.get(&(it.1.connection, it.0.from)));
        let data = ours.filter(|it| it.frame.payload > 0 && !it.frame.syn);
        let case = Case {
            ours,
            theirs,
            is_at_syn: isn.is_some() && isn.copied() == data.map(|it| it.frame.seq),
            stream: StreamFacts {
                has_padding: theirs.is_some_and(|packet| padded.contains(&packet.connection)),
                starts_again: theirs.is_some_and(|packet| again.contains(&packet.connection)),
            },
            is_damaged,
        };
        difference.reason = reasons::of(difference, &case);
    }
    Comparison {
        path: path.to_owned(),
        is_capture,
        tcplab: Totals::of(&ours),
        tshark: Totals::of(&theirs),
        tcptrace: tcptrace::find(path),
        differences,
        notes,
    }
}

impl Difference {
    fn new(frame: u64, packet: Option<&Packet>, [ours, theirs]: [&str; 2]) -> Difference {
        let ends = packet.map_or_else(String::new, |it| format!("{} → {}", it.from, it.to));
        let evidence = packet.map_or_else(String::new, |it| it.evidence.clone());
        let (tcplab, tshark) = (ours.into(), theirs.into());
        Difference { frame, ends, tcplab, tshark, evidence, reason: None }
    }
}

fn packets(ours: &Found, theirs: &Found, into: &mut Vec<Difference>) {
    let firsts = |found: &Found| -> Vec<u64> {
        found.connections.iter().map(|connection| connection.first_frame).collect()
    };
    let (our_firsts, their_firsts) = (firsts(ours), firsts(theirs));
    let begins = |firsts: &[u64], frame: u64| firsts.binary_search(&frame).is_ok();
    // The connection of each of tshark's streams, as of its last packet.
    let mut joined: HashMap<usize, usize> = HashMap::new();
    let mut frames: Vec<u64> = ours.packets.keys().chain(theirs.packets.keys()).copied().collect();
    frames.sort_unstable();
    frames.dedup();
    for frame in frames {
        let (our, their) = match (ours.packets.get(&frame), theirs.packets.get(&frame)) {
            (Some(our), Some(their)) => (our, their),
            (our, their) => {
                let words = |is: bool| if is { "TCP" } else { "not TCP" };
                let pair = [words(our.is_some()), words(their.is_some())];
                into.push(Difference::new(frame, our.or(their), pair));
                continue;
            }
        };
        let mut differ = |pair: [&str; 2]| into.push(Difference::new(frame, Some(our), pair));
        let new = [begins(&our_firsts, frame), begins(&their_firsts, frame)];
        let before = joined.insert(their.connection, our.connection);
        if new[0] != new[1] {
            differ(new.map(|is| if is { "new connection" } else { "same connection" }));
        } else if before.is_some_and(|before| before != our.connection) && !new[1] {
            differ(["another connection", "same connection"]);
        }
        if our.bytes != their.bytes {
            differ([&format!("{} data bytes", our.bytes), &format!("{} data bytes", their.bytes)]);
        }
        if our.is_reset != their.is_reset {
            differ([our.is_reset, their.is_reset].map(|is| if is { "reset" } else { "no reset" }));
        }
        if !reasons::is_alike(our.name, their.name) {
            differ([our.name, their.name]);
        }
    }
}
