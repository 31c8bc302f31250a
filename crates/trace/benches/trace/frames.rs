//! Packets of two ends as Ethernet frames in a capture file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::net::Ipv4Addr;
use std::path::Path;

use tcplab_capture::{PcapWriter, UnixTime};
use tcplab_wire::{Ecn, IpRepr, Ipv4Repr, SackBlock, SeqNumber, TcpFlags, TcpRepr};

/// Bytes of data in a full segment: 1500 less IP and TCP headers with timestamps.
pub(crate) const MSS: u32 = 1448;
/// The shift of all windows.
const SCALE: u8 = 7;
const ETHERNET: u16 = 1;
const ETHERNET_HEADER: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
/// 2026-01-01, in nanoseconds since 1970.
const BEGIN: u64 = 1_767_225_600_000_000_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) client: (Ipv4Addr, u16),
    pub(crate) server: (Ipv4Addr, u16),
}

/// One packet; numbers relative to the initial ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) from_client: bool,
    pub(crate) seq: u64,
    pub(crate) ack: u64,
    pub(crate) flags: TcpFlags,
    pub(crate) payload: u32,
    /// In bytes.
    pub(crate) window: u32,
    pub(crate) clock: u32,
    pub(crate) echo: u32,
    /// At most three: beside timestamps there is no room for more.
    pub(crate) sack: [(u64, u64); 3],
}

impl Sent {
    /// A packet without data or any news.
    pub(crate) fn bare(from_client: bool) -> Sent {
        Sent {
            from_client,
            seq: 1,
            ack: 1,
            flags: TcpFlags::ACK,
            payload: 0,
            window: 2 << 20,
            clock: 1,
            echo: 1,
            sack: [(0, 0); 3],
        }
    }

    /// The frame of this packet between `ends`, of a connection that began with these numbers.
    pub(crate) fn frame(&self, ends: &Ends, initial: [u32; 2], id: u16, frame: &mut Vec<u8>) {
        static DATA: [u8; MSS as usize] = [0x5a; MSS as usize];
        let (src, dst, own, other) = if self.from_client {
            (ends.client, ends.server, initial[0], initial[1])
        } else {
            (ends.server, ends.client, initial[1], initial[0])
        };
        let place = |base: u32, at: u64| SeqNumber::new(base.wrapping_add(at as u32));
        let syn = self.flags.contains(TcpFlags::SYN);
        let acks = self.flags.contains(TcpFlags::ACK);
        let blocks = self.sack.iter().filter(|(left, right)| left < right);
        let window = if syn { self.window.min(65_535) } else { self.window >> SCALE };
        let tcp = TcpRepr {
            src_port: src.1,
            dst_port: dst.1,
            seq: place(own, self.seq),
            ack: if acks { place(other, self.ack) } else { SeqNumber::new(0) },
            flags: self.flags,
            window: window as u16,
            urgent_pointer: 0,
            mss: syn.then_some(1460),
            window_scale: syn.then_some(SCALE),
            sack_permitted: syn,
            timestamps: Some((self.clock, self.echo)),
            sack: blocks
                .map(|&(left, right)| SackBlock {
                    left: place(other, left),
                    right: place(other, right),
                })
                .collect(),
            ..TcpRepr::default()
        };
        let ip = IpRepr::V4(Ipv4Repr { src: src.0, dst: dst.0, id, ttl: 64, ecn: Ecn::NotEct });
        frame.clear();
        frame.extend_from_slice(&ETHERNET_HEADER);
        tcp.emit(&ip, &DATA[..self.payload as usize], frame);
    }
}

/// A capture file in the making.
pub(crate) struct Tap {
    out: PcapWriter<BufWriter<File>>,
    frame: Vec<u8>,
    pub(crate) packets: u64,
}

impl Tap {
    pub(crate) fn create(path: &Path, snap_len: u32) -> io::Result<Tap> {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let out = PcapWriter::new(file, ETHERNET, snap_len)?;
        Ok(Tap { out, frame: Vec::new(), packets: 0 })
    }

    /// A packet passes; `at` in nanoseconds from the beginning.
    pub(crate) fn see(
        &mut self,
        at: u64,
        sent: &Sent,
        ends: &Ends,
        initial: [u32; 2],
        id: u16,
    ) -> io::Result<()> {
        sent.frame(ends, initial, id, &mut self.frame);
        self.packets += 1;
        let time = UnixTime::from_nanos(BEGIN + at);
        self.out.write_packet(time, &self.frame, self.frame.len() as u32)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.out.finish().map(|_| ())
    }
}
