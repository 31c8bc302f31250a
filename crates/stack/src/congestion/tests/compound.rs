use tcplab_units::{Instant, Span};

use super::driver::{Driver, Path};
use crate::congestion::{AckSample, Compound, CongestionControl as _, Window};

const RTT: Span = Span::from_millis(100);

fn driver(path: Path, cwnd: u32) -> Driver {
    Driver::avoiding(Compound::default(), path, cwnd)
}

/// Without a queue: win + 1 + max(win^¾/8 − 1, 0) a round.
#[test]
fn compound_without_queue_grows_by_power_of_three_quarters() {
    let mut driver = driver(Path::endless(RTT), 100);
    let rows = driver.run_rounds(60).to_vec();
    let mut wanted = f64::from(rows[0].cwnd);
    for row in &rows[1..] {
        let before = wanted;
        wanted += 1.0 + (wanted.powf(0.75) / 8.0 - 1.0).max(0.0);
        // Each round is judged by the acknowledgement after its last: in sum up to a round late.
        let range = before - 2.0..=wanted + 2.0;
        assert!(range.contains(&f64::from(row.cwnd)), "{range:?}: {row:?}");
    }
}

/// Below 38 segments it is Reno.
#[test]
fn compound_small_window_grows_as_reno() {
    let mut driver = driver(Path::endless(RTT), 20);
    let cwnds: Vec<u32> = driver.run_rounds(17).iter().map(|row| row.cwnd).collect();
    assert_eq!(cwnds, (21..=37).collect::<Vec<_>>());
}

/// The sum swings about the window with which γ = 30 segments wait. A round's shortest round trip
/// is that of its first segments, so the queue is seen two rounds late; what then waits is taken
/// off at once.
#[test]
fn compound_with_delay_window_queues_about_thirty_segments() {
    let path = Path::bottleneck(Span::from_micros(200), RTT, 10_000);
    let mut driver = driver(path, 300);
    driver.run_rounds(60);
    let growth = (path.product() + 30.0).powf(0.75) / 8.0;
    let range = 30.0 - growth..=30.0 + 3.0 * growth;
    for row in driver.run_rounds(60) {
        let waiting = f64::from(row.cwnd) - path.product();
        assert!(range.contains(&waiting), "{waiting}: {row:?}");
    }
}

#[test]
fn compound_loss_halves_sum() {
    let mut driver = driver(Path::endless(RTT), 400);
    driver.run_rounds(10);
    driver.drop_next();
    driver.run_rounds(2);
    assert_eq!(driver.window.ssthresh, driver.window.prior_cwnd / 2);
    assert_eq!(driver.window.cwnd, driver.window.ssthresh);
}

/// A round of three round trips of `millis`, ended by an acknowledgement.
fn round(control: &mut Compound, window: &mut Window, millis: u64) {
    let rtt = Some(Span::from_millis(millis));
    for _ in 0..3 {
        control.acked(Instant::ZERO, window, &AckSample { rtt, ..AckSample::default() });
    }
    window.una = window.nxt + 1;
    window.nxt += 1_000_000;
    control.avoid(Instant::ZERO, window, 1);
}

fn by_hand(cwnd: u32) -> (Compound, Window) {
    let mut window = Window::new(1_000, cwnd);
    window.ssthresh = cwnd;
    window.flight.is_cwnd_limited = true;
    let mut control = Compound::default();
    control.init(Instant::ZERO, &mut window);
    (control, window)
}

/// 625 segments: 625^¾ = 125, and 125/8 − 1 = 14.6. At 100 and then 125 ms, a fifth waits.
#[test]
fn compound_one_round_matches_hand_calculation() {
    let (mut control, mut window) = by_hand(625);
    round(&mut control, &mut window, 100);
    assert_eq!((window.cwnd, control.delay_window()), (625 + 14, 14));
    round(&mut control, &mut window, 125);
    // Nothing is left of the delay window, and the loss window is what it was.
    assert_eq!((window.cwnd, control.delay_window()), (625, 0));
}

/// γ goes half-way to ¾ of what the loss window alone would have waiting: 300 segments at 100 and
/// then 110 ms are 27.3, of which ¾ are 20.5; (30 + 20.5)/2 = 25.2, and then 22.8.
#[test]
fn compound_gamma_follows_renos_queue() {
    let (mut control, mut window) = by_hand(300);
    round(&mut control, &mut window, 100);
    let before = window.cwnd;
    assert_eq!(control.delay_window(), 8);
    round(&mut control, &mut window, 110);
    // 28 of 308 wait, which is below γ.
    assert_eq!((before, window.cwnd, control.delay_window()), (308, 316, 16));
    let half = control.ssthresh(Instant::ZERO, &mut window);
    assert_eq!((half, control.delay_window(), control.gamma()), (158, 8, 25));
    // Back to the whole.
    window.prior_cwnd = window.cwnd;
    assert_eq!((control.undo(&window), control.delay_window()), (316, 16));
    control.ssthresh(Instant::ZERO, &mut window);
    assert_eq!(control.gamma(), 22);
}

/// Next to no queue at a loss: γ goes down to five and no further.
#[test]
fn compound_gamma_has_minimum() {
    let (mut control, mut window) = by_hand(100);
    round(&mut control, &mut window, 100);
    let gammas: Vec<u32> = (0..4)
        .map(|_| {
            control.ssthresh(Instant::ZERO, &mut window);
            control.gamma()
        })
        .collect();
    assert_eq!(gammas, [15, 7, 5, 5]);
}
