//! What became of packets: by the path of tcplab, or by what a kernel sent.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use tcplab_path::{Departure, Direction, Fate, Link, LinkPlan, Packet};
use tcplab_units::{Instant, Span};
use tcplab_wire::{ChecksumState, Ecn, FrameView, IpRepr, Ipv4Repr, UdpPacket, UdpRepr};

use super::arrivals::Arrival;

/// Packets that were sent, and what came out.
#[derive(Debug, Clone)]
pub(crate) struct Crossing {
    pub(crate) arrivals: Vec<Arrival>,
    /// In their order.
    pub(crate) left: Vec<Left>,
}

/// A packet that came out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    /// Which case it belongs to.
    pub(crate) case: u16,
    /// Which of the packets that were sent it is, or is a copy of.
    pub(crate) index: usize,
    /// When, in ns, as its arrival.
    pub(crate) at: u64,
    pub(crate) is_marked: bool,
    pub(crate) is_corrupted: bool,
    /// Where in the padding of its payload a bit is wrong, as a share of that.
    pub(crate) wrong_at: Option<f64>,
}

/// Prime to the intervals of the elements.
const LEAD_NANOS: u64 = 1_700_003;
/// IPv4 and UDP.
const HEADERS: usize = 28;
/// The number of the case and of the packet.
const NAME: usize = 6;

impl Left {
    /// Reads what the source wrote, even if one bit is wrong.
    pub(crate) fn of(at: u64, packet: &[u8]) -> Option<Left> {
        let names = packet.get(HEADERS..HEADERS + 3 * NAME)?;
        let [one, two, three] = [0, 1, 2].map(|it| &names[it * NAME..(it + 1) * NAME]);
        let majority =
            |it: usize| (one[it] & two[it]) | (two[it] & three[it]) | (one[it] & three[it]);
        let padding = &packet[HEADERS + 3 * NAME..];
        let wrong = padding.iter().position(|byte| *byte != 0);
        let ip = FrameView::of_packet(packet).ip();
        let is_right = ip.is_some_and(|ip| {
            let udp = UdpPacket::of(ip).map(|udp| udp.checksum_state());
            ip.header_checksum_is_right() && udp == Some(ChecksumState::Right)
        });
        Some(Left {
            case: u16::from_le_bytes([majority(0), majority(1)]),
            index: u32::from_le_bytes([majority(2), majority(3), majority(4), majority(5)])
                as usize,
            at,
            is_marked: is_right && ip.is_some_and(|ip| ip.ecn() == Ecn::Ce),
            is_corrupted: !is_right,
            wrong_at: wrong.map(|position| position as f64 / padding.len() as f64),
        })
    }
}

impl Crossing {
    /// What a path of tcplab does to these packets. The first comes some time after the path's
    /// zero, another for each seed: what happens at even intervals has another phase in each.
    pub(crate) fn of_path(plan: &LinkPlan, seed: u64, arrivals: &[Arrival]) -> Crossing {
        let start = arrivals.first().map_or(0, |first| first.at) - seed * LEAD_NANOS;
        let mut link = Link::new(plan, seed, Direction::Forward);
        let mut left = Vec::new();
        let mut step = |link: &mut Link, until: Instant| {
            while let Some(departure) = link.poll(until) {
                left.extend(came_out(start, &departure));
            }
        };
        for (index, arrival) in arrivals.iter().enumerate() {
            let now = Instant::ZERO + Span::from_nanos(arrival.at - start);
            step(&mut link, now);
            link.handle_packet(now, Packet::new(index as u64, bytes(index, arrival)));
        }
        while let Some(at) = link.poll_at() {
            step(&mut link, at);
        }
        Crossing { arrivals: arrivals.to_vec(), left }
    }

    /// How many times each packet came out.
    fn times(&self) -> Vec<u32> {
        let mut times = vec![0; self.arrivals.len()];
        for left in &self.left {
            times[left.index] += 1;
        }
        times
    }

    /// For each packet, whether it never came out.
    pub(crate) fn lost(&self) -> Vec<bool> {
        self.times().into_iter().map(|times| times == 0).collect()
    }

    /// Of all packets.
    pub(crate) fn losses(&self) -> (u64, u64) {
        let lost = self.lost();
        (lost.iter().filter(|it| **it).count() as u64, lost.len() as u64)
    }

    /// How many losses there are in a row, each time.
    pub(crate) fn loss_runs(&self) -> Vec<f64> {
        let lost = self.lost();
        let runs = lost.chunk_by(|one, next| one == next);
        runs.filter(|run| run[0]).map(|run| run.len() as f64).collect()
    }

    /// How many packets pass between two losses, each time.
    pub(crate) fn gaps(&self) -> Vec<f64> {
        let lost = self.lost();
        let runs = lost.chunk_by(|one, next| one == next);
        runs.filter(|run| !run[0]).map(|run| run.len() as f64).collect()
    }

    /// Packets that came out twice, of all.
    pub(crate) fn duplicates(&self) -> (u64, u64) {
        let times = self.times();
        (times.iter().filter(|it| **it > 1).count() as u64, times.len() as u64)
    }

    /// Corrupted packets, of those that came out.
    pub(crate) fn corrupted(&self) -> (u64, u64) {
        self.count(|left| left.is_corrupted)
    }

    /// Marked packets, of those that came out.
    pub(crate) fn marked(&self) -> (u64, u64) {
        self.count(|left| left.is_marked)
    }

    fn count(&self, is_one: impl Fn(&Left) -> bool) -> (u64, u64) {
        (self.left.iter().filter(|left| is_one(left)).count() as u64, self.left.len() as u64)
    }

    /// Packets that came out after one that was sent later (RFC 4737 §3.3), of those that came out.
    pub(crate) fn reordered(&self) -> (u64, u64) {
        let mut next = 0;
        let mut reordered = 0;
        for left in &self.left {
            reordered += u64::from(left.index < next);
            next = next.max(left.index + 1);
        }
        (reordered, self.left.len() as u64)
    }

    /// Of each reordered packet, how many that were sent later came out before it.
    pub(crate) fn overtakers(&self) -> Vec<f64> {
        let mut seen = Vec::new();
        let counts = self.left.iter().map(|left| {
            let earlier = seen.partition_point(|it| *it <= left.index);
            seen.insert(earlier, left.index);
            seen.len() - 1 - earlier
        });
        counts.filter(|count| *count > 0).map(|count| count as f64).collect()
    }

    /// Where bits are wrong.
    pub(crate) fn wrong_bits(&self) -> Vec<f64> {
        self.left.iter().filter_map(|left| left.wrong_at).collect()
    }

    /// How long each packet took that came out, in ms.
    pub(crate) fn delays(&self) -> Vec<f64> {
        let delay = |left: &Left| left.at - self.arrivals[left.index].at;
        self.left.iter().map(|left| delay(left) as f64 / 1e6).collect()
    }

    /// The time between a packet that came out and the next, in ms.
    pub(crate) fn distances(&self) -> Vec<f64> {
        self.left.windows(2).map(|pair| (pair[1].at - pair[0].at) as f64 / 1e6).collect()
    }

    /// The time between a marked packet that came out and the next, in ms.
    pub(crate) fn between_marks(&self) -> Vec<f64> {
        let marked: Vec<u64> =
            self.left.iter().filter(|left| left.is_marked).map(|left| left.at).collect();
        marked.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect()
    }

    /// When each packet came out, by its number; of copies the first.
    pub(crate) fn departures(&self) -> BTreeMap<usize, u64> {
        let mut departures = BTreeMap::new();
        for left in &self.left {
            departures.entry(left.index).or_insert(left.at);
        }
        departures
    }

    /// The same packets of one flow alone.
    pub(crate) fn flow(&self, flow: u16) -> Crossing {
        let is_its = |index: usize| self.arrivals[index].flow == flow;
        let kept = (0..self.arrivals.len()).filter(|index| is_its(*index));
        let numbers: BTreeMap<usize, usize> = kept.zip(0..).collect();
        Crossing {
            arrivals: numbers.keys().map(|index| self.arrivals[*index]).collect(),
            left: self
                .left
                .iter()
                .filter_map(|left| Some(Left { index: *numbers.get(&left.index)?, ..*left }))
                .collect(),
        }
    }
}

fn came_out(start: u64, departure: &Departure) -> Option<Left> {
    let Departure { packet, verdict } = departure;
    let is_out = verdict.fate == Fate::Delivered;
    is_out.then(|| Left::of(start + verdict.left.as_nanos(), &packet.bytes)).flatten()
}

/// The packet as the source in the guest sends it.
fn bytes(index: usize, arrival: &Arrival) -> Vec<u8> {
    let [src, dst] = [9, 2].map(|last| Ipv4Addr::new(10, 98, 0, last));
    let ecn = if arrival.is_ect { Ecn::Ect0 } else { Ecn::NotEct };
    let ip = IpRepr::V4(Ipv4Repr { src, dst, id: 0, ttl: 64, ecn });
    let mut name = [0; NAME];
    name[2..].copy_from_slice(&(index as u32).to_le_bytes());
    let mut payload = name.repeat(3);
    payload.resize(arrival.size - HEADERS, 0);
    UdpRepr { src_port: 20_000 + arrival.flow, dst_port: 9 }.to_packet(&ip, &payload)
}
