//! A model of a stack with a peer that sends what it likes, and scripts for one.

use std::sync::Arc;

use tcplab_packetdrill::{Definitions, Model, Script, run};
use tcplab_scenario::Profile;
use tcplab_stack::congestion::{NAMES, by_name};
use tcplab_stack::{
    Config, Connection, Data, FastAnswer, Opening, Segment, SocketOption, SocketOptions,
};
use tcplab_units::{Bytes, Instant, Span};
use tcplab_wire::{Ecn, SackBlock, SeqNumber, TcpFlags, TcpRepr};

/// Where the streams begin: both wrap soon.
const OURS: SeqNumber = SeqNumber::new(0xffff_f000);
const PEERS: SeqNumber = SeqNumber::new(0xffff_ff00);

/// More segments than any window that can be asked for here.
const MOST_AT_ONCE: u32 = 200_000;

/// A script: what can be read runs to its end.
pub(crate) fn packetdrill(bytes: &[u8]) {
    let Ok(source) = str::from_utf8(bytes) else { return };
    match Script::parse(source, &Definitions::default()) {
        Ok(script) => drop(run(&script, &mut Model::new(Config::default()))),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A connection whose application and peer do what the bytes say. What leaves is the stream that
/// was written, what is read is the stream that was sent, whatever else the peer has said.
pub(crate) fn stack(bytes: &[u8]) {
    let mut script = Bytewise(bytes);
    let Some(mut end) = End::open(&mut script) else { return };
    end.send();
    while let Some(step) = script.byte() {
        end.step(step, &mut script);
        end.send();
        end.wake();
    }
}

/// The byte of either stream at `position` behind its SYN.
fn pattern(position: u32) -> u8 {
    (position.wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn stream(from: u32, len: u32) -> Vec<u8> {
    (0..len).map(|index| pattern(from.wrapping_add(index))).collect()
}

/// Where in its stream the data of a segment lies.
fn position(header: &TcpRepr, initial: SeqNumber) -> u32 {
    let syn = u32::from(!header.flags.contains(TcpFlags::SYN));
    (header.seq.distance_from(initial) as u32).wrapping_sub(syn)
}

/// The bytes one after the other.
struct Bytewise<'a>(&'a [u8]);

impl Bytewise<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> u32 {
        u32::from(self.byte().unwrap_or(0))
    }

    /// Near zero as a rule, anywhere at times.
    fn offset(&mut self) -> u32 {
        match self.byte().unwrap_or(64) {
            near @ 0..=127 => u32::from(near).wrapping_sub(64),
            128..=191 => self.number().wrapping_mul(1_460),
            192..=223 => self.number().wrapping_mul(1_460).wrapping_neg(),
            _ => self.number().wrapping_mul(0x0101_0101),
        }
    }
}

struct End {
    now: Instant,
    connection: Connection,
    /// What the peer would acknowledge, and what it is to send next.
    sent: SeqNumber,
    expected: SeqNumber,
    /// The last timestamp seen.
    timestamp: u32,
    written: u32,
    read: u32,
}

impl End {
    fn open(script: &mut Bytewise<'_>) -> Option<End> {
        let profiles: Vec<&str> = Profile::names().collect();
        let name = profiles[usize::from(script.byte()?) % profiles.len()];
        let config = Arc::new(Profile::named(name).expect("it is one of them").config);
        let congestion = NAMES[usize::from(script.byte()?) % NAMES.len()];
        let opening = Opening {
            initial_sequence: OURS,
            timestamp_offset: u32::MAX - 1_000,
            mtu: 1_500,
            ip_header: 20,
            congestion: by_name(congestion).expect("it is one of them"),
        };
        let mut options = SocketOptions::of(&config);
        options.set(SocketOption::UrgentInline(true));
        let now = Instant::ZERO;
        let passive = script.byte()? % 2 == 1;
        let connection = if passive {
            let syn = segment(script, PEERS, OURS, 0, true);
            Connection::accept_with(now, &config, &options, opening, &syn, FastAnswer::Plain)?
        } else {
            Connection::connect_with(now, &config, &options, opening, None)
        };
        let (sent, expected) = (OURS, PEERS.advanced_by(u32::from(passive)));
        Some(End { now, connection, sent, expected, timestamp: 0, written: 0, read: 0 })
    }

    fn step(&mut self, step: u8, script: &mut Bytewise<'_>) {
        match step % 8 {
            0..=2 => {
                let opening = !self.connection.state().is_synchronized();
                let heard = segment(script, self.expected, self.sent, self.timestamp, opening);
                self.connection.handle_segment(self.now, &heard);
            }
            3 => self.now += Span::from_millis(u64::from(script.number()).pow(2)),
            4 => {
                let data = stream(self.written, script.number() * 64);
                let taken = self.connection.write(self.now, &data).unwrap_or(0);
                self.written += u32::try_from(taken).expect("no more than was given");
            }
            5 => self.take(script.number() * 64),
            6 => match script.number() % 8 {
                0 => self.connection.shutdown(self.now),
                1 => self.connection.close(self.now),
                2 => self.connection.abort(self.now),
                _ => self.connection.lower_mtu(self.now, (script.number() * 8) as u16),
            },
            _ => self.connection.set_option(self.now, option(script)),
        }
    }

    fn take(&mut self, most: u32) {
        let mut room = vec![0; most as usize];
        let Ok(count) = self.connection.read(self.now, &mut room) else { return };
        let count = u32::try_from(count).expect("no more than there was room for");
        assert!(room[..count as usize] == stream(self.read, count), "read at {}", self.read);
        self.read += count;
    }

    /// What leaves is of the stream that was written, and comes to an end.
    fn send(&mut self) {
        let mut count = 0;
        while let Some(transmit) = self.connection.poll_transmit(self.now) {
            for sent in transmit.cut() {
                count += 1;
                assert!(count < MOST_AT_ONCE, "it does not stop sending");
                self.hear(&sent);
            }
        }
    }

    fn hear(&mut self, sent: &Segment) {
        let header = &sent.header;
        let length = sent.len()
            + u32::from(header.flags.contains(TcpFlags::SYN))
            + u32::from(header.flags.contains(TcpFlags::FIN));
        let end = header.seq.advanced_by(length);
        if end.is_after(self.sent) {
            self.sent = end;
        }
        if header.flags.contains(TcpFlags::ACK) && !header.flags.contains(TcpFlags::RST) {
            self.expected = header.ack;
        }
        if let Some((value, _)) = header.timestamps {
            self.timestamp = value;
        }
        if sent.is_empty() {
            return;
        }
        let from = position(header, OURS);
        assert!(sent.data.as_slice() == stream(from, sent.len()), "sent at {from}");
        assert!(from + sent.len() <= self.written, "more is sent than was written");
    }

    /// The timers that are due; none is due for ever.
    fn wake(&mut self) {
        for _ in 0..64 {
            match self.connection.poll_at() {
                Some(at) if at <= self.now => self.connection.handle_timeout(self.now),
                _ => return,
            }
            self.send();
        }
        panic!("a timer is due for ever at {:?}", self.now);
    }
}

/// A segment near what the connection expects; the peer's SYN is at [`PEERS`].
fn segment(
    script: &mut Bytewise<'_>,
    expected: SeqNumber,
    sent: SeqNumber,
    timestamp: u32,
    opening: bool,
) -> Segment {
    let shape = script.number();
    let mut flags = TcpFlags::from_bits(script.number() as u16);
    let (seq, ack) = (expected.advanced_by(script.offset()), sent.advanced_by(script.offset()));
    let mut header = TcpRepr {
        seq: if opening && flags.contains(TcpFlags::SYN) { PEERS } else { seq },
        ack,
        window: (script.number() * 257) as u16,
        ..TcpRepr::default()
    };
    if shape & 1 == 0 {
        flags = flags.without(TcpFlags::RST | TcpFlags::SYN | TcpFlags::FIN) | TcpFlags::ACK;
    }
    if opening && shape & 2 == 0 {
        flags |= TcpFlags::SYN;
        header.seq = PEERS;
        header.mss = Some((script.number() * 16) as u16);
        header.window_scale = Some((script.number() % 15) as u8);
        header.sack_permitted = true;
    }
    if shape & 4 == 0 {
        header.timestamps = Some((script.offset(), timestamp.wrapping_add(script.offset())));
    }
    for _ in 0..(shape >> 3) % 4 {
        let left = ack.advanced_by(script.offset());
        header.sack.push(SackBlock { left, right: left.advanced_by(script.offset()) });
    }
    header.flags = flags;
    header.urgent_pointer = if shape & 32 == 0 { 0 } else { script.number() as u16 };
    let len = if shape & 64 == 0 { 0 } else { script.number() * 16 };
    let from = position(&header, PEERS);
    let ecn = if shape & 128 == 0 { Ecn::NotEct } else { Ecn::Ce };
    Segment { ecn, data: Data::copy_of(&stream(from, len)), ..Segment::bare(header) }
}

fn option(script: &mut Bytewise<'_>) -> SocketOption {
    let (which, value) = (script.number() % 14, script.number());
    let (on, span) = (value % 2 == 1, Span::from_millis(u64::from(value) * 40));
    let bytes = Bytes::new(u64::from(value).pow(2));
    match which {
        0 => SocketOption::NoDelay(on),
        1 => SocketOption::Cork(on),
        2 => SocketOption::KeepAlive(on),
        3 => SocketOption::KeepIdle(span),
        4 => SocketOption::KeepInterval(span),
        5 => SocketOption::KeepProbes(value as u8),
        6 => SocketOption::UserTimeout(span),
        7 => SocketOption::Linger(on.then_some(span)),
        8 => SocketOption::ReceiveBuffer(bytes),
        9 => SocketOption::SendBuffer(bytes),
        10 => SocketOption::WindowClamp(bytes),
        11 => SocketOption::FinWait2(span),
        12 => SocketOption::UnsentLow(bytes),
        _ => SocketOption::QuickAck(on),
    }
}
