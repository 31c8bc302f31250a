use tcplab_path::PathSpec;
use tcplab_units::{Bytes, Rate, Span};

use super::*;

fn fat_and_lossy() -> Situation {
    Situation {
        rate: Some(Rate::from_bits_per_second(50_000_000)),
        loss: 0.001,
        ..Situation::of_round_trip(Span::from_millis(100))
    }
}

fn ids(situation: &Situation, goal: Goal) -> Vec<&'static str> {
    advise(situation, goal).iter().map(|advice| advice.id).collect()
}

#[test]
fn lossy_path_gets_bbr_first() {
    let long = Situation { payload: Bytes::new(200_000_000), ..fat_and_lossy() };
    let advice = advise(&long, Goal::Throughput);
    assert_eq!(advice[0].id, "congestion-control");
    let expected = advice[0].expected.as_ref().unwrap();
    assert!((4.0..7.0).contains(&expected.before), "{expected:?}");
    assert!((45.0..48.0).contains(&expected.after), "{expected:?}");
    assert_eq!(advice[0].changes, [Change::new("client.socket.congestion", "bbr")]);
    let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
    assert!(buffers.why.contains("625 kB"), "{}", buffers.why);
    assert!(buffers.changes.is_empty(), "Linux gets there by itself");
}

#[test]
fn good_settings_get_no_advice() {
    let clean = Situation { loss: 0.0, ..fat_and_lossy() };
    assert_eq!(ids(&clean, Goal::Throughput), ["buffers", "embedded-buffers"]);
    let bbr = Situation { congestion: "bbr".into(), ..fat_and_lossy() };
    assert_eq!(ids(&bbr, Goal::Throughput), ["buffers", "embedded-buffers"]);
}

#[test]
fn deep_queue_gets_queue_advice() {
    let bloated = Situation {
        rate: Some(Rate::from_bits_per_second(1_000_000)),
        queue: Some(Span::from_secs(2)),
        ..Situation::of_round_trip(Span::from_millis(30))
    };
    let found = ids(&bloated, Goal::Latency);
    assert!(found.starts_with(&["congestion-control"]), "{found:?}");
    assert!(found.contains(&"queue") && found.contains(&"nodelay"), "{found:?}");
    assert!(!ids(&bloated, Goal::Throughput).contains(&"queue"));
}

#[test]
fn large_bdp_gets_larger_buffers() {
    let fat = Situation { rate: Some(Rate::from_bits_per_second(1_000_000_000)), ..clean(150) };
    let advice = advise(&fat, Goal::Throughput);
    let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
    assert!(buffers.how[0].contains("tcp_rmem=\"4096 131072 134217728\""), "{:?}", buffers.how);
    assert_eq!(buffers.changes.len(), 2);
}

#[test]
fn embedded_stack_gets_buffer_counts() {
    for (mbit, millis, buffers) in [(25, 10, 23), (100, 1, 10), (25, 100, 43)] {
        let path =
            Situation { rate: Some(Rate::from_bits_per_second(mbit * 1_000_000)), ..clean(millis) };
        let advice = advise(&path, Goal::Throughput);
        let embedded = advice.iter().find(|advice| advice.id == "embedded-buffers").unwrap();
        let wanted = format!("SetSocketRxBuffers(fd, {buffers})");
        assert!(embedded.how[0].starts_with(&wanted), "{mbit}: {:?}", embedded.how);
    }
}

fn clean(millis: u64) -> Situation {
    Situation::of_round_trip(Span::from_millis(millis))
}

#[test]
fn experiment_is_scenario_of_two_cases() {
    let situation = fat_and_lossy();
    let advice = advise(&situation, Goal::Both);
    let experiments = Experiment::of(&situation, None, Goal::Both, &advice, 3);
    let names: Vec<&str> = experiments.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["advise-transfer", "advise-requests"]);
    for one in &experiments {
        let scenario = tcplab_scenario::Scenario::parse(&one.source, &one.name).unwrap();
        let cases: Vec<&str> = scenario.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(cases, ["before", "tuned"], "{}", one.source);
        assert_eq!(scenario.trials, 3);
    }
    let bloated = Situation {
        rate: Some(Rate::from_bits_per_second(1_000_000)),
        queue: Some(Span::from_secs(2)),
        ..clean(30)
    };
    let advice = advise(&bloated, Goal::Latency);
    let tried = Experiment::of(&bloated, None, Goal::Latency, &advice, 2);
    let tried: Vec<_> = tried.into_iter().flat_map(|one| [one.tries]).collect();
    assert_eq!(tried, [["congestion-control"], ["queue"], ["nodelay"]], "each by itself");
    let nothing = Experiment::of(&situation, None, Goal::Both, &[], 3);
    assert!(nothing.is_empty());
}

#[test]
fn situation_follows_path() {
    let path: PathSpec = serde_json::from_str(
        r#"{ "rate": "50 Mbit/s", "delay": "50 ms", "loss": "0.1 %", "queue": "1 bdp" }"#,
    )
    .unwrap();
    let known = Situation::of_path(&path).unwrap();
    assert_eq!(known.rate, Some(Rate::from_bits_per_second(50_000_000)));
    assert!((known.loss - 0.001).abs() < 1e-9);
    let queue = known.queue.unwrap().as_millis_f64();
    assert!((queue - 100.0).abs() < 1.0, "{queue}");
}
