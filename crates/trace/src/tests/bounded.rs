//! What is kept does not grow with the capture, whatever is in it.
//!
//! All state is printed and the text's length taken: it shows everything that is kept, in whatever
//! list, where a count of any one list would miss the others.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::ops::Range;

use tcplab_units::Rng;
use tcplab_wire::{Ecn, Ipv4Repr, LinkType, SackBlock, SackBlocks, SeqNumber, TcpFlags, TcpRepr};

use crate::bounds::narrowed;
use crate::{
    Ack, Analyzer, Connection, Episode, FlowId, Frame, LimitPeriod, Needless, Note, Segment, Sink,
    Stall,
};

/// Keeps nothing.
#[derive(Debug)]
struct Nobody;

impl Sink for Nobody {
    fn wants_packets(&self) -> bool {
        false
    }
    fn segment(&mut self, _: FlowId, _: Segment) {}
    fn ack(&mut self, _: FlowId, _: Ack) {}
    fn episode(&mut self, _: FlowId, _: Episode) {}
    fn stall(&mut self, _: FlowId, _: Stall) {}
    fn limit(&mut self, _: FlowId, _: LimitPeriod) {}
    fn needless(&mut self, _: FlowId, _: u64, _: Needless) {}
    fn connection(&mut self, _: usize, _: Connection) {}
}

/// What one of the two ends sends: data (where it starts and how long), or an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    from_server: bool,
    flags: TcpFlags,
    seq: u64,
    ack: u64,
    len: usize,
    blocks: [(u64, u64); 3],
    /// 0 for none.
    clock: u32,
}

const LEN: u64 = 100;

fn data(number: u64) -> Step {
    Step { flags: TcpFlags::ACK, seq: 1 + number * LEN, ack: 1, len: 100, ..Step::default() }
}

fn ack(to: u64) -> Step {
    Step { from_server: true, flags: TcpFlags::ACK, seq: 1, ack: to, ..Step::default() }
}

fn packet(step: &Step) -> Vec<u8> {
    let (client, server) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
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

/// What is looked at while packets of one kind come in.
#[derive(Debug, Default)]
struct Kept {
    /// The most that was kept, in characters, in each of [`WINDOWS`].
    most: [usize; 2],
    notes: Vec<Note>,
}

/// Feeds so many packets of each kind of step.
fn feed(step: &dyn Fn(u64, &mut Rng) -> Step, packets: u64) -> Kept {
    let mut rng = Rng::new(1, "bounded");
    let mut analyzer = Analyzer::with_sink(Nobody);
    let syn = Step { flags: TcpFlags::SYN, ..Step::default() };
    let answer = Step { from_server: true, flags: TcpFlags::SYN | TcpFlags::ACK, ack: 1, ..syn };
    let opening = [syn, answer, Step { from_server: false, seq: 1, ..ack(1) }];
    let mut kept = Kept::default();
    for number in 0..packets + opening.len() as u64 {
        let done = number.checked_sub(opening.len() as u64);
        let bytes = packet(&match done {
            Some(done) => step(done, &mut rng),
            None => opening[number as usize],
        });
        analyzer.packet(&Frame {
            time_ns: (number + 1) * 100_000,
            link: LinkType::RawIp,
            captured: &bytes,
            original_len: bytes.len() as u32,
            comment: None,
        });
        // Not in step with whatever comes and goes.
        for (most, window) in kept.most.iter_mut().zip(WINDOWS) {
            if done.is_some_and(|done| window.contains(&done) && done % 37 == 0) {
                *most = size(&analyzer).max(*most);
            }
        }
    }
    kept.notes = analyzer.finish_into().0.notes;
    kept
}

fn size(analyzer: &Analyzer<Nobody>) -> usize {
    struct Count(usize);
    impl std::fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    write!(count, "{analyzer:?}").unwrap();
    count.0
}

/// The bounds are halved so many times: then at most 256 transmissions are kept.
const HALVINGS: u32 = 8;
/// All that has a bound has reached it before the first, often if it goes up and down.
const WINDOWS: [Range<u64>; 2] = [2_000..4_000, 8_000..10_000];

#[track_caller]
fn assert_bounded(what: &str, step: &dyn Fn(u64, &mut Rng) -> Step) {
    let [before, after] = narrowed(HALVINGS, || feed(step, WINDOWS[1].end)).most;
    // Numbers get longer.
    let most = before + before / 10 + 500;
    assert!(after <= most, "{what}: {before} characters were kept, then {after}");
}

#[test]
fn a_transfer_that_goes_well() {
    assert_bounded("in order", &|n, _| if n % 2 == 0 { data(n / 2) } else { ack(1 + n / 2 * LEN) });
}

#[test]
fn data_that_nobody_acknowledges() {
    assert_bounded("one direction", &|n, _| data(n));
    assert_bounded("the others", &|n, _| ack(1 + n * LEN));
}

#[test]
fn holes_that_nobody_fills() {
    assert_bounded("every other segment", &|n, _| data(2 * n));
    assert_bounded("acknowledged all the same", &|n, _| {
        if n % 2 == 0 { data(n) } else { ack(1 + n * LEN) }
    });
}

#[test]
fn holes_and_no_progress() {
    assert_bounded("never acknowledged", &|n, _| if n % 2 == 0 { data(n) } else { ack(1) });
}

#[test]
fn blocks_of_any_kind() {
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
fn the_same_again_and_again() {
    assert_bounded("data", &|_, _| data(0));
    assert_bounded("acknowledgements", &|_, _| ack(1));
    assert_bounded("all of it", &|n, _| if n % 3 == 0 { ack(1) } else { data(n % 1_000) });
}

#[test]
fn connections_between_the_same_ends() {
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
fn anything_at_all() {
    assert_bounded("anything", &|n, rng| {
        let bits = rng.below(64) as u16;
        let left = rng.below(n * 40 + 1_000);
        Step {
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
fn holes_from_the_top() {
    assert_bounded("backwards", &|n, _| data(2 * (1_000_000 - n)));
}
