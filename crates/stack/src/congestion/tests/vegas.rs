use tcplab_units::Span;

use super::driver::{Driver, Path};
use crate::congestion::Vegas;

fn driver(path: Path, cwnd: u32) -> Driver {
    Driver::with(Box::new(Vegas::default()), path, |window| {
        window.cwnd = cwnd;
        window.ssthresh = 4;
    })
}

/// From α = 2 to β = 4 segments wait in the end, on any path, wherever it began.
#[test]
fn vegas_in_steady_state_queues_two_to_four_segments() {
    for (service, delay) in [(1_000, 100), (500, 40), (5_000, 100), (1_000, 400)] {
        let path = Path::bottleneck(Span::from_micros(service), Span::from_millis(delay), 10_000);
        for begin in [-15.0, 30.0] {
            let mut driver = driver(path, (path.product() + begin) as u32);
            driver.run_rounds(60);
            for row in driver.run_rounds(20) {
                // The segment being served is part of the path; the integers of `diff` take away
                // up to one.
                let waiting = f64::from(row.cwnd) - path.product();
                assert!((2.0..=5.0).contains(&waiting), "{path:?}: {row:?}");
            }
        }
    }
}

/// A window that is too large shrinks by one segment a round, and one too small grows so.
#[test]
fn vegas_window_changes_by_one_segment_per_round() {
    let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 10_000);
    for (cwnd, by) in [(50_u32, 1_i64), (150, -1)] {
        let rows = driver(path, cwnd).run_rounds(30).to_vec();
        for pair in rows.windows(2).skip(2) {
            let step = i64::from(pair[1].cwnd) - i64::from(pair[0].cwnd);
            assert_eq!(step, by, "{pair:?}");
        }
    }
}

/// Slow start ends by the queue. Each round's shortest round trip is that of its first segments,
/// which left before the window had doubled; so two doublings pass after the path is full.
#[test]
fn vegas_slow_start_ends_without_loss() {
    let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 10_000);
    let mut driver = Driver::new("vegas", path);
    let cwnds: Vec<u32> = driver.run_rounds(8).iter().map(|row| row.cwnd).collect();
    // The round trip was 102 ms: 320 · 101.001 / 102.001 + 1 = 317.
    assert_eq!(cwnds, [20, 40, 80, 160, 320, 317, 316, 315]);
    assert_eq!((driver.window.delivery.lost, driver.window.ssthresh), (0, 315));
}
