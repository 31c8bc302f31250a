//! The congestion controls driven through a bottleneck and compared with their formulas.

mod bbr;
mod compound;
mod cubic;
mod driver;
mod picture;
mod reno;
mod tahoe;
mod vegas;
mod veno;
mod westwood;

use proptest::prelude::*;
use tcplab_units::Span;

use super::{NAMES, by_name};
use driver::{Driver, Path, table};

/// The path of the tables: 8 Mbit/s, 100 ms, a queue of half of that.
fn usual() -> Path {
    Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 50)
}

#[test]
fn control_by_name_is_found() {
    for name in NAMES {
        assert_eq!(by_name(name).expect("it is known").name(), name);
    }
    assert!(by_name("bic").is_none());
}

/// One window a round; the queue overflows, is drained, and overflows again.
#[test]
fn windows_by_round() {
    for name in NAMES {
        let mut driver = Driver::new(name, usual());
        let rows = driver.run_rounds(60);
        insta::assert_snapshot!(name, table(rows, 4));
    }
}

/// The same twice.
#[test]
fn control_same_seed_gives_same_windows() {
    for name in NAMES {
        let rows = || Driver::new(name, usual()).run_rounds(80).to_vec();
        assert_eq!(rows(), rows(), "{name}");
    }
}

/// After half a second without any path, each control gets going again.
#[test]
fn control_after_interruption_recovers() {
    for name in NAMES {
        let mut driver = Driver::new(name, usual());
        driver.run_rounds(20);
        driver.interrupt(Span::from_millis(500));
        let begin = driver.now;
        driver.run_until(begin + Span::from_secs(2));
        let before = driver.window.delivery.delivered;
        driver.run_until(begin + Span::from_secs(22));
        let shown = driver.window.delivery.delivered - before;
        assert!((10_000..=20_001).contains(&shown), "{name}: {shown} of 20,000");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the path and its losses, at least one segment may leave and one may arrive.
    #[test]
    fn control_with_any_events_keeps_window_positive(
        service in 1_u64..20_000,
        delay in 0_u64..1_000,
        queue in 1_u64..300,
        troubles in prop::collection::vec((0_u64..500, 0_u64..4), 0..12),
    ) {
        for name in NAMES {
            let (service, delay) = (Span::from_micros(service), Span::from_millis(delay));
            let mut driver = Driver::new(name, Path::bottleneck(service, delay, queue));
            for &(pause, trouble) in &troubles {
                driver.run_for(Span::from_millis(pause));
                match trouble {
                    0 => driver.drop_next(),
                    1 => driver.interrupt(Span::from_millis(pause)),
                    2 => driver.idle(Span::from_millis(pause)),
                    _ => {}
                }
                prop_assert!(driver.window.cwnd >= 1 && driver.window.ssthresh >= 2, "{name}");
            }
            let before = driver.window.delivery.delivered;
            driver.run_for(Span::from_secs(10));
            prop_assert!(driver.window.delivery.delivered > before, "{name}");
        }
    }
}
