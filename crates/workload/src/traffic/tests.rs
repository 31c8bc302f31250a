use proptest::prelude::*;
use tcplab_units::Rng;

use super::*;
use crate::{Application, Program, Want};

const END: Span = Span::from_secs(60);

fn traffic(json: &str) -> Traffic {
    serde_json::from_str(json).unwrap()
}

fn amount(spec: &WorkloadSpec) -> u64 {
    spec.amount().as_u64()
}

/// Hand-computed moments of the laws, within four standard errors of 20,000 draws, and the medians
/// of the heavy-tailed ones, whose means say little.
#[test]
fn laws_have_their_moments() {
    let draws = |json: &str| {
        let law: Law<Bytes> = serde_json::from_str(json).unwrap();
        let mut rng = Rng::new(7, "law");
        let mut all: Vec<u64> = (0..20_000).map(|_| law.draw(&mut rng).as_u64()).collect();
        all.sort_unstable();
        all
    };
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / all.len() as f64;
    assert_eq!(draws(r#""30 kB""#)[..2], [30_000, 30_000]);
    let exponential = draws(r#"{"exponential": "100 kB"}"#);
    assert!((mean(&exponential) - 1e5).abs() < 4.0 * 1e5 / 20_000_f64.sqrt());
    assert!((exponential[10_000] as f64 / (1e5 * 2_f64.ln()) - 1.0).abs() < 0.04);
    // Least value 100 kB · 0.2/1.2, median 2^(1/1.2) times that, nothing above 1000 means.
    let pareto = draws(r#"{"pareto": {"mean": "100 kB", "shape": 1.2}}"#);
    assert!((16_667..16_680).contains(&pareto[0]), "{}", pareto[0]);
    assert!((pareto[10_000] as f64 / 29_697.0 - 1.0).abs() < 0.04, "{}", pareto[10_000]);
    assert!(pareto[19_999] <= 100_000_000);
    // One in a hundred is above 100^(1/1.2) least values: the tail is there.
    assert!((pareto[19_800] as f64 / 773_600.0 - 1.0).abs() < 0.25, "{}", pareto[19_800]);
    let normal = draws(r#"{"log_normal": {"median": "10 kB", "sigma": 1}}"#);
    assert!((normal[10_000] as f64 / 1e4 - 1.0).abs() < 0.05, "{}", normal[10_000]);
    // e times the median is one standard deviation up: 84.13 % are below.
    assert!((normal[16_826] as f64 / 27_183.0 - 1.0).abs() < 0.06, "{}", normal[16_826]);
}

#[test]
fn arrivals_are_poisson_where_their_times_are_exponential() {
    let json = r#"{"arrivals": {"every": {"exponential": "100 ms"}, "size": "20 kB"}}"#;
    let all = traffic(json).connections(3, "web", END);
    // 600 are expected, with a standard deviation of √600.
    assert!((all.len() as f64 - 600.0).abs() < 4.0 * 600_f64.sqrt(), "{}", all.len());
    assert!(all.iter().all(|(at, spec)| *at < END && amount(spec) == 20_000));
    assert!(all.iter().all(|(_, spec)| spec.download.is_some()));
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let few = r#"{"arrivals": {"every": "1 s", "size": "20 kB", "way": "upload", "most": 3}}"#;
    let all = traffic(few).connections(3, "web", END);
    let began: Vec<u64> = all.iter().map(|(at, _)| at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(began, [1, 2, 3]);
    assert!(all.iter().all(|(_, spec)| spec.upload == Some(Bytes::new(20_000))));
}

#[test]
fn on_off_source_sends_its_rate() {
    let json = r#"{"on_off": {"rate": "800 kbit/s", "on": "1 s", "off": "500 ms"}}"#;
    let all = traffic(json).connections(1, "chat", Span::from_secs(4));
    assert_eq!(all.len(), 1);
    let spec = &all[0].1;
    spec.check().unwrap();
    // Bursts begin at 0 s, 1.5 s and 3 s: 100 kB each.
    assert_eq!(amount(spec), 300_000);
    let mut application = Application::new(Endpoint::Client, spec, 1);
    let mut now = tcplab_units::Instant::ZERO;
    let mut sent = Vec::new();
    loop {
        match application.want(now) {
            Want::Write { bytes, .. } => {
                sent.push((now.as_nanos() / 1_000_000, bytes.len()));
                let count = bytes.len();
                application.wrote(count, now);
            }
            Want::Sleep(until) => now = until,
            Want::Read(_) => application.end_of_stream(now),
            Want::Nothing => break,
            _ => application.did(now),
        }
    }
    let within = |from: u64, to: u64| {
        let of = sent.iter().filter(|(at, _)| (from..to).contains(at));
        of.map(|(_, size)| *size).sum::<usize>()
    };
    assert_eq!(
        [within(0, 1_000), within(1_000, 1_500), within(1_500, 2_500)],
        [100_000, 0, 100_000]
    );
}

#[test]
fn bulk_stops_at_its_time() {
    let all = traffic(r#"{"bulk": "upload"}"#).connections(1, "cross", END);
    let at = |seconds| tcplab_units::Instant::ZERO + Span::from_secs(seconds);
    let application = Application::new(Endpoint::Client, &all[0].1, 1);
    let mut application = application.stopping(Some(at(2)));
    application.did(at(0));
    for second in [0, 1] {
        let Want::Write { bytes, .. } = application.want(at(second)) else { panic!("{second}") };
        let count = bytes.len();
        application.wrote(count, at(second));
    }
    assert_eq!(application.want(at(2)), Want::ShutDown(Half::Write));
    assert_eq!(application.report().bytes, Bytes::new(2 * 65_536));
}

#[test]
fn impossible_traffic_is_refused() {
    for (json, key) in [
        (r#"{"on_off": {"rate": "0 bit/s", "on": "1 s", "off": "1 s"}}"#, Some("on_off.rate")),
        (r#"{"on_off": {"rate": "1 Mbit/s", "on": "0 s", "off": "1 s"}}"#, Some("on_off.on")),
        (
            r#"{"arrivals": {"every": "1 s", "size": {"pareto": {"mean": "1 kB", "shape": 1}}}}"#,
            Some("arrivals.size"),
        ),
        (r#"{"arrivals": {"every": "1 s", "size": "1 kB", "most": 1001}}"#, Some("arrivals.most")),
        (r#"{"bulk": "download"}"#, None),
    ] {
        assert_eq!(traffic(json).check().err().map(|(key, _)| key), key, "{json}");
    }
    let shape =
        r#"{"arrivals": {"every": "1 s", "size": {"pareto": {"mean": "1 kB", "shape": 0}}}}"#;
    for (json, expected) in [
        (shape, "0 shapes nothing"),
        (r#"{"arrivals": {"every": "1", "size": "1 kB"}}"#, "`1` has no unit"),
        (r#"{"arrivals": {"every": 1, "size": "1 kB"}}"#, "a value with its unit, or a table"),
        (
            r#"{"arrivals": {"every": {"normal": "1 s"}, "size": "1 kB"}}"#,
            "unknown variant `normal`",
        ),
    ] {
        let error = serde_json::from_str::<Traffic>(json).unwrap_err().to_string();
        assert!(error.contains(expected), "{json}: {error}");
    }
    // Parsing and serialising gives the same text.
    let json = r#"{"arrivals":{"every":{"exponential":"200 ms"},"way":"download","size":"30 kB","most":7}}"#;
    assert_eq!(serde_json::to_string(&traffic(json)).unwrap(), json);
}

proptest! {
    /// The same seed, the same connections; each can be run.
    #[test]
    fn any_seed_makes_programs_that_can_be_run(seed: u64, kind in 0_usize..2) {
        let json = [
            r#"{"arrivals": {"every": {"pareto": {"mean": "500 ms", "shape": 1.5}},
                "size": {"log_normal": {"median": "8 kB", "sigma": 2}}, "most": 50}}"#,
            r#"{"on_off": {"way": "download", "rate": "3 Mbit/s", "on": {"exponential": "5 ms"},
                "off": {"exponential": "5 ms"}}}"#,
        ][kind];
        let all = traffic(json).connections(seed, "x", END);
        prop_assert_eq!(&all, &traffic(json).connections(seed, "x", END));
        for (_, spec) in all {
            prop_assert!(spec.check().is_ok());
            for side in Endpoint::BOTH {
                prop_assert!(Program::new(side, spec.program(side).steps().to_vec()).is_ok());
            }
        }
    }
}
