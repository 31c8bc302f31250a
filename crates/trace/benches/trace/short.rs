//! Many short connections, interleaved: a request, a response, the end; some of them with losses,
//! refused, reset, never closed, or between the same ends as an earlier one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use tcplab_units::Rng;
use tcplab_wire::TcpFlags;

use crate::frames::{Ends, MSS, Sent, Tap};

const MS: u64 = 1_000_000;
/// A connection begins each millisecond.
const EVERY: u64 = MS;
const CLIENTS: u64 = 200;
const SERVERS: u64 = 40;
/// Ports of a client before it begins anew.
const PORTS: u64 = 500;

struct Connection {
    ends: Ends,
    initial: [u32; 2],
    script: Vec<(u64, Sent)>,
}

/// Writes `count` connections; the number of packets.
pub(crate) fn write(path: &Path, count: u64, snap_len: u32) -> io::Result<u64> {
    let mut tap = Tap::create(path, snap_len)?;
    let mut rng = Rng::new(11, "short");
    // What passes next of each: when, of which, and which of its packets.
    let mut next: BinaryHeap<Reverse<(u64, u64, usize)>> = BinaryHeap::new();
    let mut live: std::collections::BTreeMap<u64, Connection> = std::collections::BTreeMap::new();
    let mut id = 0_u16;
    for begun in 0..=count {
        let begins = if begun < count { begun * EVERY } else { u64::MAX };
        while let Some(&Reverse((at, number, step))) = next.peek()
            && at < begins
        {
            next.pop();
            let connection = &live[&number];
            id = id.wrapping_add(1);
            tap.see(at, &connection.script[step].1, &connection.ends, connection.initial, id)?;
            if let Some(&(at, _)) = connection.script.get(step + 1) {
                next.push(Reverse((at, number, step + 1)));
            } else {
                live.remove(&number);
            }
        }
        if begun < count {
            live.insert(begun, connection(begun, begins, &mut rng));
            next.push(Reverse((begins, begun, 0)));
        }
    }
    let packets = tap.packets;
    tap.finish()?;
    Ok(packets)
}

fn connection(number: u64, begins: u64, rng: &mut Rng) -> Connection {
    let client = number % CLIENTS;
    let port = 32_768 + (number / CLIENTS) % PORTS;
    let server = rng.below(SERVERS);
    let ends = Ends {
        client: (Ipv4Addr::new(10, 1, (client / 250) as u8, (client % 250) as u8 + 1), port as u16),
        server: (Ipv4Addr::new(10, 2, 0, server as u8 + 1), 80),
    };
    let initial = [rng.next_u64() as u32, rng.next_u64() as u32];
    let mut script =
        Script { at: begins, packets: Vec::new(), round_trip: MS * (1 + rng.below(80)) };
    script.play(rng);
    Connection { ends, initial, script: script.packets }
}

struct Script {
    at: u64,
    packets: Vec<(u64, Sent)>,
    round_trip: u64,
}

impl Script {
    fn put(&mut self, after: u64, sent: Sent) {
        self.at += after;
        let clock = (self.at / MS) as u32 + 1;
        self.packets.push((self.at, Sent { clock, echo: clock.saturating_sub(1), ..sent }));
    }

    /// The tap stands beside the client.
    fn play(&mut self, rng: &mut Rng) {
        let (rtt, fin) = (self.round_trip, TcpFlags::FIN | TcpFlags::ACK);
        let client = |seq: u64, ack: u64| Sent { seq, ack, ..Sent::bare(true) };
        let server = |seq: u64, ack: u64| Sent { seq, ack, ..Sent::bare(false) };
        let syn = Sent { seq: 0, flags: TcpFlags::SYN, ..Sent::bare(true) };
        self.put(0, syn);
        let fate = rng.below(1_000);
        if fate < 10 {
            // Nobody answers.
            for wait in [1_000, 2_000, 4_000] {
                self.put(wait * MS, syn);
            }
            return;
        }
        if fate < 20 {
            let refusal = TcpFlags::RST | TcpFlags::ACK;
            return self.put(rtt, Sent { seq: 0, ack: 1, flags: refusal, ..Sent::bare(false) });
        }
        let syn_ack = TcpFlags::SYN | TcpFlags::ACK;
        self.put(rtt, Sent { seq: 0, ack: 1, flags: syn_ack, ..Sent::bare(false) });
        self.put(20_000, client(1, 1));
        let asked = 1 + 100 + rng.below(500);
        let request = Sent { payload: asked as u32 - 1, ..client(1, 1) };
        self.put(50_000, request);
        if fate < 40 {
            self.put(230 * MS, request);
        }
        self.put(rtt, server(1, asked));
        let place = self.respond(asked, if fate < 70 { 2 } else { u64::MAX }, rng);
        if (970..985).contains(&fate) {
            return self
                .put(MS, Sent { flags: TcpFlags::RST | TcpFlags::ACK, ..client(asked, place) });
        }
        if fate >= 985 {
            return;
        }
        self.put(5 * MS, Sent { flags: fin, ..client(asked, place) });
        self.put(rtt, Sent { flags: fin, ..server(place, asked + 1) });
        self.put(20_000, client(asked + 1, place + 1));
    }

    /// The response: where it ends. The segment `lost` does not reach the tap at first.
    fn respond(&mut self, asked: u64, lost: u64, rng: &mut Rng) -> u64 {
        let segments = 1 + rng.below(10);
        let (mut place, mut hole) = (1, None);
        for index in 0..segments {
            let last = index + 1 == segments;
            let len = if last { 1 + rng.below(u64::from(MSS)) } else { u64::from(MSS) };
            let data = Sent { payload: len as u32, seq: place, ack: asked, ..Sent::bare(false) };
            place += len;
            if index == lost && !last {
                hole = Some(data);
                continue;
            }
            self.put(120_000, data);
            let answer = Sent { seq: asked, ack: place, ..Sent::bare(true) };
            match hole {
                Some(missing) => {
                    let above = missing.seq + u64::from(missing.payload);
                    let sack = [(above, place), (0, 0), (0, 0)];
                    self.put(10_000, Sent { ack: missing.seq, sack, ..answer });
                }
                None if index % 2 == 1 || last => self.put(10_000, answer),
                None => {}
            }
        }
        if let Some(missing) = hole {
            self.put(self.round_trip, missing);
            self.put(10_000, Sent { seq: asked, ack: place, ..Sent::bare(true) });
        }
        place
    }
}
