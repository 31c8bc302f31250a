//! The controls driven through a bottleneck and held against their formulas.

mod bbr;
mod compound;
mod cubic;
mod driver;
mod reno;
mod tahoe;
mod vegas;
mod veno;
mod westwood;

use tcplab_units::Span;

use super::{NAMES, by_name};
use driver::{Driver, Path, table};

/// The path of the tables: 8 Mbit/s, 100 ms, a queue of half of that.
fn usual() -> Path {
    Path::bottleneck(Span::from_millis(1), Span::from_millis(100), 50)
}

#[test]
fn each_control_is_found_by_its_name() {
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
fn nothing_is_left_to_chance() {
    for name in NAMES {
        let rows = || Driver::new(name, usual()).run_rounds(80).to_vec();
        assert_eq!(rows(), rows(), "{name}");
    }
}

/// After half a second without any path, each control gets going again.
#[test]
fn an_interruption_is_survived() {
    for name in NAMES {
        let mut driver = Driver::new(name, usual());
        driver.run_rounds(20);
        driver.interrupt(Span::from_millis(500));
        let begin = driver.now;
        driver.run_until(begin + Span::from_secs(2));
        let before = driver.window.delivered;
        driver.run_until(begin + Span::from_secs(22));
        let shown = driver.window.delivered - before;
        assert!((10_000..=20_001).contains(&shown), "{name}: {shown} of 20,000");
    }
}
