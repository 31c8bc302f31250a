use tcplab_path::Direction;
use tcplab_units::{Bytes, Rate, Span};

use super::*;

fn test() -> Test {
    Test {
        path: serde_json::from_str(r#"{ "rate": "20 Mbit/s", "delay": "20 ms" }"#).unwrap(),
        direction: Direction::Forward,
        lasting: Span::from_secs(2),
        trials: 1,
        connections: 4,
        congestion: Some("cubic".into()),
    }
}

fn baseline() -> Baseline {
    Baseline {
        mtu: Bytes::new(1500),
        segment: Bytes::new(1448),
        rtt: Span::from_millis(40),
        rtt_mean: Span::from_millis(41),
        rate: Rate::from_bits_per_second(20_000_000),
        peak: None,
        asked: None,
    }
}

#[test]
fn every_step_is_a_scenario() {
    let (test, baseline) = (test(), baseline());
    for direction in Direction::BOTH {
        let test = Test { direction, ..test.clone() };
        for (source, cases) in [
            (test.baseline(), vec!["1-round-trip", "2-bottleneck"]),
            (
                test.windows(&baseline),
                // Eighths of 100 kB in whole segments, not less, by name.
                vec!["101360B", "13032B", "201272B", "26064B", "50680B", "75296B"],
            ),
            (test.several(&baseline).unwrap(), vec!["connections=2", "connections=4"]),
        ] {
            let scenario = tcplab_scenario::Scenario::parse(&source, "t")
                .unwrap_or_else(|error| panic!("{error}\n{source}"));
            let names: Vec<&str> = scenario.cases.iter().map(|case| case.name.as_str()).collect();
            assert_eq!(names, cases, "{source}");
        }
    }
}

/// It is compared with what the connections of the test find.
#[test]
fn configured_rtt_has_the_delay_of_the_tests_port() {
    let mut path = test().path;
    let asked = |path: &_| Asked::of(path, Direction::Forward, Span::from_secs(2)).unwrap();
    let near = asked(&path).rtt;
    path.port_delay = serde_json::from_str(
        r#"[{ "port": 5001, "delay": "30 ms" }, { "port": 80, "delay": "1 s" }]"#,
    )
    .unwrap();
    assert_eq!(asked(&path).rtt, near + Span::from_millis(60));
}

#[test]
fn bdp_and_ideal_rate_match_rfc() {
    let baseline = baseline();
    assert_eq!(baseline.bdp(), Bytes::new(100_000));
    assert!((baseline.best().as_mbit_f64() - 20.0 * 1448.0 / 1500.0).abs() < 1e-5);
    assert!(counts(1).is_empty());
    assert_eq!(counts(2), [2]);
    assert_eq!(counts(4), [2, 4]);
    assert_eq!(counts(6), [2, 4, 6]);
    let measured = Throughput { goodput: 9.5, efficiency: 99.0, rtt: 50.0, offered: None };
    let row = row(&baseline, 1, Bytes::new(50_000), &measured);
    assert_eq!(row.ideal, Rate::from_bits_per_second(10_000_000), "half the product");
    assert!((row.transfer_time_ratio - 19.306_667 / 9.5).abs() < 1e-6, "{row:?}");
    assert!((row.buffer_delay - 25.0).abs() < 1e-9, "{row:?}");
}

#[test]
fn summary_names_the_row_whose_window_was_to_be_one_product() {
    let baseline = baseline();
    let row = |window, offered, goodput| {
        let offered = Some(Bytes::new(offered));
        let measured = Throughput { goodput, efficiency: 100.0, rtt: 40.0, offered };
        row(&baseline, 1, Bytes::new(window), &measured)
    };
    // More is in flight than the window that was asked for.
    let rows =
        [row(12_500, 177_000, 2.5), row(101_360, 177_000, 19.0), row(201_272, 250_000, 19.1)];
    let said = sum_up(&baseline, &rows);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("carries 19.00 Mbit/s"), "{said:?}");
}

/// Several connections are said to be best only where one with a larger window is not as good.
#[test]
fn summary_prefers_one_connection_that_is_as_good() {
    let baseline = baseline();
    let row = |connections, window, goodput| {
        let offered = Some(Bytes::new(window));
        let measured = Throughput { goodput, efficiency: 100.0, rtt: 40.0, offered };
        row(&baseline, connections, Bytes::new(window), &measured)
    };
    let rows = |several| [row(1, 101_360, 10.0), row(1, 201_272, 19.0), row(2, 50_680, several)];
    let said = |several| sum_up(&baseline, &rows(several)).join(" ");
    assert!(said(19.2).contains("with a window of 201 kB: 19.00 Mbit/s, 98 %"), "{}", said(19.2));
    assert!(said(19.5).contains("with 2 connections: 19.50 Mbit/s"), "{}", said(19.5));
}

/// A product of five segments has an eighth and a quarter of two at most: one window.
#[test]
fn windows_differ() {
    let rtt = Span::from_micros(2_896);
    let small = Baseline { rtt, rtt_mean: rtt, ..baseline() };
    assert_eq!(small.bdp(), Bytes::new(5 * 1448));
    let segments =
        |of: &Baseline| -> Vec<u64> { of.windows().iter().map(|it| it.as_u64() / 1448).collect() };
    assert_eq!(segments(&small), [2, 3, 4, 5, 10]);
    // A path whose round trip is three times the least one in the mean.
    let varying = Baseline { rtt_mean: small.rtt * 3, ..small };
    assert_eq!(segments(&varying), [2, 3, 4, 5, 10, 15, 30]);
}

/// What is said of a test whose windows are an eighth of the product of 100 kB, it and twice it.
#[test]
fn summary_blames_queue_loss_and_bottleneck_only_where_they_can_be() {
    let baseline = baseline();
    let said_of = |baseline: &Baseline, rows: [(f64, f64); 3]| {
        let row = |(window, (goodput, rtt)): (u64, (f64, f64))| {
            let offered = Some(Bytes::new(window));
            let measured = Throughput { goodput, efficiency: 99.0, rtt, offered };
            row(baseline, 1, Bytes::new(window), &measured)
        };
        let rows: Vec<Row> = [12_500, 101_360, 201_272].into_iter().zip(rows).map(row).collect();
        sum_up(baseline, &rows).join(" ")
    };
    let said = |rows| said_of(&baseline, rows);
    let queue = said([(2.5, 40.0), (19.0, 42.0), (19.3, 81.0)]);
    assert!(queue.contains("From a window of 201 kB on the queue more than doubles"), "{queue}");
    let rows = [(1.0, 90.0), (12.0, 90.0), (19.0, 90.0)];
    let delay = said(rows);
    assert!(delay.contains("12.5 kB on the round trip more than doubles"), "{delay}");
    assert!(delay.contains("the idle path's is steady") && !delay.contains("varies"), "{delay}");
    assert!(!delay.contains("Loss"), "twice the window carries it: {delay}");
    let rtt_mean = Span::from_millis(60);
    let delay = said_of(&Baseline { rtt_mean, ..baseline.clone() }, rows);
    assert!(
        delay.contains("varies (idle round trips: at least 40 ms, in the mean 60 ms)"),
        "{delay}"
    );
    let loss = said([(1.0, 40.0), (5.0, 40.0), (5.1, 40.0)]);
    assert!(loss.contains("Loss keeps the congestion window small"), "{loss}");
    // As much as the windows allow at a round trip of 400 ms.
    let slow = said([(0.25, 400.0), (1.9, 400.0), (3.8, 400.0)]);
    assert!(!slow.contains("Loss"), "{slow}");
    let above = said([(2.5, 40.0), (19.0, 40.0), (24.0, 40.0)]);
    assert!(above.contains("24.00 Mbit/s are more than the ideal goodput of 19.31"), "{above}");
}

/// Of less than what was asked for the ideal is less.
#[test]
fn ideal_is_that_of_the_offered_window() {
    let measured = Throughput {
        goodput: 4.0,
        efficiency: 100.0,
        rtt: 40.0,
        offered: Some(Bytes::new(25_000)),
    };
    let row = row(&baseline(), 1, Bytes::new(50_000), &measured);
    assert_eq!(row.ideal, Rate::from_bits_per_second(5_000_000), "25 kB each 40 ms");
}

#[test]
fn trials_are_told_by_their_medians() {
    let trial = |goodput: f64, offered| Throughput {
        goodput,
        efficiency: 100.0 - goodput,
        rtt: goodput * 2.0,
        offered,
    };
    let trials = [trial(9.0, None), trial(1.0, Some(Bytes::new(7))), trial(5.0, None)];
    let median = Throughput { offered: Some(Bytes::new(7)), ..trial(5.0, None) };
    assert_eq!(Throughput::median(&trials), Some(median));
    assert_eq!(Throughput::median(&[]), None);
}
