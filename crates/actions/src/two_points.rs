//! Whether two captures hold the same packets, taken at two points.
//!
//! Merged, each packet would look duplicated by the network. The beginnings of both are compared:
//! the same packets at other times are two capture points, at the same times copies of a capture.
//! The client's capture is the one where the SYN-ACK takes longer to follow the SYN, whatever the
//! clocks say.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tcplab_capture::UnixTime;
use tcplab_wire::{FrameView, LinkType, TcpFlags, TcpPacket};

use crate::captures::{is_stdin, open};

/// As many TCP packets of each capture are compared.
const LOOKED_AT: usize = 4_000;
/// As many frames are read for them at most.
const FRAMES: usize = 40_000;
/// The least packets that both have.
const COMMON: usize = 3;

/// A packet as both captures have it; addresses, numbers and flags are unchanged on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Mark {
    from: SocketAddr,
    to: SocketAddr,
    seq: u32,
    ack: u32,
    flags: TcpFlags,
    payload: u32,
    clocks: Option<(u32, u32)>,
}

/// The captures of the client and the server, if these are two of the same connections; which is
/// which only where a handshake shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoPoints<'a> {
    /// The client's, if `is_certain`.
    pub client: &'a Path,
    /// The other one.
    pub server: &'a Path,
    /// Whether a handshake shows which is which.
    pub is_certain: bool,
}

/// The first two of these captures that hold the same packets at two points.
pub fn find_two_points(files: &[PathBuf]) -> Option<TwoPoints<'_>> {
    if files.len() < 2 || files.iter().any(|file| is_stdin(file)) {
        return None;
    }
    let looked_at: Vec<_> = files.iter().map(|file| beginning(file)).collect();
    for (index, one) in looked_at.iter().enumerate() {
        for (other_index, other) in looked_at.iter().enumerate().skip(index + 1) {
            if are_two_points(one, other) {
                let [one_waits, other_waits] = answer_times(one, other);
                let (client, server) = if other_waits > one_waits {
                    (&files[other_index], &files[index])
                } else {
                    (&files[index], &files[other_index])
                };
                return Some(TwoPoints { client, server, is_certain: one_waits != other_waits });
            }
        }
    }
    None
}

/// The first packets of a capture and their times, nanoseconds; the first of equal ones.
fn beginning(file: &Path) -> HashMap<Mark, u64> {
    let mut marks = HashMap::new();
    let Ok(mut reader) = open(file) else { return marks };
    for _ in 0..FRAMES {
        let Ok(Some(record)) = reader.next_record() else { break };
        let Some(time) = record.time.map(UnixTime::as_nanos) else { continue };
        let (interface, original_len) = (record.interface as usize, record.original_len);
        let captured = record.captured.to_vec();
        let link = reader.interfaces().get(interface).map(|it| it.link_type);
        let Some(link) = link.map(LinkType::from_number) else { continue };
        if let Some(tcp) = FrameView::new(link, &captured, original_len).tcp() {
            marks.entry(mark(&tcp)).or_insert(time);
        }
        if marks.len() >= LOOKED_AT {
            break;
        }
    }
    marks
}

fn mark(tcp: &TcpPacket<'_>) -> Mark {
    Mark {
        from: (tcp.src(), tcp.src_port()).into(),
        to: (tcp.dst(), tcp.dst_port()).into(),
        seq: tcp.seq().as_u32(),
        ack: tcp.ack().as_u32(),
        flags: tcp.flags(),
        payload: tcp.payload_len(),
        clocks: tcp.only_timestamps(),
    }
}

/// Whether at least half of the smaller beginning is in the other one, and not at the same times.
fn are_two_points(one: &HashMap<Mark, u64>, other: &HashMap<Mark, u64>) -> bool {
    let common = || one.iter().filter_map(|(mark, time)| Some((time, other.get(mark)?)));
    let count = common().count();
    let at_other_times = common().filter(|(time, other)| time != other).count();
    count >= COMMON && count * 2 >= one.len().min(other.len()) && at_other_times * 2 > count
}

/// In each, how long the SYN-ACKs of common handshakes took after their SYNs.
fn answer_times(one: &HashMap<Mark, u64>, other: &HashMap<Mark, u64>) -> [u64; 2] {
    let mut sums = [0_u64; 2];
    for (syn, times) in
        one.iter().filter_map(|(mark, time)| Some((mark, [*time, *other.get(mark)?])))
    {
        if !syn.flags.contains(TcpFlags::SYN) || syn.flags.contains(TcpFlags::ACK) {
            continue;
        }
        let answers = |mark: &&Mark| {
            mark.flags.contains(TcpFlags::SYN | TcpFlags::ACK)
                && (mark.from, mark.to) == (syn.to, syn.from)
                && mark.ack == syn.seq.wrapping_add(1)
        };
        let Some(answer) = one.keys().filter(answers).find(|mark| other.contains_key(mark)) else {
            continue;
        };
        for (sum, (answered, asked)) in
            sums.iter_mut().zip([one[answer], other[answer]].into_iter().zip(times))
        {
            *sum = sum.saturating_add(answered.saturating_sub(asked));
        }
    }
    sums
}
