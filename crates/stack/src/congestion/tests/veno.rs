use tcplab_units::Span;

use super::driver::{Driver, Path};
use crate::congestion::Veno;

fn driver(cwnd: u32) -> Driver {
    let path = Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 10_000);
    Driver::avoiding(Veno::default(), path, cwnd)
}

/// 101 segments fill the path: below, a loss is no congestion.
#[test]
fn veno_loss_reduces_by_queue_length() {
    for (cwnd, kept) in [(60_u32, 4.0 / 5.0), (90, 4.0 / 5.0), (120, 0.5), (200, 0.5)] {
        let mut driver = driver(cwnd);
        driver.run_rounds(3);
        let before = driver.window.cwnd;
        driver.drop_next();
        driver.run_rounds(2);
        // It grows by a segment until the loss is known.
        let expected = f64::from(before + 1) * kept;
        let ssthresh = f64::from(driver.window.ssthresh);
        assert!((ssthresh - expected).abs() <= 1.0, "{cwnd}: {ssthresh} not {expected}");
    }
}

#[test]
fn veno_growth_depends_on_queue() {
    for (cwnd, expected) in [(40, 40), (150, 20)] {
        let mut driver = driver(cwnd);
        driver.run_rounds(4);
        let before = driver.window.cwnd;
        driver.run_rounds(40);
        let grown = driver.window.cwnd - before;
        assert!(grown.abs_diff(expected) <= 1, "{cwnd}: {grown} not {expected}");
    }
}
