//! Captures as files: clocks that are set meanwhile, one clock for both, options cut off.

use tcplab_capture::{PcapWriter, Reader, UnixTime};

use super::middlebox::unchanged;
use super::*;

const MILLI: u64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

/// How the captures are taken.
struct Taken {
    clocks: Clocks,
    /// How far the server's clock is ahead at a true time.
    ahead: fn(u64) -> i64,
    /// The bytes kept of each packet at the server.
    snap: usize,
}

const USUAL: Taken = Taken { clocks: Clocks::Apart, ahead: |_| 0, snap: usize::MAX };

fn joined(mut world: World, taken: &Taken) -> Joined {
    let files = Endpoint::BOTH.map(|side| {
        let frames = &mut world.captures[side.index()];
        frames.sort_by_key(|frame| frame.at);
        let mut writer = PcapWriter::new(Vec::new(), 101, 0x4_0000).unwrap();
        for TestFrame { at, bytes } in frames {
            let is_server = side == Endpoint::Server;
            let ahead = if is_server { (taken.ahead)(*at) } else { 0 };
            let time = UnixTime::from_nanos((EPOCH + *at).saturating_add_signed(ahead));
            let kept = if is_server { taken.snap.min(bytes.len()) } else { bytes.len() };
            writer.write_packet(time, &bytes[..kept], bytes.len() as u32).unwrap();
        }
        writer.finish().unwrap()
    });
    join(|side| Reader::new(&files[side.index()][..]), taken.clocks).unwrap()
}

/// Two seconds, a segment and its ACK every 5 ms.
fn steady() -> World {
    exchange(&[(0, 0); 400])
}

fn assert_no_delays(joined: &Joined, note: &str) {
    let [only] = &joined.notes[..] else { panic!("{:?}", joined.notes) };
    assert!(only.contains(note), "{only}");
    assert_eq!(joined.clock, ClockEstimate::default());
    for way in [&joined.connections[0].forward, &joined.connections[0].reverse] {
        assert_eq!((way.delay, way.series.len()), (None, 0));
    }
}

#[test]
fn steady_clock_has_offset_and_delays() {
    let joined = joined(steady(), &Taken { ahead: |_| 7 * SECOND, ..USUAL });
    assert_eq!(joined.clock.offset_nanos, Some(7 * SECOND));
    assert_eq!(joined.connections[0].forward.delay.unwrap().min, Span::from_millis(20));
    assert!(joined.notes.is_empty());
}

/// Whatever the step, each packet is still found; no delay is stated.
#[test]
fn clock_set_meanwhile_has_no_delays() {
    let none_fits = "no offset of the clocks fits";
    let set_back = "the clock of the server's capture was set before frame 355";
    for (ahead, note) in [
        (set_by::<-5_000> as fn(u64) -> i64, set_back),
        (set_by::<-50>, none_fits),
        (set_by::<50>, none_fits),
        (set_by::<5_000>, none_fits),
    ] {
        let joined = joined(steady(), &Taken { ahead, ..USUAL });
        assert_no_delays(&joined, note);
        let Crossing { sent, arrived, lost, .. } = joined.connections[0].forward;
        assert_eq!((sent, arrived, lost), (401, 401, 0), "{note}");
    }
}

/// What a clock that is set by `N` ms after a second is ahead.
fn set_by<const N: i64>(at: u64) -> i64 {
    if at < SECOND.unsigned_abs() { 0 } else { N * SECOND / 1_000 }
}

/// By timestamps an hour ahead is no pause, so that nothing after it is lost.
#[test]
fn clock_set_far_ahead_loses_nothing() {
    let ahead = |at| if at < 220 * MILLI { 0 } else { 3_600 * SECOND };
    let joined = joined(unchanged(), &Taken { ahead, ..USUAL });
    assert_no_delays(&joined, "the clock of the server's capture was set before frame ");
    let Crossing { sent, lost, not_judged, .. } = joined.connections[0].forward;
    assert_eq!((sent, lost, not_judged), (211, 10, 0));
}

/// 40 ms there, 20 ms back.
#[test]
fn one_clock_measures_each_way() {
    let asymmetric = || {
        let mut world = World::default();
        for index in 0..100 {
            let at = u64::from(index) * 5 * MILLI;
            world.data(at, Some(40 * MILLI), index);
            world.ack(at + 41 * MILLI, Some(20 * MILLI), index + 1);
        }
        world
    };
    let delays = |joined: &Joined| {
        let JoinedConnection { forward, reverse, .. } = &joined.connections[0];
        [forward, reverse].map(|way| way.delay.unwrap().min.as_nanos() / MILLI)
    };
    let apart = joined(asymmetric(), &USUAL);
    assert_eq!((apart.clock.offset_nanos, delays(&apart)), (Some(SECOND / 100), [30, 30]));
    let one = joined(asymmetric(), &Taken { clocks: Clocks::One, ..USUAL });
    assert_eq!(delays(&one), [40, 20]);
    assert_eq!(
        one.clock,
        ClockEstimate {
            offset_nanos: Some(0),
            error: Some(Span::ZERO),
            least_round_trip: Some(Span::from_millis(60)),
            is_one: true,
            skew_ppm: 0.0,
            skew_error_ppm: Some(0.0),
        }
    );
}

/// 40 bytes end before the options: no device removed them.
#[test]
fn cut_options_are_changed_by_no_device() {
    let joined = joined(unchanged(), &Taken { snap: 40, ..USUAL });
    let [note] = &joined.notes[..] else { panic!("{:?}", joined.notes) };
    assert!(note.starts_with("TCP options are truncated in a capture"), "{note}");
    let Crossing { sent, arrived, lost, changes, .. } = &joined.connections[0].forward;
    assert_eq!((*sent, *arrived, *lost, changes.len()), (211, 201, 10, 0));
}
