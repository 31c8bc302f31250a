use tcplab_units::{Instant, Rate, Span};

use super::driver::{Driver, MSS, Path};
use crate::congestion::{Bbr, CongestionControl as _, Event, RateSample, Setup, State, Window};

const DELAY: Span = Span::from_millis(100);

fn path(queue: u64) -> Path {
    Path::bottleneck(Span::from_millis(1), DELAY, queue)
}

fn seconds(n: u64) -> Instant {
    Instant::ZERO + Span::from_secs(n)
}

/// Its rate, as a multiple of the bottleneck's 8 Mbit/s.
fn gain(driver: &Driver) -> f64 {
    let bits = driver.window.pacing.rate.map_or(0, Rate::bits_per_second);
    bits as f64 / 8e6
}

/// 2/ln 2 is the gain with which what is sent doubles each round trip.
#[test]
fn bbr_startup_doubles_rate_each_round() {
    let mut driver = Driver::new("bbr", Path::bottleneck(Span::from_micros(10), DELAY, 100_000));
    let mut delivered = Vec::new();
    for _ in 0..9 {
        driver.run_for(DELAY);
        delivered.push(driver.window.delivery.delivered);
    }
    let rates: Vec<u64> = delivered.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for pair in rates[4..].windows(2) {
        let growth = pair[1] as f64 / pair[0] as f64;
        assert!((1.95..=2.05).contains(&growth), "{rates:?}");
    }
}

/// Three rounds without growth by a quarter end it, and the queue it made is gone soon after.
#[test]
fn bbr_after_startup_drains_queue() {
    let mut driver = Driver::new("bbr", path(10_000));
    let mut most = 0;
    while driver.now < seconds(2) {
        driver.run_rounds(1);
        most = most.max(driver.queue());
    }
    // Startup's window is 2.89 times what fits, and a few segments for bursts.
    assert!((100..=200).contains(&most), "{most}");
    assert!(driver.queue() <= 26, "{}", driver.queue());
    assert_eq!(driver.window.delivery.lost, 0);
}

/// The path is full, little waits, and the rate goes through its cycle of eight phases.
#[test]
fn bbr_in_steady_state_fills_path_with_short_queue() {
    let mut driver = Driver::new("bbr", path(10_000));
    driver.run_until(seconds(3));
    let before = driver.window.delivery.delivered;
    let (mut most, mut probes, mut last) = (0, 0, 0.0);
    while driver.now < seconds(9) {
        driver.run_for(Span::from_millis(10));
        most = most.max(driver.queue());
        let gain = gain(&driver);
        assert!(
            [1.25, 0.75, 1.0].iter().any(|phase| (gain - 0.99 * phase).abs() < 0.01),
            "{gain} at {:?}",
            driver.now
        );
        probes += u32::from(gain > 1.1 && last < 1.1);
        last = gain;
        // Twice what fits, rounded up, and three bursts of two: 202 + 6, two more while probing.
        assert!((208..=212).contains(&driver.window.cwnd), "{}", driver.window.cwnd);
    }
    let share = (driver.window.delivery.delivered - before) as f64 / 6_000.0;
    assert!(share > 0.98, "{share}");
    // Probing continues until 1.25 BDP is in flight, and bursts: 127 + 6 + 2.
    assert!((26..=36).contains(&most), "{most}");
    // Eight phases of a round trip each.
    assert!((6..=8).contains(&probes), "{probes}");
}

/// Ten seconds after the shortest round trip, four segments are in flight for 200 ms and
/// a round trip; the window comes back afterwards.
#[test]
fn bbr_after_ten_seconds_probes_rtt() {
    let mut driver = Driver::new("bbr", path(10_000));
    driver.run_until(seconds(9));
    let time_of_cwnd = |driver: &mut Driver, wanted: fn(u32) -> bool| {
        while !wanted(driver.window.cwnd) {
            driver.run_for(Span::from_millis(1));
        }
        driver.now
    };
    let begin = time_of_cwnd(&mut driver, |cwnd| cwnd == 4);
    assert!((10.0..=10.2).contains(&begin.as_secs_f64()), "{begin:?}");
    let end = time_of_cwnd(&mut driver, |cwnd| cwnd > 4);
    // 100 ms until four are in flight, then 200 ms, and on to the next acknowledgement.
    let lasting = end.since(begin).as_millis_f64();
    assert!((300.0..=402.0).contains(&lasting), "{lasting}");
    assert!((208..=212).contains(&driver.window.cwnd), "{}", driver.window.cwnd);
}

/// One loss in a hundred is no reason to be slower.
#[test]
fn bbr_random_losses_keep_rate() {
    let mut driver = Driver::new("bbr", path(200));
    driver.run_until(seconds(2));
    let before = driver.window.delivery.delivered;
    while driver.now < seconds(9) {
        driver.drop_next();
        driver.run_for(Span::from_millis(100));
    }
    let share = (driver.window.delivery.delivered - before) as f64 / 7_000.0;
    assert!(share > 0.95, "{share}");
}

/// After idle it resumes at the known bandwidth, not with a burst.
#[test]
fn bbr_after_idle_keeps_rate() {
    let mut driver = Driver::new("bbr", path(10_000));
    driver.run_until(seconds(3));
    driver.idle(Span::from_secs(1));
    let begin = driver.now;
    driver.run_until(begin + Span::from_millis(90));
    assert!((gain(&driver) - 0.99).abs() < 0.01, "{}", gain(&driver));
    assert!(driver.queue() <= 2, "{}", driver.queue());
    assert!(
        (85..=92).contains(&driver.window.flight.in_flight),
        "{}",
        driver.window.flight.in_flight
    );
}

#[test]
fn bbr_seed_decides_first_phase() {
    let run = |seed| {
        let setup = Setup { seed, ..Setup::default() };
        let mut driver = Driver::with(Box::new(Bbr::new(&setup)), path(10_000), |_| {});
        driver.run_until(seconds(3));
        (0..100)
            .map(|_| {
                driver.run_for(Span::from_millis(10));
                driver.window.pacing.rate
            })
            .collect::<Vec<_>>()
    };
    let runs: Vec<_> = (0..8).map(run).collect();
    assert_eq!(runs[0], run(0));
    assert!(runs.iter().any(|other| *other != runs[0]));
}

/// A control in steady state by hand: one segment a millisecond, 100 ms, 100 in flight.
fn by_hand() -> (Bbr, Window, Instant) {
    let mut window = Window::new(MSS, 10);
    window.rtt.srtt = Some(DELAY);
    window.rtt.min_rtt = Some(DELAY);
    let mut control = Bbr::new(&Setup::default());
    let mut now = Instant::ZERO;
    control.init(now, &mut window);
    for _ in 0..2_000 {
        now += Span::from_millis(1);
        window.flight.in_flight = 100;
        let rate = sample(&mut window.delivery.delivered, 0);
        control.control(now, &mut window, &rate);
    }
    (control, window, now)
}

/// What one more segment says.
fn sample(delivered: &mut u64, losses: u32) -> RateSample {
    *delivered += 1;
    RateSample {
        prior_delivered: delivered.saturating_sub(100),
        delivered: Some(100),
        interval: DELAY,
        rtt: Some(DELAY),
        losses,
        acked_sacked: 1,
        prior_in_flight: 100,
        app_limited: false,
        is_ack_delayed: false,
    }
}

/// Entering recovery, as much may leave as arrived; a round later the window grows again, and at
/// the end it is what it was.
#[test]
fn bbr_first_round_of_recovery_conserves_segments() {
    let (mut control, mut window, mut now) = by_hand();
    let before = window.cwnd;
    assert!((200..=212).contains(&before), "{before}");
    assert_eq!(control.ssthresh(now, &mut window), window.ssthresh);
    control.enter(now, &mut window, State::Recovery);
    window.state = State::Recovery;
    let mut cwnds = Vec::new();
    for step in 0..120 {
        now += Span::from_millis(1);
        window.flight.in_flight = 97;
        let losses = if step == 0 { 3 } else { 0 };
        let rate = sample(&mut window.delivery.delivered, losses);
        control.control(now, &mut window, &rate);
        cwnds.push(window.cwnd);
    }
    assert_eq!(&cwnds[..3], [98, 98, 98]);
    assert_eq!(cwnds[99], 98);
    assert!(cwnds[119] > 110, "{cwnds:?}");
    window.state = State::Open;
    let rate = sample(&mut window.delivery.delivered, 0);
    control.control(now, &mut window, &rate);
    assert!(window.cwnd.abs_diff(before) <= 2, "{} not {before}", window.cwnd);
}

/// A timeout leaves the window to the sender, and what was before it comes back.
#[test]
fn bbr_after_timeout_restores_window() {
    let (mut control, mut window, now) = by_hand();
    let before = window.cwnd;
    control.ssthresh(now, &mut window);
    control.event(now, &mut window, Event::Timeout);
    window.cwnd = 1;
    window.flight.in_flight = 0;
    control.enter(now, &mut window, State::Loss);
    window.state = State::Loss;
    let rate = sample(&mut window.delivery.delivered, 0);
    control.control(now, &mut window, &rate);
    assert_eq!(window.cwnd, 4);
    window.state = State::Open;
    let rate = sample(&mut window.delivery.delivered, 0);
    control.control(now, &mut window, &rate);
    assert!(window.cwnd.abs_diff(before) <= 2, "{} not {before}", window.cwnd);
}
