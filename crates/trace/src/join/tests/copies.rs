//! Captures that hold packets more than once.

use super::middlebox::set_ip_word;
use super::*;

/// 300 segments of which one in 20 is lost and retransmitted. ACKs of those that follow a loss are
/// equal to one another.
fn transfer(with_ids: bool) -> World {
    let mut world = World::default();
    world.open();
    let (sent, acks) = lossy(300);
    for (at, index, arrives) in sent {
        world.data(at, arrives.then_some(ONE_WAY), index);
    }
    for (at, index) in acks {
        world.ack(at, Some(ONE_WAY), index);
    }
    if !with_ids {
        for seen in world.captures.iter_mut().flatten() {
            set_ip_word(&mut seen.bytes, 4, 0);
        }
    }
    world
}

/// Each packet again, as by a second interface.
fn doubled(mut world: World, captures: &[usize], after: u64) -> World {
    for &capture in captures {
        let copies = world.captures[capture].clone().into_iter();
        let later = copies.map(|seen| TestFrame { at: seen.at + after, ..seen });
        world.captures[capture].extend(later.collect::<Vec<_>>());
    }
    world
}

/// The same as without copies.
#[test]
fn join_leaves_out_what_a_capture_holds_twice() {
    let offset = 3_600_500_000_000;
    let count = |way: &Crossing| {
        let judged = [way.sent, way.arrived, way.lost, way.lost_data];
        let again = [way.retransmissions, way.spurious, way.reordered, way.duplicated];
        let unknown =
            [way.not_captured_at_sender, way.not_captured_at_receiver, way.not_judged, way.damaged];
        (judged, again, unknown, way.delay)
    };
    for with_ids in [true, false] {
        let once = transfer(with_ids).join(offset, 0.0);
        let way = &once.connections[0].forward;
        // Without identifications and timestamps nothing distinguishes equal segments.
        let lost = if with_ids { 15 } else { way.lost };
        assert_eq!((way.sent, way.lost, way.retransmissions), (316, lost, 15));
        for captures in [&[0][..], &[1], &[0, 1]] {
            // Between two interfaces, and between ports of a switch.
            for after in [2_000, if with_ids { 5_000_000 } else { 500_000 }] {
                let name = format!("{with_ids} {captures:?} {after}");
                let twice = doubled(transfer(with_ids), captures, after).join(offset, 0.0);
                assert_eq!(twice.connections.len(), 1, "{name}");
                let [one, two] = [&once, &twice].map(|joined| &joined.connections[0]);
                assert_eq!(count(&one.forward), count(&two.forward), "{name} {:?}", twice.notes);
                assert_eq!(count(&one.reverse), count(&two.reverse), "{name}");
                assert_eq!(once.clock, twice.clock, "{name}");
                assert_eq!(twice.notes.len(), captures.len(), "{name}: {:?}", twice.notes);
                for (note, capture) in twice.notes.iter().zip(captures) {
                    let copies = once.captures[*capture].tcp;
                    assert!(note.ends_with(&format!(": {copies} packets left out")), "{note}");
                }
            }
        }
    }
}

/// Copies of most packets that come over the network, and of none that is sent: the network made
/// them.
#[test]
fn join_counts_copies_that_the_network_makes() {
    let mut world = transfer(true);
    let arrives = |seen: &TestFrame| seen.bytes[15] == 9;
    let copies: Vec<TestFrame> =
        world.captures[1].iter().filter(|it| arrives(it)).cloned().collect();
    let count = copies.len() as u64;
    world.captures[1].extend(copies.into_iter().map(|it| TestFrame { at: it.at + 2_000, ..it }));
    let joined = world.join(0, 0.0);
    let way = &joined.connections[0].forward;
    assert_eq!((way.sent, way.arrived, way.lost, way.duplicated), (316, 301, 15, count));
    assert_eq!(joined.notes, Vec::<String>::new());
}
