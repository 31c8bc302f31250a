//! A connection analysed alone, by the frames that were logged, is what the whole capture shows.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tcplab_capture::{Interface, Packet, PcapngWriter, Reader, Section, UnixTime};
use tcplab_wire::TcpFlags;

use super::bounded::{Step, packet};
use super::drill::Captured;
use super::fragments::fragments;
use super::recorder::All;
use super::sinks::any_step;
use super::threads::{LOSSY, by_many};
use crate::bounds::narrowed;
use crate::{
    Analyzer, FrameLog, KnownConnection, LOG_LAG, Only, ReplayError, Trace, analyze, replay,
};

/// What was logged of a capture.
#[derive(Debug, Default)]
struct Logged {
    begins: Vec<Option<u64>>,
    frames: BTreeMap<usize, Vec<u64>>,
    reuses: BTreeMap<usize, usize>,
    copies_usual: Vec<(u64, bool)>,
    left_out: BTreeSet<usize>,
    given_up: bool,
    all: Option<(u64, usize)>,
}

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Logged>>);

impl FrameLog for Log {
    fn begins(&mut self, frame: u64, position: u64) {
        let begins = &mut self.0.lock().unwrap().begins;
        begins.push(Some(position));
        assert_eq!(frame, begins.len() as u64);
    }
    fn is_fragment(&mut self) {
        *self.0.lock().unwrap().begins.last_mut().unwrap() = None;
    }
    fn copies_are_usual(&mut self, frame: u64, usual: bool) {
        self.0.lock().unwrap().copies_usual.push((frame, usual));
    }
    fn reuses(&mut self, connection: usize, earlier: usize) {
        assert_eq!(self.0.lock().unwrap().reuses.insert(connection, earlier), None);
    }
    fn owns(&mut self, connection: usize, frame: u64) {
        let Logged { begins, frames, left_out, .. } = &mut *self.0.lock().unwrap();
        assert!(frame + LOG_LAG > begins.len() as u64);
        if begins[frame as usize - 1].is_none() {
            left_out.insert(connection);
        }
        frames.entry(connection).or_default().push(frame);
    }
    fn leaves_out(&mut self, connection: usize) {
        self.0.lock().unwrap().left_out.insert(connection);
    }
    fn gives_up(&mut self) {
        self.0.lock().unwrap().given_up = true;
    }
    fn finish(self: Box<Self>, trace: &Trace, connections: usize) {
        self.0.lock().unwrap().all = Some((trace.epoch_nanos, connections));
    }
}

impl Logged {
    fn known(&self, index: usize) -> KnownConnection {
        let begins = |frame: &u64| (*frame, self.begins[*frame as usize - 1].unwrap());
        KnownConnection {
            index,
            reuses: self.reuses.get(&index).copied(),
            epoch_nanos: self.all.unwrap().0,
            frames: self.frames[&index].iter().map(begins).collect(),
            copies_usual: self.copies_usual.clone(),
        }
    }
}

/// A file with these packets, some of which have comments.
fn file(packets: &[Captured]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &Section::default()).unwrap();
    writer.add_interface(&Interface { link_type: 101, ..Interface::default() }).unwrap();
    for (number, Captured { time_ns, bytes }) in packets.iter().enumerate() {
        let comment = format!("packet {number}");
        let comments = [comment.as_str()];
        let comments = if number % 3 == 0 { &comments[..] } else { &[] };
        let time = UnixTime::from_nanos(*time_ns);
        let (captured, original_len) = (&bytes[..], bytes.len() as u32);
        let packet = Packet { time, captured, original_len, comments, ..Packet::default() };
        writer.write_packet(&packet).unwrap();
    }
    writer.finish().unwrap()
}

fn analyzer<S: crate::Sink>(sink: S, (jobs, most_open): (usize, usize)) -> Analyzer<S> {
    Analyzer::with_sink(sink).with_jobs(jobs).with_max_open_connections(most_open)
}

/// What the whole file shows of this connection.
fn whole(file: &[u8], connection: usize, wants_packets: bool, most_open: usize) -> String {
    let sink = Only::new(Some(connection), Some(All::new(wants_packets)));
    let mut analyzer = analyzer(sink, (1, most_open));
    analyzer.read(Reader::new(file).unwrap());
    analyzer.finish_into().1.into_inner().unwrap().text()
}

/// Compares connections of a file, about so many; how many were left out.
#[track_caller]
fn assert_same(packets: &[Captured], most: usize, (jobs, most_open): (usize, usize)) -> usize {
    let file = file(packets);
    let log = Log::default();
    let sink = Only::<All>::new(None, None);
    let mut first = analyzer(sink, (jobs, most_open)).with_frame_log(Box::new(log.clone()));
    first.read(Reader::new(&file[..]).unwrap());
    first.finish_into();
    let logged = log.0.lock().unwrap();
    let (_, connections) = logged.all.unwrap();
    if logged.given_up {
        return connections;
    }
    let step = connections.div_ceil(most).max(1);
    let mut left_out = 0;
    for connection in (0..connections).step_by(step) {
        if logged.left_out.contains(&connection) {
            left_out += 1;
            continue;
        }
        let known = logged.known(connection);
        for wants_packets in [false, true] {
            let sink = Only::new(Some(connection), Some(All::new(wants_packets)));
            let mut reader = Reader::new(Cursor::new(&file)).unwrap();
            let (sink, interfaces) = replay(&mut reader, &known, sink).unwrap();
            let alone = sink.into_inner().unwrap().text();
            let all = whole(&file, connection, wants_packets, most_open);
            assert!(all == alone, "connection {connection}: {all}\n\n{alone}");
            assert!(alone.lines().count() > 1 && interfaces.len() == 1);
        }
    }
    left_out
}

const USUAL: (usize, usize) = (1, 1 << 17);

#[test]
fn connection_alone_is_what_the_capture_shows() {
    let mut packets = by_many(3_000, LOSSY);
    // Some have another packet while they are still tracked, others when they are not.
    for (number, after) in [(0, 100), (1, 2_000), (2_900, 3_000)] {
        let mut late = super::drill::drill("0.5 < 1:2 fin", 1_000);
        late[0].time_ns += after * 1_000_000;
        late[0].bytes[22..24].copy_from_slice(&(10_000_u16 + number).to_be_bytes());
        packets.append(&mut late);
    }
    packets.sort_by_key(|packet| packet.time_ns);
    for jobs in [1, 4] {
        assert_eq!(assert_same(&packets, 7, (jobs, 1 << 17)), 0);
    }
}

#[test]
fn reports_and_duplicates_belong_to_connections_fragments_leave_out() {
    let text = "
        open 0.010
        0.1 > 1:1449
        0.2 < ack 1449
        0.3 > 1449:5793
        0.31 < too big 1449 mtu 1400
        0.32 > 1449:2797
        0.4 < ack 5793";
    let packets = by_many(40, text);
    assert_eq!(assert_same(&packets, 5, USUAL), 0);
    assert_eq!(assert_same(&packets, 5, (3, 1 << 17)), 0);
    let twice: Vec<Captured> =
        packets.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect();
    assert_eq!(assert_same(&twice, 5, USUAL), 0);
    let cut = |(number, packet): (usize, &Captured)| {
        let size = if number % 40 == 7 { 400 } else { 4_000 };
        let pieces = fragments(&packet.bytes, size).into_iter();
        pieces.map(|bytes| Captured { bytes, ..packet.clone() }).collect::<Vec<_>>()
    };
    let cut: Vec<Captured> = packets.iter().enumerate().flat_map(cut).collect();
    let left_out = assert_same(&cut, 40, USUAL);
    assert!((1..20).contains(&left_out), "{left_out}");
}

#[test]
fn corrected_clock_gives_all_up() {
    let mut packets = by_many(20, LOSSY);
    assert_eq!(assert_same(&packets, 3, USUAL), 0);
    // A pause of an hour is none.
    let at = packets.len() / 2;
    packets[at..].iter_mut().for_each(|packet| packet.time_ns += 3_600_000_000_000);
    assert_eq!(assert_same(&packets, 3, USUAL), 0);
    packets[at + 50..].iter_mut().for_each(|packet| packet.time_ns -= 1_000_000_000);
    assert_eq!(assert_same(&packets, 3, USUAL), 20);
}

#[test]
fn other_places_are_an_error() {
    let file = file(&by_many(2, LOSSY));
    let of = |index, frames: &[(u64, u64)]| {
        let (reuses, epoch_nanos, copies_usual) = (None, 0, Vec::new());
        let frames = frames.to_vec();
        let known = KnownConnection { index, reuses, epoch_nanos, frames, copies_usual };
        let mut reader = Reader::new(Cursor::new(&file)).unwrap();
        replay(&mut reader, &known, Only::<All>::new(None, None)).map(drop)
    };
    let mut begins = Reader::new(&file[..]).unwrap();
    let mut next = || {
        begins.next_record().unwrap();
        begins.position()
    };
    let [first, second] = [next(), next()];
    assert_eq!(of(0, &[(2, first)]), Ok(()));
    let end = file.len() as u64;
    for frames in [
        &[][..],
        &[(2, 1)],
        &[(2, first + 4)],
        &[(2, end)],
        &[(2, end + 1)],
        &[(2, u64::MAX)],
        &[(2, u64::MAX), (1, first)],
    ] {
        assert_eq!(of(0, frames), Err(ReplayError), "{frames:?}");
    }
    // Packets of two connections.
    let trace = analyze(Reader::new(&file[..]).unwrap());
    let second_begins = trace.connections[1].frames.0;
    let position = (3..=second_begins).fold(second, |_, _| next());
    assert_eq!(of(0, &[(2, first), (second_begins + 1, position)]), Err(ReplayError));
}

fn captured(steps: impl Iterator<Item = (Step, u64)>) -> Vec<Captured> {
    let mut time_ns = 0;
    let packet = |(step, waits): (Step, u64)| {
        time_ns += waits * 100_000;
        Captured { time_ns, bytes: packet(&step) }
    };
    steps.map(packet).collect()
}

#[test]
fn reused_ports_and_evicted_connections() {
    let step = |number: u32| {
        let seq = u64::from(number / 90) * 1_000_003;
        let syn = Step { client: number % 30, flags: TcpFlags::SYN, seq, ..Step::default() };
        let reset = TcpFlags::RST | TcpFlags::ACK;
        let step = match number / 30 % 3 {
            0 => syn,
            1 if !number.is_multiple_of(4) => {
                Step { from_server: true, flags: reset, ack: seq + 1, ..syn }
            }
            1 => Step { from_server: true, flags: syn.flags | TcpFlags::ACK, ack: seq + 1, ..syn },
            _ => Step { flags: TcpFlags::ACK, seq: seq + 1, ack: 1, len: 100, ..syn },
        };
        (step, 1)
    };
    let packets = captured((0..4_000).map(step));
    for jobs in [1, 3] {
        let left_out = assert_same(&packets, 40, (jobs, 1 << 17));
        assert!(left_out < 40, "{left_out}");
    }
    // No more than 16 are tracked at once.
    assert!(assert_same(&packets, 40, (1, 16)) < 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_packets_same_alone(
        steps in prop::collection::vec((any_step(), 0_u64..4), 1..300),
        most_open in prop::sample::select(vec![2, 3, 20_000, 1 << 17]),
        halvings in prop::sample::select(vec![0, 4, 6, 10]),
        jobs in prop::sample::select(vec![1, 3]),
    ) {
        // 0.1 ms, or up to 10 s.
        let waits = |wait: u64| [1, 1, 10, 100_000][wait as usize];
        let packets = captured(steps.iter().map(|(step, wait)| (*step, waits(*wait))));
        // Bounds are those of the thread, and other threads have the usual ones.
        let halvings = if jobs == 1 { halvings } else { 0 };
        narrowed(halvings, || assert_same(&packets, 30, (jobs, most_open)));
    }
}
