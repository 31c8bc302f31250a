//! Devices between the captures that change what packets bear.

use tcplab_wire::{SackBlock, SackBlocks};

use super::ChangedField as F;
use super::*;

/// The headers of a packet.
#[derive(Debug, Clone)]
struct Headers {
    up: bool,
    ip: Ipv4Repr,
    dscp: u8,
    tcp: TcpRepr,
}

impl Headers {
    fn bytes(&self, len: usize) -> Vec<u8> {
        let mut bytes = self.tcp.to_packet(&self.ip.into(), &vec![0; len]);
        let word = u16::from_be_bytes([bytes[0], bytes[1] | self.dscp << 2]);
        set_ip_word(&mut bytes, 0, word);
        bytes
    }
}

/// Sets 16 bits of an IPv4 header; its checksum stays right (RFC 1624).
pub(super) fn set_ip_word(bytes: &mut [u8], at: usize, word: u16) {
    let get = |at: usize| u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let sum = (!get(10) & 0xffff) + (!get(at) & 0xffff) + u32::from(word);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// A transfer of 200 segments through a device. One segment in 20 is lost and retransmitted; the
/// client's clock and the server's count milliseconds.
fn through(device: impl Fn(&mut Headers)) -> Joined {
    world_through(device).join(3_600_500_000_000, 0.0)
}

/// The same past no device.
pub(super) fn unchanged() -> World {
    world_through(|_| ())
}

fn world_through(device: impl Fn(&mut Headers)) -> World {
    const SACKED: u32 = 2_000_000;
    let mut world = World::default();
    let mut pass = |up: bool, at: u64, arrives: bool, seq: u32, ack: u32, len: u32| {
        let (client, server) = (Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(10, 0, 0, 2));
        let (src, dst) = if up { (client, server) } else { (server, client) };
        let syn = seq == if up { 1_000 } else { 5_000 };
        world.ids[usize::from(!up)] += 1;
        let ip = Ipv4Repr { src, dst, id: world.ids[usize::from(!up)], ttl: 64, ecn: Ecn::Ect0 };
        let flags = match (syn, up) {
            (true, true) => TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR,
            (true, false) => TcpFlags::SYN | TcpFlags::ACK | TcpFlags::ECE,
            _ => TcpFlags::ACK,
        };
        let block = SackBlock { left: SeqNumber::new(SACKED), right: SeqNumber::new(SACKED + ack) };
        let tcp = TcpRepr {
            src_port: if up { 40_000 } else { 80 },
            dst_port: if up { 80 } else { 40_000 },
            seq: SeqNumber::new(seq),
            ack: SeqNumber::new(ack),
            flags,
            window: 1_000 + (at / 3_000_000 % 50) as u16,
            mss: syn.then_some(1_460),
            window_scale: syn.then_some(7),
            sack_permitted: syn,
            timestamps: Some((at as u32 / 1_000_000, 1)),
            sack: if up || syn { SackBlocks::default() } else { std::iter::once(block).collect() },
            ..TcpRepr::default()
        };
        let mut headers = Headers { up, ip, dscp: 46, tcp };
        world.captures[usize::from(!up)].push(TestFrame { at, bytes: headers.bytes(len as usize) });
        if arrives {
            device(&mut headers);
            let bytes = headers.bytes(len as usize);
            world.captures[usize::from(up)].push(TestFrame { at: at + ONE_WAY, bytes });
        }
    };
    pass(true, 0, true, 1_000, 0, 0);
    pass(false, ONE_WAY, true, 5_000, 1_001, 0);
    let (sent, acks) = lossy(200);
    for (at, index, arrives) in sent {
        pass(true, at, arrives, 1_001 + index * 1_448, 5_001, 1_448);
    }
    for (at, index) in acks {
        pass(false, at, true, 5_001, 1_001 + index * 1_448, 0);
    }
    world
}

/// Field, value sent, value arrived, packets.
type Found = (F, Option<u32>, Option<u32>, u64);

fn changes(way: &Crossing) -> Vec<Found> {
    way.changes.iter().map(|it| (it.field, it.sent, it.arrived, it.packets)).collect()
}

/// Its name, what it does, and what of that is found on each way.
type Case = (&'static str, fn(&mut Headers), &'static [Found], &'static [Found]);

fn strip_stamps(it: &mut Headers) {
    if !it.tcp.flags.contains(TcpFlags::SYN) {
        it.tcp.timestamps = None;
    }
}

const ONE: Option<u32> = Some(1);

const CASES: [Case; 13] = [
    ("nothing", |_| {}, &[], &[]),
    (
        "timestamps removed from all but SYNs",
        strip_stamps,
        &[(F::Timestamps, ONE, None, 200)],
        &[(F::Timestamps, ONE, None, 200)],
    ),
    (
        "timestamps shifted, as by a firewall that hides uptimes",
        |it| it.tcp.timestamps = it.tcp.timestamps.map(|(v, e)| (v + 77_777, e)),
        &[(F::Timestamps, ONE, ONE, 201)],
        &[(F::Timestamps, ONE, ONE, 201)],
    ),
    (
        "the server's windows halved",
        |it| it.tcp.window /= if it.up { 1 } else { 2 },
        &[],
        &[(F::Window, None, None, 201)],
    ),
    (
        "SACK blocks removed",
        |it| it.tcp.sack = SackBlocks::default(),
        &[],
        &[(F::Sack, ONE, None, 200)],
    ),
    (
        "timestamps removed from the SYN",
        |it| {
            if it.up && it.tcp.flags.contains(TcpFlags::SYN) {
                it.tcp.timestamps = None;
            }
        },
        &[(F::Timestamps, ONE, None, 1)],
        &[],
    ),
    (
        "segment size",
        |it| it.tcp.mss = it.tcp.mss.map(|mss| if it.up { 1_360 } else { mss }),
        &[(F::Mss, Some(1_460), Some(1_360), 1)],
        &[],
    ),
    (
        "window scale",
        |it| it.tcp.window_scale = it.tcp.window_scale.filter(|_| !it.up),
        &[(F::WindowScale, Some(7), None, 1)],
        &[],
    ),
    (
        "SACK-permitted",
        |it| it.tcp.sack_permitted = false,
        &[(F::SackPermitted, ONE, None, 1)],
        &[(F::SackPermitted, ONE, None, 1)],
    ),
    (
        "flags of ECN",
        |it| it.tcp.flags = it.tcp.flags.without(TcpFlags::ECE | TcpFlags::CWR),
        &[(F::EcnFlags, Some(3), Some(0), 1)],
        &[(F::EcnFlags, ONE, Some(0), 1)],
    ),
    (
        "hops",
        |it| it.ip.ttl -= 7,
        &[(F::Ttl, Some(64), Some(57), 201)],
        &[(F::Ttl, Some(64), Some(57), 201)],
    ),
    (
        "bleached on the way to the server",
        |it| {
            if it.up {
                (it.ip.ecn, it.dscp) = (Ecn::NotEct, 0);
            }
        },
        &[(F::Dscp, Some(46), Some(0), 201), (F::Ecn, Some(2), Some(0), 201)],
        &[],
    ),
    (
        "marked where the identification is a multiple of 10",
        |it| {
            if it.up && it.ip.id.is_multiple_of(10) {
                it.ip.ecn = Ecn::Ce;
            }
        },
        // 211 are sent; of the ten that are lost none has such a number.
        &[(F::Ecn, Some(2), Some(3), 21)],
        &[],
    ),
];

/// Whatever a device changes, what it lets through has arrived, and each change is counted.
#[test]
fn join_knows_packets_that_a_device_changed() {
    for (name, device, forward, reverse) in CASES {
        let joined = through(device);
        assert_eq!(joined.connections.len(), 1, "{name}");
        let there = &joined.connections[0].forward;
        let back = &joined.connections[0].reverse;
        let counts = |way: &Crossing| (way.sent, way.arrived, way.lost, way.retransmissions);
        assert_eq!(counts(there), (211, 201, 10, 10), "{name}: {:?}", joined.notes);
        assert_eq!(counts(back), (201, 201, 0, 0), "{name}: {:?}", joined.notes);
        for way in [there, back] {
            let others = [way.not_captured_at_sender, way.not_captured_at_receiver, way.not_judged];
            assert_eq!((others, way.spurious, way.reordered), ([0; 3], 0, 0), "{name}");
            assert_eq!(way.delay.unwrap().max.as_nanos(), ONE_WAY, "{name}");
        }
        assert_eq!(joined.clock.offset_nanos, Some(3_600_500_000_000), "{name}");
        assert_eq!((changes(there), changes(back)), (forward.to_vec(), reverse.to_vec()), "{name}");
    }
}

/// Data in packets of more than one segment, which the device's segment size cuts.
#[test]
fn join_cuts_by_the_segment_size_that_the_sender_saw() {
    let mut world = World::default();
    let syn = |world: &mut World, up: bool, mss: u16| {
        let (seq, ack) = if up { (1_000, 0) } else { (5_000, 1_001) };
        let flags = if up { TcpFlags::SYN } else { TcpFlags::SYN | TcpFlags::ACK };
        let mut bytes = world.packet(up, seq, ack, 0, flags);
        let new = mss.to_be_bytes();
        let sum = u16::from_be_bytes([bytes[36], bytes[37]]);
        let sum = (u32::from(!sum) + u32::from(!(MSS as u16)) + u32::from(mss)) % 0xffff;
        bytes[42..44].copy_from_slice(&new);
        bytes[36..38].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        bytes
    };
    // The server learns of 1,360 bytes, the client of 1,460.
    let sent = syn(&mut world, true, 1_460);
    world.captures[0].push(TestFrame { at: 0, bytes: sent });
    world.ids[0] = 0;
    let arrived = syn(&mut world, true, 1_360);
    world.captures[1].push(TestFrame { at: ONE_WAY, bytes: arrived });
    let answer = syn(&mut world, false, 1_460);
    world.pass(false, ONE_WAY, Some(ONE_WAY), answer);
    for burst in 0..50_u32 {
        let at = 100_000_000 + u64::from(burst) * 10_000_000;
        let ids = world.ids[1];
        let first = 5_001 + burst * 4 * 1_360;
        let large = world.packet(false, first, 1_001, 4 * 1_360, TcpFlags::ACK);
        world.captures[1].push(TestFrame { at, bytes: large });
        // Merged on arrival, too, two and two.
        for half in 0..2 {
            world.ids[1] = ids + 2 * half as u16;
            let from = first + half * 2 * 1_360;
            let bytes = world.packet(false, from, 1_001, 2 * 1_360, TcpFlags::ACK);
            let at = at + ONE_WAY + u64::from(half) * 100_000;
            world.captures[0].push(TestFrame { at, bytes });
        }
        world.ids[1] = ids + 4;
        world.ack(at + ONE_WAY + 300_000, Some(ONE_WAY), 0);
    }
    let joined = world.join(0, 0.0);
    let way = &joined.connections[0].reverse;
    assert_eq!((way.sent, way.arrived, way.lost), (251, 251, 0), "{way:?}");
}
