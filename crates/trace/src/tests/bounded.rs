//! What is kept does not grow with the capture, whatever is in it.
//!
//! All state is printed and the text's length taken: it shows everything that is kept, in whatever
//! list, where a count of any one list would miss the others.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::ops::Range;

use tcplab_units::{Endpoint, Rng};
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpRepr};

use crate::bounds::{RANGES, narrowed};
use crate::join::{Joiner, Survey};
use crate::{Analyzer, Connection, Frame, Note, Sink};

/// Keeps nothing but the places of connections and how many packets they had.
#[derive(Debug, Default)]
struct Counts {
    wants_packets: bool,
    effect: Vec<(usize, u64)>,
}

impl Sink for Counts {
    fn wants_packets(&self) -> bool {
        self.wants_packets
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.effect.push((index, connection.packets));
    }
}

fn take_in(analyzer: &mut Analyzer<Counts>, number: u64, step: &Step) {
    analyzer.packet(&frame(number, &packet(step)));
}

pub(super) fn frame(number: u64, bytes: &[u8]) -> Frame<'_> {
    Frame::whole((number + 1) * 100_000, LinkType::RawIp, bytes)
}

/// What one of the two ends sends: data (where it starts and how long), or an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Step {
    /// Which client.
    pub(super) client: u32,
    pub(super) from_server: bool,
    pub(super) flags: TcpFlags,
    pub(super) seq: u64,
    pub(super) ack: u64,
    pub(super) len: usize,
    pub(super) blocks: [(u64, u64); 3],
    /// 0 for none.
    pub(super) clock: u32,
}

const LEN: u64 = 100;

fn data(number: u64) -> Step {
    Step { flags: TcpFlags::ACK, seq: 1 + number * LEN, ack: 1, len: 100, ..Step::default() }
}

fn ack(to: u64) -> Step {
    Step { from_server: true, flags: TcpFlags::ACK, seq: 1, ack: to, ..Step::default() }
}

pub(super) fn packet(step: &Step) -> Vec<u8> {
    let server = Ipv4Addr::new(10, 0, 0, 2);
    let client = Ipv4Addr::from_bits(Ipv4Addr::new(10, 1, 0, 0).to_bits() + step.client);
    let (src, dst) = if step.from_server { (server, client) } else { (client, server) };
    let (src_port, dst_port) = if step.from_server { (21, 40_000) } else { (40_000, 21) };
    let number = |offset: u64| SeqNumber::new(7_000_u32.wrapping_add(offset as u32));
    let blocks = step.blocks.iter().filter(|block| block.0 < block.1);
    let blocks =
        blocks.map(|&(left, right)| SackBlock { left: number(left), right: number(right) });
    let tcp = TcpRepr {
        src_port,
        dst_port,
        seq: number(step.seq),
        ack: number(step.ack),
        flags: step.flags,
        window: 60_000,
        sack: blocks.collect::<SackBlocks>(),
        timestamps: (step.clock > 0).then_some((step.clock, step.clock / 2)),
        ..TcpRepr::default()
    };
    tcp.to_packet(
        &Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: Ecn::NotEct }.into(),
        &vec![0; step.len],
    )
}

/// How much is kept, in characters.
fn size(analyzer: &Analyzer<Counts>) -> usize {
    struct Length(usize);
    impl std::fmt::Write for Length {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut length = Length(0);
    write!(length, "{analyzer:?}").unwrap();
    // What the sink keeps is its own affair.
    length.0 - format!("{:?}", analyzer.sink()).len()
}

/// The most entries kept in each of [`WINDOWS`], for the packets of each kind of step.
fn most_kept(analyzer: &mut Analyzer<Counts>, step: &dyn Fn(u64, &mut Rng) -> Step) -> [usize; 2] {
    let mut rng = Rng::new(1, "bounded");
    let syn = Step { flags: TcpFlags::SYN, ..Step::default() };
    let answer = Step { from_server: true, flags: TcpFlags::SYN | TcpFlags::ACK, ack: 1, ..syn };
    let opening = [syn, answer, Step { from_server: false, seq: 1, ..ack(1) }];
    for (number, step) in opening.iter().enumerate() {
        take_in(analyzer, number as u64, step);
    }
    let mut most = [0; 2];
    for number in 0..WINDOWS[1].end {
        take_in(analyzer, opening.len() as u64 + number, &step(number, &mut rng));
        // Not in step with whatever comes and goes.
        for (most, window) in most.iter_mut().zip(WINDOWS) {
            if window.contains(&number) && number % 101 == 0 {
                *most = size(analyzer).max(*most);
            }
        }
    }
    most
}

/// How often the bounds are halved: then at most 512 transmissions are kept.
const HALVINGS: u32 = 7;
/// All that has a bound has reached it before the first, and numbers are farther apart than windows
/// reach; what goes up and down does so many times in each. What grew with the packets would be at
/// least twice as much in the second.
const WINDOWS: [Range<u64>; 2] = [12_000..16_000, 32_000..36_000];

/// The notes at each bound.
const OLDEST: &str = "too much unacknowledged data to track: the oldest is dropped";

#[track_caller]
fn assert_bounded(what: &str, step: &dyn Fn(u64, &mut Rng) -> Step) -> Vec<Note> {
    narrowed(HALVINGS, || {
        let mut analyzer = Analyzer::with_sink(Counts::default());
        assert_grows_no_more(what, most_kept(&mut analyzer, step));
        analyzer.finish_into().0.notes
    })
}

#[track_caller]
fn assert_grows_no_more(what: &str, [before, after]: [usize; 2]) {
    // Numbers get longer, and chance may let more come together.
    let most = before + before / 4 + 500;
    assert!(after <= most, "{what}: {before} characters were kept, then {after}");
}

fn says(notes: &[Note], text: &str) -> bool {
    notes.iter().any(|note| note.text.contains(text))
}

#[test]
fn bounded_clean_transfer() {
    let step = |n, _: &mut Rng| if n % 2 == 0 { data(n / 2) } else { ack(1 + n / 2 * LEN) };
    assert_eq!(assert_bounded("in order", &step), []);
}

#[test]
fn bounded_unacknowledged_data() {
    let notes = assert_bounded("one direction", &|n, _| data(n));
    assert!(says(&notes, OLDEST));
    let notes = assert_bounded("the others", &|n, _| ack(1 + n * LEN));
    assert_eq!(notes, []);
}

#[test]
fn bounded_gaps_never_closed() {
    assert_bounded("every other segment", &|n, _| data(2 * n));
    assert_bounded("acknowledged all the same", &|n, _| {
        if n % 2 == 0 { data(n) } else { ack(1 + n * LEN) }
    });
}

#[test]
fn bounded_gaps_without_progress() {
    let step = |n, _: &mut Rng| if n % 2 == 0 { data(n) } else { ack(1) };
    assert!(says(&assert_bounded("never acknowledged", &step), OLDEST));
}

#[test]
fn bounded_any_sack_blocks() {
    assert_bounded("above what was sent", &|n, _| Step {
        blocks: [(n * 300, n * 300 + 100), (n * 500, n * 500 + 50), (n, n + 1)],
        ..ack(1)
    });
    assert_bounded("beside one another", &|n, _| {
        let block = ((n + 3) * LEN + 1, (n + 4) * LEN + 1);
        if n % 2 == 0 { data(n / 2) } else { Step { blocks: [block; 3], ..ack(1) } }
    });
    assert_bounded("anywhere", &|n, rng| {
        let mut block = || {
            let left = rng.below(n * LEN + 1_000);
            (left, left + rng.below(3_000))
        };
        let blocks = [block(), block(), block()];
        if n % 2 == 0 { data(n) } else { Step { blocks, ..ack(1 + n / 4 * LEN) } }
    });
}

#[test]
fn bounded_one_segment_repeated() {
    let notes = assert_bounded("data", &|_, _| data(0));
    assert!(says(&notes, OLDEST));
    assert_bounded("acknowledgements", &|_, _| ack(1));
    assert_bounded("all of it", &|n, _| if n % 3 == 0 { ack(1) } else { data(n % 1_000) });
}

#[test]
fn bounded_reused_endpoints() {
    assert_bounded("SYN with other numbers", &|n, _| Step {
        flags: TcpFlags::SYN,
        seq: n * 1_000_003,
        ..Step::default()
    });
    assert_bounded("reset each time", &|n, _| Step {
        flags: if n % 2 == 0 { TcpFlags::SYN } else { TcpFlags::RST | TcpFlags::ACK },
        from_server: n % 2 == 1,
        seq: n / 2 * 1_000_003,
        ack: n / 2 * 1_000_003 + 1,
        ..Step::default()
    });
    assert_bounded("FIN each time", &|n, _| Step {
        flags: TcpFlags::ACK | TcpFlags::FIN,
        from_server: n % 2 == 1,
        seq: n,
        ack: n / 2,
        ..Step::default()
    });
}

#[test]
fn bounded_any_packets() {
    assert_bounded("anything", &|n, rng| {
        let bits = rng.below(64) as u16;
        let left = rng.below(n * 40 + 1_000);
        Step {
            client: 0,
            from_server: rng.below(2) == 0,
            flags: TcpFlags::from_bits(if rng.below(50) == 0 { bits } else { 16 | (bits & 8) }),
            seq: rng.below(n * 40 + 1_000),
            ack: rng.below(n * 40 + 1_000),
            len: rng.below(300) as usize,
            blocks: [(left, left + rng.below(900)); 3],
            clock: rng.below(1 + n) as u32,
        }
    });
}

#[test]
fn bounded_gaps_from_the_top() {
    let notes = assert_bounded("backwards", &|n, _| data(2 * (1_000_000 - n)));
    assert!(says(&notes, OLDEST));
}

/// A SYN from each of many clients, while the first connection continues.
fn flood(number: u64, _: &mut Rng) -> Step {
    match number % 16 {
        0 => data(number / 16),
        8 => ack(1 + number / 16 * LEN),
        _ => Step { client: number as u32, flags: TcpFlags::SYN, ..Step::default() },
    }
}

#[test]
fn bounded_connection_flood() {
    for wants_packets in [false, true] {
        let mut analyzer = Analyzer::with_sink(Counts { wants_packets, ..Counts::default() })
            .with_max_open_connections(20);
        assert_grows_no_more("flood", narrowed(HALVINGS + 7, || most_kept(&mut analyzer, &flood)));
        let (trace, mut sink) = analyzer.finish_into();
        assert!(says(&trace.notes, "an idle one is dropped"));
        // Each is reported once, the continuing one as one.
        sink.effect.sort_unstable();
        let packets = WINDOWS[1].end;
        assert_eq!(sink.effect[0], (0, 3 + packets / 8));
        let rest = sink.effect[1..].iter().enumerate().map(|(at, count)| (at + 1, count));
        assert!(rest.clone().all(|(place, &count)| count == (place, 1)));
        assert_eq!(rest.count() as u64, packets - packets / 8);
    }
}

#[test]
fn bounded_closed_connections() {
    for wants_packets in [false, true] {
        let mut analyzer = Analyzer::with_sink(Counts { wants_packets, ..Counts::default() });
        let most = narrowed(HALVINGS + 7, || {
            most_kept(&mut analyzer, &|n, _| {
                let client = 1 + (n / 2) as u32;
                let syn = Step { client, flags: TcpFlags::SYN, ..Step::default() };
                let flags = TcpFlags::RST | TcpFlags::ACK;
                let refusal = Step { client, from_server: true, flags, ack: 1, ..Step::default() };
                if n % 2 == 0 { syn } else { refusal }
            })
        });
        assert_grows_no_more("refused", most);
        let (trace, mut sink) = analyzer.finish_into();
        assert!(says(&trace.notes, "too many closed connections"));
        sink.effect.sort_unstable();
        assert_eq!(sink.effect[0], (0, 3));
        assert!(sink.effect[1..].iter().all(|&(_, packets)| packets == 2));
        assert_eq!(sink.effect.len() as u64, 1 + WINDOWS[1].end / 2);
    }
}

#[test]
fn eviction_takes_the_idle_connection() {
    let mut analyzer =
        Analyzer::with_sink(Counts::default()).with_max_open_connections(2).as_they_come();
    let by = |client| Step { client, flags: TcpFlags::SYN, ..Step::default() };
    let steps = [
        by(1),
        by(2),
        Step { from_server: true, flags: TcpFlags::SYN | TcpFlags::ACK, ack: 1, ..by(1) },
        // The second goes.
        by(3),
        // The third goes, for the first has gone on since, and the fourth is the newest.
        Step { client: 1, seq: 1, ..ack(1) },
        by(4),
        // It comes back: the fourth or the first goes.
        Step { seq: 1, len: 10, ..by(2) },
    ];
    let mut gone = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        take_in(&mut analyzer, number as u64, step);
        gone.push(analyzer.sink().effect.clone());
    }
    assert_eq!(gone[..3], vec![vec![]; 3]);
    assert_eq!(gone[3..5], vec![vec![(1, 1)]; 2]);
    assert_eq!(gone[5], [(1, 1), (2, 1)]);
    let (trace, sink) = analyzer.finish_into();
    assert_eq!(sink.effect.len(), 5);
    let frames: Vec<_> = trace.notes.iter().map(|note| note.frame).collect();
    assert_eq!(frames, [Some(4), Some(6), Some(7)]);
}

/// A block below a full set of blocks is forgotten at once: it must not be looked for again.
#[test]
fn bounded_block_below_many() {
    narrowed(HALVINGS, || {
        let mut analyzer = Analyzer::with_sink(Counts::default());
        let most = RANGES.most() as u64;
        for number in 0..most + 10 {
            take_in(&mut analyzer, number, &Step { len: 200, ..data(2 * number) });
        }
        for number in (1..most + 10).rev() {
            let block = (1 + number * 2 * LEN, 1 + (number * 2 + 1) * LEN);
            take_in(&mut analyzer, 1_000 + number, &Step { blocks: [block; 3], ..ack(1) });
        }
        assert!(says(&analyzer.finish_into().0.notes, OLDEST));
    });
}

#[test]
fn bounded_joined_connections() {
    let joined = narrowed(HALVINGS + 5, || {
        let mut joiner = Joiner::new(Survey::default().finish());
        for number in 0..1_000_u32 {
            // A hundred of the first, and one of each other.
            let client = number.saturating_sub(100);
            let syn = Step { client, flags: TcpFlags::SYN, ..Step::default() };
            let step = if client == 0 { data(2 * u64::from(number)) } else { syn };
            let bytes = packet(&step);
            for side in Endpoint::BOTH {
                joiner.frame(side, &frame(u64::from(number), &bytes));
            }
        }
        joiner.finish()
    });
    assert_eq!(joined.connections.len(), 64);
    let left_out = 2 * (1_000 - 101 - 63);
    let text =
        format!("only the first 64 connections are joined: {left_out} packets are of others");
    assert_eq!(joined.notes.iter().filter(|note| **note == text).count(), 1, "{:?}", joined.notes);
    assert!(joined.notes.iter().any(|note| note.starts_with("too many open gaps")));
}

/// Each loss is an episode of its own, and none is over.
#[test]
fn bounded_losses_never_recovered() {
    let step = |n: u64, _: &mut Rng| {
        let even = n / 4 * 2;
        let block = (1 + even * LEN, 1 + (even + 1) * LEN);
        if n.is_multiple_of(2) { data(n / 2) } else { Step { blocks: [block; 3], ..ack(1) } }
    };
    assert!(says(&assert_bounded("every other block", &step), OLDEST));
}
