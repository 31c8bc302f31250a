use tcplab_units::{Instant, Span};

use super::driver::{Driver, MSS, Path};
use crate::congestion::{AckSample, CongestionControl as _, Setup, Westwood, Window};

/// An acknowledgement of `bytes` at `millis`, the round trip being 100 ms.
fn hear(control: &mut Westwood, window: &mut Window, millis: u64, bytes: u64, plain: bool) {
    window.una += bytes;
    let now = Instant::ZERO + Span::from_millis(millis);
    let sample =
        AckSample { segments: 1, bytes, rtt: Some(Span::from_millis(100)), in_flight: 1, plain };
    control.acked(now, window, &sample);
    control.heard(now, window, &sample);
}

fn new() -> (Westwood, Window) {
    let mut window = Window::new(MSS, 10);
    let mut control = Westwood::new(&Setup::default());
    control.init(Instant::ZERO, &mut window);
    (control, window)
}

/// Intervals of 104 ms (26 ticks of 4 ms, the first longer than 100 ms), each bringing 26,000 B
/// and then 52,000 B: 1,000 and 2,000 B a tick. By hand, with s the sample, n = ⌊(7n + s)/8⌋ and
/// b = ⌊(7b + n)/8⌋.
#[test]
fn westwood_rate_is_smoothed_twice() {
    let (mut control, mut window) = new();
    hear(&mut control, &mut window, 0, 0, true);
    let mut shown = Vec::new();
    for interval in 1..=6 {
        // An ACK at the end of an interval counts in the next.
        hear(
            &mut control,
            &mut window,
            104 * interval - 4,
            if interval < 3 { 26_000 } else { 52_000 },
            true,
        );
        hear(&mut control, &mut window, 104 * interval, 0, true);
        shown.push(control.bytes_per_second() / 250);
    }
    // n: 1000, 1000, 1125, 1234, 1329, 1412
    assert_eq!(shown, [1000, 1000, 1015, 1042, 1077, 1118]);
}

/// Three duplicates count as three segments; an ACK of four segments then counts as one.
#[test]
fn westwood_duplicate_acks_are_counted_once() {
    let (mut control, mut window) = new();
    hear(&mut control, &mut window, 0, 0, true);
    for millis in [10, 20, 30] {
        hear(&mut control, &mut window, millis, 0, false);
    }
    hear(&mut control, &mut window, 40, 4_000, false);
    hear(&mut control, &mut window, 104, 0, true);
    // 4,000 B in 26 ticks.
    assert_eq!(control.bytes_per_second(), 4_000 / 26 * 250);
}

/// Less than 50 ms is no interval, however short the round trip.
#[test]
fn westwood_short_rtts_share_interval() {
    let (mut control, mut window) = new();
    let sample = AckSample {
        segments: 1,
        bytes: 0,
        rtt: Some(Span::from_millis(8)),
        in_flight: 1,
        plain: true,
    };
    for millis in (0..=56).step_by(8) {
        window.una += 1_000;
        let now = Instant::ZERO + Span::from_millis(millis);
        control.acked(now, &mut window, &sample);
        control.heard(now, &mut window, &sample);
        // 50 ms are 12 whole ticks, which have to be exceeded. Seven acknowledgements came before,
        // the first of which is not counted.
        let expected = if millis < 56 { 0 } else { 6_000 / 14 * 250 };
        assert_eq!(control.bytes_per_second(), expected, "at {millis} ms");
    }
}

/// After a loss, cwnd is what fills the path, however long the queue was.
#[test]
fn westwood_loss_sets_window_to_rate_times_rtt() {
    for queue in [100, 200, 300] {
        let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), queue);
        let mut driver = Driver::avoiding(Westwood::new(&Setup::default()), path, 100);
        // Long enough for the filter, whose time constant is some 16 intervals.
        driver.run_rounds(95);
        driver.drop_next();
        driver.run_rounds(3);
        let cwnd = f64::from(driver.window.cwnd);
        // Rounded to ticks of 4 ms: 101 ms are 26 of them.
        let expected = path.product() * 104.0 / 101.0;
        assert!((cwnd - expected).abs() < 0.05 * expected, "{queue}: {cwnd} not {expected}");
    }
}
