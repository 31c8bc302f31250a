use tcplab_units::Span;

use super::driver::{Driver, Path};
use crate::congestion::{Cubic, Setup, State};

/// RFC 9438 section 4, in real numbers: C = 0.4, β = 0.7.
struct Rfc9438 {
    /// W_max and the window that was left.
    max: f64,
    start: f64,
}

impl Rfc9438 {
    const C: f64 = 0.4;
    const BETA: f64 = 0.7;

    fn after_loss_at(cwnd: f64) -> Rfc9438 {
        Rfc9438 { max: cwnd, start: Rfc9438::BETA * cwnd }
    }

    /// Figure 2.
    fn k(&self) -> f64 {
        ((self.max - self.start) / Rfc9438::C).cbrt()
    }

    /// Figure 1.
    fn cubic(&self, t: f64) -> f64 {
        Rfc9438::C * (t - self.k()).powi(3) + self.max
    }

    /// Figure 4, while W_est is below the window before the loss.
    fn reno(&self, t: f64, rtt: f64) -> f64 {
        let alpha = 3.0 * (1.0 - Rfc9438::BETA) / (1.0 + Rfc9438::BETA);
        self.start + alpha * t / rtt
    }
}

fn setup() -> Setup {
    Setup { tick: Span::from_millis(1), ..Setup::default() }
}

const RTT: Span = Span::from_millis(100);

/// In avoidance at `cwnd`, before any loss.
fn avoiding(cwnd: u32, rtt: Span) -> Driver {
    Driver::avoiding(Cubic::new(&setup()), Path::endless(rtt), cwnd)
}

/// In avoidance at `cwnd`, after a first loss there.
fn after_loss(cwnd: u32, rtt: Span) -> Driver {
    let mut driver = avoiding(cwnd, rtt);
    driver.drop_next();
    driver.run_rounds(1);
    while driver.window.state != State::Open {
        driver.run_rounds(1);
    }
    driver
}

/// 1,000 segments and 100 ms: the cubic function decides, concave for 9 s and convex after.
#[test]
fn cubic_after_loss_follows_cubic_function() {
    let mut driver = after_loss(1_000, RTT);
    let start = driver.now;
    let truth = Rfc9438::after_loss_at(f64::from(driver.window.prior_cwnd));
    for row in driver.run_rounds(180).to_vec() {
        // At the end of a round the window is what the function gives a round trip later.
        let wanted = truth.cubic((row.time.since(start) + RTT).as_secs_f64());
        assert!((f64::from(row.cwnd) - wanted).abs() <= 2.0, "{wanted}: {row:?}");
    }
}

/// 50 segments and 10 ms: Reno's window is the larger one. Linux reckons with α = 8/15 instead of
/// 9/17: 0.8 % more.
#[test]
fn cubic_on_short_path_is_not_slower_than_reno() {
    let rtt = Span::from_millis(10);
    let mut driver = after_loss(50, rtt);
    let start = driver.now;
    let truth = Rfc9438::after_loss_at(f64::from(driver.window.prior_cwnd));
    for row in driver.run_rounds(250).to_vec() {
        let t = row.time.since(start).as_secs_f64();
        let wanted = truth.reno(t, rtt.as_secs_f64());
        assert!(wanted >= truth.cubic(t));
        assert!((f64::from(row.cwnd) - wanted).abs() <= 3.0, "{wanted}: {row:?}");
    }
}

/// RFC 9438 section 4.7: a loss below the last W_max makes the next W_max (1 + β)/2 of the window.
#[test]
fn cubic_second_loss_releases_bandwidth() {
    let mut driver = after_loss(1_000, RTT);
    driver.run_rounds(20);
    driver.drop_next();
    driver.run_rounds(3);
    let cwnd = f64::from(driver.window.prior_cwnd);
    let start = driver.now;
    let truth = Rfc9438 { max: cwnd * (1.0 + Rfc9438::BETA) / 2.0, start: cwnd * Rfc9438::BETA };
    for row in driver.run_rounds(100).to_vec() {
        // Recovery ended up to two rounds before.
        let since = row.time.since(start);
        let bounds = [since, since + RTT * 3].map(|span| truth.cubic(span.as_secs_f64()));
        let range = bounds[0] - 3.0..=bounds[1] + 3.0;
        assert!(range.contains(&f64::from(row.cwnd)), "{range:?}: {row:?}");
    }
}

/// Nothing is known before the first loss: 5 % a round, then the convex function from here. After
/// a timeout it is the same (RFC 9438 section 4.8).
#[test]
fn cubic_without_loss_grows_by_a_twentieth_per_round() {
    let mut driver = avoiding(1_000, RTT);
    let rows = driver.run_rounds(20).to_vec();
    for pair in rows.windows(2) {
        let growth = f64::from(pair[1].cwnd) / f64::from(pair[0].cwnd);
        assert!((1.049..=1.051).contains(&growth), "{pair:?}");
    }
}

/// However far the function is above, at most half of the window is added in a round.
#[test]
fn cubic_growth_is_at_most_half_per_round() {
    let rtt = Span::from_secs(2);
    let mut driver = after_loss(200, rtt);
    let rows = driver.run_rounds(12).to_vec();
    let steps: Vec<(f64, f64)> =
        rows.windows(2).map(|pair| (pair[0].cwnd.into(), pair[1].cwnd.into())).collect();
    assert!(steps.iter().all(|(old, new)| *new <= old * 1.5 + 2.0), "{steps:?}");
    assert!(steps.iter().any(|(old, new)| *new >= old * 1.5 - 2.0), "{steps:?}");
}

/// A time without data does not count: RFC 9438 section 5.8.
#[test]
fn cubic_idle_time_is_excluded() {
    let mut busy = after_loss(1_000, RTT);
    let mut idle = after_loss(1_000, RTT);
    busy.run_rounds(20);
    idle.run_rounds(20);
    idle.idle(Span::from_secs(5));
    // The first acknowledgement after the idle time ends the round before.
    idle.run_rounds(21);
    busy.run_rounds(20);
    // 4 s into the epoch. Had the time counted, it would have been 9 s, and 53 segments more.
    let (shown, wanted) = (idle.window.cwnd, busy.window.cwnd);
    assert!(shown.abs_diff(wanted) <= 2, "{shown} not {wanted}");
}

/// An acknowledgement each millisecond is one train. In the round in which 80 come, a train of half
/// of 101 ms and of 1 ms for gathering bursts is exceeded with the 52nd; 52 more than 80 then.
#[test]
fn hystart_long_ack_train_ends_slow_start() {
    let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 10_000);
    let mut driver = Driver::new("cubic", path);
    driver.run_rounds(6);
    assert_eq!(driver.window.delivery.lost, 0);
    assert!(driver.window.ssthresh.abs_diff(132) <= 1, "{:?}", driver.window);
}

/// Pacing by itself spreads a window over half a round trip, so where segments are paced a train
/// has to last for a whole one: longer than the 80, exceeded with the 103rd of 160.
#[test]
fn hystart_with_pacing_needs_longer_train() {
    let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 10_000);
    let mut driver = Driver::with(Box::new(Cubic::new(&setup())), path, |window| {
        window.pacing.is_on = true;
    });
    driver.run_rounds(7);
    assert_eq!(driver.window.delivery.lost, 0);
    assert!(driver.window.ssthresh.abs_diff(263) <= 1, "{:?}", driver.window);
}

/// An acknowledgement each four milliseconds is none. 26 segments fill the path: in the round in
/// which 80 come, the first had to wait for 14 of the 40 before, 56 ms, more than 104 ms / 8. Eight
/// are looked at, the ninth ends it.
#[test]
fn hystart_growing_rtt_ends_slow_start() {
    let path = Path::bottleneck(Span::from_millis(4), Span::from_millis(100), 10_000);
    let mut driver = Driver::new("cubic", path);
    driver.run_rounds(6);
    assert_eq!((driver.window.delivery.lost, driver.window.ssthresh), (0, 88));
}

/// A timeout makes slow start lead to 0.7 of the window that was, and forgets the rest.
#[test]
fn cubic_after_timeout_restarts() {
    let mut driver = after_loss(1_000, RTT);
    driver.run_rounds(20);
    driver.interrupt(Span::from_millis(500));
    while driver.window.state != State::Loss {
        driver.run_rounds(1);
    }
    let peak = driver.window.prior_cwnd;
    assert_eq!(driver.window.ssthresh, (f64::from(peak) * 717.0 / 1024.0) as u32);
    while driver.window.in_slow_start() {
        driver.run_rounds(1);
    }
    // No W_max: 5 % a round from there, not 10 segments or less as by the function.
    let rows = driver.run_rounds(5).to_vec();
    let growth = f64::from(rows[4].cwnd) / f64::from(rows[0].cwnd);
    assert!((growth - 1.05_f64.powi(4)).abs() < 0.01, "{growth}");
}
