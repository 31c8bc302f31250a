//! Two captures of real transfers joined, against what the link between them counted.

use tcplab_capture::ReadError;
use tcplab_trace::Analyzer;
use tcplab_trace::join::{Audit, Claims, Clocks, Crossing, Joined, audit, join};
use tcplab_units::Endpoint;

use super::capture;

/// The capture at one end.
fn at(name: &str, side: Endpoint) -> String {
    format!("{name}.{}", if side == Endpoint::Client { "snd" } else { "rcv" })
}

fn joined(name: &str) -> Joined {
    join(|side| Ok::<_, ReadError>(capture(&at(name, side))), Clocks::Apart).unwrap()
}

fn sum(joined: &Joined, of: impl Fn(&Crossing) -> u64) -> [u64; 2] {
    let sum = |pick: fn(&tcplab_trace::join::JoinedConnection) -> &Crossing| {
        joined.connections.iter().map(|c| of(pick(c))).sum()
    };
    [sum(|c| &c.forward), sum(|c| &c.reverse)]
}

/// Packets that the link got from each end, and how many of these it dropped.
fn truth(name: &str) -> [[u64; 2]; 2] {
    let truth = super::truth(name);
    ["fwd", "rev"].map(|way| {
        let of = |key: &str| truth["emu"][way][key].as_u64().unwrap();
        assert_eq!((of("reordered"), of("dup")), (0, 0));
        [of("pkts"), of("dropped")]
    })
}

/// Each host sent two packets besides TCP, which only the link's counters include.
const BESIDES: u64 = 2;

/// What became of each packet is what the link counted, in all captures of the corpus.
#[test]
fn losses_match_link_counters() {
    // The capture, what the link dropped besides TCP each way, and what the sender's own device
    // dropped behind its capture point: the link never got it.
    for (name, besides, before) in [
        ("clean_cubic_20ms", [0, 0], [0, 0]),
        ("loss1_cubic", [1, 0], [0, 0]),
        ("nosack_loss1", [0, 0], [0, 0]),
        ("nots_loss1", [0, 0], [0, 0]),
        ("blackout", [1, 1], [0, 0]),
        ("ackloss30", [0, 1], [19, 0]),
        ("app_limited", [0, 0], [0, 0]),
        ("rwnd_limited", [0, 0], [0, 0]),
    ] {
        let joined = joined(name);
        assert_eq!(joined.connections.len(), 2, "{name}");
        assert_eq!(joined.notes, Vec::<String>::new(), "{name}");
        let (sent, lost) = (sum(&joined, |c| c.sent), sum(&joined, |c| c.lost));
        let arrived = sum(&joined, |c| c.arrived);
        for (way, [packets, dropped]) in truth(name).into_iter().enumerate() {
            assert_eq!(sent[way], packets - BESIDES + before[way], "{name}");
            assert_eq!(lost[way], dropped - besides[way] + before[way], "{name}");
            assert_eq!(arrived[way] + lost[way], sent[way], "{name}");
        }
        let others = |c: &Crossing| {
            c.duplicated
                + c.reordered
                + c.not_judged
                + c.not_captured_at_receiver
                + c.not_captured_at_sender
        };
        assert_eq!(sum(&joined, others), [0, 0], "{name}");
        // Both captures had the clock of one host, and the link's delay was 10 ms each way.
        let clock = joined.clock;
        assert!(clock.offset_nanos.unwrap().abs() < 50_000, "{name}: {clock:?}");
        assert!(clock.skew_ppm == 0.0, "{name}: {clock:?}");
        let least = clock.least_round_trip.unwrap().as_nanos();
        assert!((20_000_000..20_150_000).contains(&least), "{name}: {clock:?}");
    }
}

/// The analysis of the sender's capture finds every loss, retransmission and spurious one.
#[test]
fn one_capture_agrees_with_two() {
    for (name, losses, needed, spurious) in [
        ("clean_cubic_20ms", 0, 0, 2),
        ("loss1_cubic", 33, 33, 0),
        ("nosack_loss1", 25, 25, 0),
        ("nots_loss1", 26, 26, 0),
        ("blackout", 50, 48, 4),
        ("ackloss30", 25, 25, 0),
        ("app_limited", 0, 0, 3),
        ("rwnd_limited", 0, 0, 1),
    ] {
        let claims = Endpoint::BOTH.map(|side| {
            let mut analyzer = Analyzer::with_sink(Claims::default());
            analyzer.read(capture(&at(name, side)));
            analyzer.finish_into().1
        });
        let found = audit(&joined(name), &claims);
        let right = Audit { losses_found: losses, needed, spurious, ..Audit::default() };
        assert_eq!(found, right, "{name}");
    }
}
