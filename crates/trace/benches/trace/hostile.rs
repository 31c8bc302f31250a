//! Captures made to hurt: each packet asks for more work than in a transfer that goes well.

use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use tcplab_units::Rng;
use tcplab_wire::TcpFlags;

use crate::frames::{Ends, MSS, Sent, Tap};

const US: u64 = 1_000;
/// Connections that a client address makes before the next address.
const PORTS: u64 = 50_000;

/// The connection of this number, each between ends of its own.
fn ends(number: u64) -> Ends {
    let (host, port) = (number / PORTS, 10_000 + number % PORTS);
    Ends {
        client: (Ipv4Addr::from_bits(0x0a03_0001 + host as u32), port as u16),
        server: (Ipv4Addr::new(10, 2, 0, 1), 80),
    }
}

fn syn() -> Sent {
    Sent { seq: 0, flags: TcpFlags::SYN, ..Sent::bare(true) }
}

fn syn_ack() -> Sent {
    Sent { seq: 0, flags: TcpFlags::SYN | TcpFlags::ACK, ..Sent::bare(false) }
}

/// Sends SYNs of `count` connections from everywhere, which nobody answers; the number of packets.
pub(crate) fn write_syns(path: &Path, count: u64, snap_len: u32) -> io::Result<u64> {
    let mut tap = Tap::create(path, snap_len)?;
    let mut rng = Rng::new(21, "syns");
    for number in 0..count {
        let client = (Ipv4Addr::from_bits(rng.next_u64() as u32), rng.next_u64() as u16);
        let ends = Ends { client, ..ends(0) };
        tap.see(number * US, &syn(), &ends, [number as u32, 0], number as u16)?;
    }
    finished(tap)
}

/// Opens `count` connections, one after the other, and then sends a request in each, so that all
/// of them live at once; the number of packets.
pub(crate) fn write_many(path: &Path, count: u64, snap_len: u32) -> io::Result<u64> {
    let mut tap = Tap::create(path, snap_len)?;
    let mut at = 0;
    let answer = Sent::bare(true);
    for number in 0..count {
        for sent in [syn(), syn_ack(), answer] {
            at += US;
            tap.see(at, &sent, &ends(number), [7, 9], number as u16)?;
        }
    }
    for number in 0..count {
        at += US;
        tap.see(at, &Sent { payload: 100, ..answer }, &ends(number), [7, 9], number as u16)?;
    }
    finished(tap)
}

/// One connection in which every other segment of each `WINDOW` is lost, and every ACK has three
/// blocks in another place; the number of packets.
pub(crate) fn write_blocks(path: &Path, segments: u64, snap_len: u32) -> io::Result<u64> {
    const WINDOW: u64 = 1_000;
    let mss = u64::from(MSS);
    let mut flood = Flood::open(path, snap_len)?;
    let mut rng = Rng::new(23, "blocks");
    let place = |segment: u64| 1 + segment * mss;
    for window in 0..segments / WINDOW {
        let first = window * WINDOW;
        for segment in first..first + WINDOW {
            flood.data(place(segment), MSS)?;
        }
        for _ in 0..WINDOW {
            // Odd segments arrived, the even ones did not.
            let mut block = || first + 1 + 2 * rng.below(WINDOW / 2);
            let sack = [block(), block(), block()].map(|at| (place(at), place(at + 1)));
            flood.ack(place(first), sack)?;
        }
        for segment in (first..first + WINDOW).step_by(2) {
            flood.data(place(segment), MSS)?;
        }
        flood.ack(place(first + WINDOW), [(0, 0); 3])?;
    }
    finished(flood.tap)
}

/// One connection whose segments begin and end anywhere in the window, each over many others; the
/// number of packets.
pub(crate) fn write_overlaps(path: &Path, segments: u64, snap_len: u32) -> io::Result<u64> {
    const EACH: u64 = 2_000;
    const WINDOW: u64 = 200_000;
    let mut flood = Flood::open(path, snap_len)?;
    let mut rng = Rng::new(25, "overlaps");
    for window in 0..segments / EACH {
        let first = 1 + window * WINDOW;
        flood.data(first, MSS)?;
        for _ in 1..EACH {
            let len = 1 + rng.below(u64::from(MSS));
            flood.data(first + rng.below(WINDOW - len), len as u32)?;
        }
        flood.ack(first + WINDOW, [(0, 0); 3])?;
    }
    finished(flood.tap)
}

/// One connection with many packets in a row.
struct Flood {
    tap: Tap,
    at: u64,
    ids: [u16; 2],
}

impl Flood {
    fn open(path: &Path, snap_len: u32) -> io::Result<Flood> {
        let mut flood = Flood { tap: Tap::create(path, snap_len)?, at: 0, ids: [0; 2] };
        for sent in [syn(), syn_ack(), Sent::bare(true)] {
            flood.see(sent)?;
        }
        Ok(flood)
    }

    fn data(&mut self, seq: u64, payload: u32) -> io::Result<()> {
        self.see(Sent { seq, payload, ..Sent::bare(true) })
    }

    fn ack(&mut self, ack: u64, sack: [(u64, u64); 3]) -> io::Result<()> {
        self.see(Sent { ack, sack, window: 8 << 20, ..Sent::bare(false) })
    }

    fn see(&mut self, sent: Sent) -> io::Result<()> {
        self.at += 10 * US;
        let clock = (self.at / 1_000_000) as u32 + 1;
        let id = &mut self.ids[usize::from(sent.from_client)];
        *id = id.wrapping_add(1);
        let sent = Sent { clock, echo: clock, ..sent };
        self.tap.see(self.at, &sent, &ends(0), [7, 9], *id)
    }
}

fn finished(tap: Tap) -> io::Result<u64> {
    let packets = tap.packets;
    tap.finish()?;
    Ok(packets)
}
