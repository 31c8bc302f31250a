use tcplab_units::Span;

use super::driver::{Driver, Path};
use crate::congestion::Reno;

fn endless() -> Path {
    Path::endless(Span::from_millis(100))
}

fn cwnds(driver: &mut Driver, rounds: usize) -> Vec<u32> {
    driver.run_rounds(rounds).iter().map(|row| row.cwnd).collect()
}

#[test]
fn reno_slow_start_doubles_up_to_threshold() {
    let mut driver =
        Driver::with(Box::new(Reno::named("reno")), endless(), |window| window.ssthresh = 100);
    assert_eq!(cwnds(&mut driver, 6), [20, 40, 80, 100, 101, 102]);
}

#[test]
fn reno_avoidance_adds_one_segment_and_loss_halves() {
    let mut driver = Driver::avoiding(Reno::named("reno"), endless(), 200);
    let rows = cwnds(&mut driver, 50);
    let expected: Vec<u32> = (201..=250).collect();
    assert_eq!(rows, expected);
    driver.drop_next();
    let after = cwnds(&mut driver, 8);
    // Known in the round after, at 251 segments; the round after that is recovery.
    assert_eq!(after, [251, 125, 125, 126, 127, 128, 129, 130]);
}

/// A saw-tooth from W/2 to W sends 3/8·W² segments for each loss (Mathis and others, CCR 1997).
#[test]
fn reno_saw_tooth_sends_three_eighths_of_window_squared() {
    let mut driver = Driver::avoiding(Reno::named("reno"), endless(), 100);
    let peak = 200_u32;
    let mut sent = Vec::new();
    let mut before = 0;
    for _ in 0..4 {
        while driver.window.cwnd < peak {
            driver.run_rounds(1);
        }
        driver.drop_next();
        driver.run_rounds(3);
        sent.push(driver.window.delivery.delivered - before);
        before = driver.window.delivery.delivered;
    }
    for segments in &sent[1..] {
        let ratio = *segments as f64 / (0.375 * f64::from(peak).powi(2));
        assert!((1.0..1.06).contains(&ratio), "{sent:?}");
    }
}
