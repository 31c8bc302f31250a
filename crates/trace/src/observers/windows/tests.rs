//! Zero, full and shrunk windows, and scales inferred from data.

use proptest::prelude::*;
use tcplab_units::{Bytes, Instant, Offset, Span};

use super::Windows;
use super::scale::ScaleGuess;
use crate::tests::drill::flow;
use crate::tests::frames::{packet, sent};
use crate::{Flow, SegmentKind, WindowUse};

const OPENED: &str = "open 0.010\n";

fn windows(text: &str) -> WindowUse {
    flow(&format!("{OPENED}{text}")).windows
}

/// In the header; a window there counts 128 bytes.
fn bytes(window: u64) -> Bytes {
    Bytes::new(window * 128)
}

#[test]
fn extremes_leave_out_the_handshake_and_resets() {
    let found = windows(
        "0.100 > 1:1449
         0.110 < ack 1449 win 400
         0.120 > 1449:2897
         0.130 < ack 2897 win 30
         0.140 > 2897:4345
         0.150 < ack 4345 win 300",
    );
    assert!(found.scale_known);
    // The SYN-ACK's 500 are bytes, and no window of a connection that is open.
    let named = [found.first, found.min, found.max, found.last];
    assert_eq!(named, [400, 30, 400, 300].map(|window| Some(bytes(window))));
}

#[test]
fn zero_windows_counted_once_and_timed() {
    for (name, text, (times, together, longest)) in [
        ("never", "0.110 < ack 1449 win 12", (0, 0, 0)),
        (
            "once, advertised twice",
            "0.110 < ack 1449 win 0\n0.2 < ack 1449 win 0\n0.310 < ack 1449 win 12",
            (1, 200, 200),
        ),
        (
            "twice",
            "0.110 < ack 1449 win 0\n0.210 < ack 1449 win 12\n0.220 > 1449:2897
             0.230 < ack 2897 win 0\n0.530 < ack 2897 win 12",
            (2, 400, 300),
        ),
        ("until the last ACK", "0.110 < ack 1449 win 0\n0.3 < ack 1449 win 0", (1, 190, 190)),
        (
            "old ACK ignored",
            "0.110 < ack 1449 win 12\n0.111 < ack 1 win 0\n0.2 < ack 1449 win 12",
            (0, 0, 0),
        ),
        ("with the ACK of the FIN", "0.110 > 1449:1450 fin\n0.2 < ack 1450 win 0", (0, 0, 0)),
        (
            "until the FIN is acknowledged",
            "0.110 < ack 1449 win 0\n0.2 > 1449:1450 fin\n0.310 < ack 1450 win 0",
            (1, 200, 200),
        ),
    ] {
        let found = windows(&format!("0.100 > 1:1449\n{text}"));
        assert_eq!(found.zero_windows.count, times, "{name}");
        let spans = [found.zero_window_time, found.zero_window_max];
        assert_eq!(spans, [Span::from_millis(together), Span::from_millis(longest)], "{name}");
    }
}

#[test]
fn window_full_when_no_full_segment_fits() {
    // 23 * 128 = 2944 bytes: two segments and 48 bytes.
    let found = windows(
        "0.100 > 1:1449 clock 1
         0.110 < ack 1449 win 23
         0.111 > 1449:2897 clock 2
         0.112 > 2897:4345 clock 2
         0.120 < ack 4345 win 200
         0.121 > 4345:8689 clock 3",
    );
    assert_eq!((found.window_full.count, &found.window_full.frames[..]), (1, &[7][..]));
    // Data beyond the last captured right edge prove nothing.
    let beyond = windows("0.1 < ack 1 win 10\n0.110 > 1:2897 clock 1");
    assert_eq!(beyond.window_full.count, 0);
}

#[test]
fn window_updates_change_only_the_window() {
    for (name, last, updates) in [
        ("larger", "ack 1449 win 600", 1),
        ("smaller", "ack 1449 win 400", 1),
        ("the same", "ack 1449 win 500", 0),
        ("closed: no update", "ack 1449 win 0", 0),
        ("it moves", "ack 2897 win 600", 0),
        ("with new SACK block", "ack 1449 win 600 sack 2897-4345", 0),
        ("with D-SACK", "ack 1449 win 600 dsack 1-1449", 0),
    ] {
        let text = format!("0.1 > 1:5793 every 0.001\n0.110 < ack 1449 win 500\n0.112 < {last}");
        assert_eq!(windows(&text).updates.count, updates, "{name}");
    }
}

#[test]
fn silly_windows() {
    for (name, opened, silly) in [
        ("a whole segment", 12, 0),
        ("less, and not half of what there was", 3, 1),
        ("nothing", 0, 0),
    ] {
        let text = format!(
            "0.1 < ack 1 win 100\n0.110 > 1:12801 clock 1\n0.120 < ack 12801 win 0
             0.220 < ack 12801 win {opened}"
        );
        assert_eq!(windows(&text).silly_windows.count, silly, "{name}");
    }
    // 28 bytes more than before are rounding: a unit is 128.
    let rounded = "0.1 < ack 1 win 100\n0.110 > 1:12701 clock 1\n0.120 < ack 12701 win 1";
    assert_eq!(windows(rounded).silly_windows.count, 0);
    // A small buffer that is half empty is as open as can be.
    let small = "0.1 < ack 1 win 8\n0.110 > 1:1025 clock 1\n0.120 < ack 1025 win 0
        0.220 < ack 1025 win 5";
    assert_eq!(windows(small).silly_windows.count, 0);
}

#[test]
fn window_shrunk_when_right_edge_moves_back() {
    for (name, last, shrunk) in [
        ("right edge unchanged", "ack 1281 win 90", 0),
        ("less than one unit: rounding", "ack 1300 win 89", 0),
        ("one unit", "ack 1281 win 89", 1),
        ("zero window before the data arrived", "ack 1281 win 0", 1),
        ("right edge forward", "ack 1281 win 100", 0),
        ("old ACK ignored", "ack 0 win 1", 0),
    ] {
        let text = format!("0.1 < ack 1 win 100\n0.110 > 1:2897 clock 1\n0.120 < {last}");
        assert_eq!(windows(&text).windows_shrunk.count, shrunk, "{name}");
    }
}

/// ACKs of the same data that arrive in another order than they were sent.
#[test]
fn window_of_overtaken_ack_ignored() {
    for (name, marks, shrunk) in [
        ("sent before, by the IP identification", ["id 8", "id 7"], 0),
        ("sent after", ["id 8", "id 9"], 1),
        ("not of one counter", ["id 8", "id 60000"], 1),
        ("sent before, by the timestamp", ["clock 90 echo 1", "clock 89 echo 1"], 0),
        ("sent after, by the timestamp", ["clock 90 echo 1", "clock 91 echo 1"], 1),
    ] {
        let text = format!(
            "0.110 > 1:2897 clock 1\n0.120 < ack 1281 win 100 {}\n0.121 < ack 1281 win 60 {}",
            marks[0], marks[1]
        );
        assert_eq!(windows(&text).windows_shrunk.count, shrunk, "{name}");
    }
}

/// The ACK begins where the data do that were captured first, so it was sent before them.
#[test]
fn window_of_ack_captured_after_later_data_ignored() {
    for (name, from, shrunk) in [("sent before the data", 1, 0), ("sent after them", 10, 1)] {
        let text =
            format!("0.110 > 1:101\n0.120 < 1:10 acking 101\n0.1201 < ack 101 at {from} win 490");
        assert_eq!(windows(&text).windows_shrunk.count, shrunk, "{name}");
    }
}

#[test]
fn zero_window_probes_not_counted_as_data() {
    let mut windows = Windows::default();
    let probe = crate::packet::Packet { payload: 1, ..packet(Instant::ZERO) };
    windows.on_send(&sent(&probe, 1, SegmentKind::WindowProbe), None);
    let mut flow = Flow::default();
    windows.finish(&mut flow);
    assert_eq!(flow.windows.probes.count, 1);
}

#[test]
fn window_scale_unknown_without_syn_unless_data_prove_it() {
    let unknown = flow("0.1 > 1:1449\n0.110 < ack 1449 win 500\n0.120 > 1449:2897").windows;
    assert!(!unknown.scale_known);
    assert_eq!((unknown.first, unknown.max), (None, None));
    assert_eq!(unknown.window_full.count, 0);

    // Three flights to the very edge of 100 << 7, and none beyond.
    let mut text = "0.1 > 1:129\n0.110 < ack 129 win 100\n".to_owned();
    for turn in 0..3_u64 {
        let (from, at) = (129 + turn * 12_800, 0.2 + turn as f64 / 10.0);
        text += &format!(
            "{at} > {from}:{}\n{} < ack {} win 100\n",
            from + 12_800,
            at + 0.05,
            from + 12_800
        );
    }
    let proven = flow(&text).windows;
    assert!(proven.scale_known);
    assert_eq!([proven.first, proven.min, proven.max], [Some(bytes(100)); 3]);
}

#[test]
fn window_scale_from_data() {
    for (name, flights, scale) in [
        ("nothing sent", &[][..], None),
        ("small flights", &[(500, 400), (500, 500)], None),
        ("edge of scale 3, three times", &[(500, 4_000), (510, 4_080), (490, 3_920)], Some(3)),
        ("twice only", &[(500, 4_000), (510, 4_080)], None),
        ("and beyond", &[(500, 4_000), (510, 4_080), (490, 3_920), (500, 4_001)], None),
        ("of two scales", &[(500, 4_000), (510, 4_080), (490, 3_920), (500, 8_000)], None),
        ("so much that no other is left", &[(100, (100 << 13) + 1)], Some(14)),
        ("closed: a probe", &[(0, 1), (0, 1), (0, 1)], None),
    ] {
        let mut guess = ScaleGuess::default();
        for (&(window, flight), ack) in flights.iter().zip(1..) {
            guess.sent(window, flight, Offset::new(ack));
        }
        assert_eq!(guess.scale(), scale, "{name}");
    }
}

proptest! {
    /// Whoever keeps to its windows never proves a scale larger than the true one.
    #[test]
    fn proven_window_scale_is_never_too_large(
        scale in 0_u8..=14,
        flights in prop::collection::vec((1_u32..=65_535, 0.0_f64..=1.0), 1..60),
    ) {
        let mut guess = ScaleGuess::default();
        for (&(window, part), ack) in flights.iter().zip(1..) {
            let flight = (f64::from(window << scale) * part) as u64;
            guess.sent(window, flight, Offset::new(ack));
        }
        prop_assert!(guess.scale().is_none_or(|proven| proven <= scale));
    }
}
