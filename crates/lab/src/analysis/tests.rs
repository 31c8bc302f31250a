//! What is said of whole trials, from the scenario to the metrics.

use std::sync::atomic::AtomicBool;

use tcplab_recording::Recording;
use tcplab_results::Trial;
use tcplab_scenario::{MetricInfo, Scenario, metrics};
use tcplab_sim::{TrialRequest, run_trial};

use super::Contents;
use super::trial::examine;

/// The first case of a scenario, run once in virtual time.
fn trial(scenario: &str) -> Trial {
    let scenario = format!("title = \"Made\"\n{scenario}");
    let scenario = Scenario::parse(&scenario, "made").unwrap();
    let place = tempfile::tempdir().unwrap();
    let (case, directory) = (&scenario.cases[0], place.path());
    let request = TrialRequest { case, seed: 1, directory, snaplen: None, keeps_packets: true };
    run_trial(&request, &AtomicBool::new(false)).unwrap();
    let recording = Recording::open(directory).unwrap();
    examine(&Contents::read(recording, case).unwrap(), case, None).unwrap()
}

fn value(trial: &Trial, info: &MetricInfo) -> Option<f64> {
    trial.metrics.iter().find(|metric| metric.name == info.name).map(|metric| metric.value)
}

/// Two flows that fill a path, by what limits it.
#[test]
fn path_is_used_to_the_full_whatever_limits_it() {
    for path in [
        r#"rate = "8 Mbit/s""#,
        r#"rate = { start = "4 Mbit/s", steps = [{ at = "500 ms", to = "16 Mbit/s" }] }"#,
        r#"rate = { start = "16 Mbit/s", steps = [{ at = "500 ms", to = "4 Mbit/s" }] }"#,
        r#"rate = "20 Mbit/s"
           police = { rate = "8 Mbit/s", burst = "100 kB" }"#,
        // What passes at once is part of what it could forward.
        "rate = \"8 Mbit/s\"\nburst = \"1 MB\"",
        // Copies that are made behind the bottleneck take nothing of it, those before it do.
        "rate = \"8 Mbit/s\"\nduplicate = \"50 %\"",
        r#"rate = "20 Mbit/s"
           duplicate = "50 %"
           stages = [{ rate = "8 Mbit/s", queue = "50 packets" }]"#,
    ] {
        let trial = trial(&format!(
            "[path]\n{path}\ndelay = \"5 ms\"\nqueue = \"50 packets\"\n\
             [workload]\nupload = \"1 MB\"\n[flow.a]\n[flow.b]\n"
        ));
        let utilisation = value(&trial, metrics::PATH_UTILISATION).unwrap();
        assert!((75.0..=105.0).contains(&utilisation), "{path}: {utilisation} %");
    }
}

/// The ACKs of an upload are not what a path is used for.
#[test]
fn busier_direction_without_a_rate_has_no_utilisation() {
    let trial = trial(
        "[path]\ndelay = \"5 ms\"\nreverse.rate = \"10 Mbit/s\"\n\
         [workload]\nupload = \"200 kB\"\n[flow.a]\n[flow.b]\n",
    );
    assert_eq!(value(&trial, metrics::PATH_UTILISATION), None);
}

/// The path's forward elements, and within which bounds the number of lost packets is.
const UNRELIABLE: [(&str, [f64; 2]); 4] = [
    // 2 % of some 800 packets.
    ("corrupt = { probability = \"2 %\", part = \"payload\" }", [6.0, 40.0]),
    // One of two fragments in about 4 % of them.
    ("mtu = \"1000 B\"\nstages = [{ loss = \"2 %\" }]", [15.0, 70.0]),
    // Both copies in 1 % of them; one in 20 %.
    ("stages = [{ duplicate = \"100 %\" }, { loss = \"10 %\" }]", [2.0, 25.0]),
    // Both copies of one of two fragments in 2 % of them.
    ("mtu = \"1000 B\"\nduplicate = \"100 %\"\nstages = [{ loss = \"10 %\" }]", [4.0, 45.0]),
];

/// What is lost has to be retransmitted; a packet of which a copy arrives has not.
#[test]
fn lost_packets_are_those_of_which_no_copy_arrives_whole_and_intact() {
    for (forward, [least, most]) in UNRELIABLE {
        let scenario = |flows: &str| {
            format!(
                "[path]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"300 packets\"\n\
                 [path.forward]\n{forward}\n[workload]\nupload = \"1 MB\"\n\
                 [client.sysctl]\n\"net.ipv4.ip_no_pmtu_disc\" = \"1\"\n{flows}"
            )
        };
        let alone = trial(&scenario(""));
        let lost = value(&alone, metrics::LOST).unwrap();
        assert!((least..=most).contains(&lost), "{forward}: {lost}");
        // Where the path copies packets, D-SACK shows needed retransmissions as spurious.
        if !forward.contains("duplicate") {
            let again = value(&alone, metrics::RETRANSMISSIONS).unwrap();
            let needed = again - value(&alone, metrics::RETRANSMISSIONS_SPURIOUS).unwrap();
            assert!((needed - lost).abs() <= 0.2 * lost + 2.0, "{forward}: {lost}, {needed}");
        }
        // A flow by a name has the same packets.
        let named = trial(&scenario("[flow.a]\n"));
        assert_eq!(value(&named, metrics::LOST), Some(lost), "{forward}");
    }
}

/// What is sent by one connection of 20 is a twentieth of what is sent.
#[test]
fn metrics_of_a_workload_are_of_all_its_connections() {
    let trial = trial(
        "[path]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nforward.loss = \"3 %\"\n\
         [workload]\nupload = \"100 kB\"\nconnections = { total = 20, at_once = 5 }\n",
    );
    let of = |info| value(&trial, info).unwrap();
    // 3 % of 1,380 segments.
    let (lost, again) = (of(metrics::LOST), of(metrics::RETRANSMISSIONS));
    assert!((20.0..=70.0).contains(&lost), "{lost} lost");
    assert!((again - lost).abs() <= 0.2 * lost, "{lost} lost, {again} retransmitted");
    // Retransmissions are sent in the time of the transfer, too.
    let (goodput, throughput) = (of(metrics::GOODPUT), of(metrics::THROUGHPUT));
    assert!((1.0..1.2).contains(&(throughput / goodput)), "{goodput}, {throughput} Mbit/s");
    let repeated = 100.0 - of(metrics::EFFICIENCY);
    assert!((1.0..=5.0).contains(&repeated), "{repeated} %");
    assert!(of(metrics::EPISODES) > trial.episodes.len() as f64);
    assert_eq!(trial.connections, Some(20), "so that a report can say whose the episodes are");
    let limits = [
        metrics::LIMIT_APPLICATION,
        metrics::LIMIT_RECEIVE_WINDOW,
        metrics::LIMIT_SEND_BUFFER,
        metrics::LIMIT_SLOW_START,
        metrics::LIMIT_CONGESTION_WINDOW,
        metrics::LIMIT_PATH,
        metrics::LIMIT_TIMEOUT,
    ];
    let sum: f64 = limits.into_iter().map(of).sum();
    assert!((sum - 100.0).abs() < 1e-6, "{sum} %");
    let trips = [metrics::RTT_MIN, metrics::RTT_MEDIAN, metrics::RTT_P95, metrics::RTT_MAX];
    assert!(trips.map(of).is_sorted(), "{:?}", trips.map(of));
}

/// All three are of one time: from connect() to the receiver's last byte.
#[test]
fn goodput_is_the_efficient_part_of_throughput() {
    let trial = trial(
        "[path]\nrate = \"20 Mbit/s\"\ndelay = \"100 ms\"\nforward.loss = \"3 %\"\n\
         [workload]\nupload = \"200 kB\"\n",
    );
    let of = |info| value(&trial, info).unwrap();
    let efficient = of(metrics::THROUGHPUT) * of(metrics::EFFICIENCY) / 100.0;
    assert!(of(metrics::RETRANSMISSIONS) > 0.0);
    assert!((of(metrics::GOODPUT) / efficient - 1.0).abs() < 1e-4, "{efficient} Mbit/s");
}

/// That none of no bytes is damaged says nothing about a transfer.
#[test]
fn payload_of_no_bytes_is_neither_intact_nor_damaged() {
    let trial = trial(
        "[path]\ndelay = \"5 ms\"\n[workload]\nmay_fail = true\nrequests = { count = 1, \
         request = \"1 kB\", response = \"1 kB\" }\n[limits]\ntrial = \"1 s\"\n\
         [path.forward]\nloss = \"100 %\"\n",
    );
    assert_eq!(value(&trial, metrics::PAYLOAD_INTACT), None);
    assert_eq!(value(&trial, metrics::TRANSFER_TIME), None);
}

/// The earlier a transfer breaks off, the sooner its last byte is there: that is no time of it.
#[test]
fn unfinished_transfer_has_no_time() {
    let broken = |events: &str| {
        trial(&format!(
            "[path]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n[workload]\nupload = \"500 kB\"\n\
             may_fail = true\n[client.socket]\nuser_timeout = \"3 s\"\n[server.socket]\n\
             user_timeout = \"3 s\"\n[limits]\ntrial = \"100 s\"\n{events}"
        ))
    };
    let all = broken("");
    let part = broken("[[path.events]]\nat = \"100 ms\"\nloss = \"100 %\"\n");
    for info in [metrics::TRANSFER_TIME, metrics::GOODPUT, metrics::TRANSFER_TIME_RATIO] {
        assert!(value(&all, info).is_some(), "{}", info.name);
        assert_eq!(value(&part, info), None, "{}", info.name);
    }
    assert_eq!(value(&part, metrics::PAYLOAD_INTACT), Some(0.0));
    assert!(value(&part, metrics::RETRANSMISSIONS) > Some(0.0));
}

/// A flow in the background ends with the trial: what it did not send did not arrive, either.
/// Traffic without a size has a rate all the same.
#[test]
fn stopped_flow_has_a_rate_only_without_a_size() {
    let trial = trial(
        "[path]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"60 packets\"\n\
         [workload]\nupload = \"1 MB\"\n[flow.main]\n\
         [flow.program]\nbackground = true\nworkload = { client = [\"write 1 kB\", \
         \"sleep 60 s\", \"write 1 MB\"], server = [\"read to end\"] }\n\
         [flow.slow]\nbackground = true\nworkload = { upload = \"1 MB\", think = \"1 s\", \
         write_size = \"1 kB\" }\n\
         [flow.ping]\nbackground = true\nworkload = { requests = { count = 200, \
         request = \"64 B\", response = \"64 B\", think = \"100 ms\" } }\n\
         [flow.short]\nbackground = true\nworkload = { upload = \"10 kB\" }\n\
         [flow.bulk]\nbackground = true\ntraffic = { bulk = \"upload\" }\n\
         [flow.bursts]\nbackground = true\ntraffic.on_off = { rate = \"400 kbit/s\", \
         on = \"100 ms\", off = \"60 s\" }\n",
    );
    let of = |flow: &str, info: &MetricInfo| {
        let row = trial.flows.iter().find(|row| row.name == flow).unwrap();
        let metrics = &row.connections[0].metrics;
        metrics.iter().find(|metric| metric.name == info.name).map(|metric| metric.value)
    };
    for flow in ["main", "short"] {
        let (time, rate) = (of(flow, metrics::TRANSFER_TIME), of(flow, metrics::GOODPUT));
        assert!(time.is_some() && rate.is_some(), "{flow}: {time:?}, {rate:?}");
    }
    for flow in ["program", "slow", "ping"] {
        let row = trial.flows.iter().find(|row| row.name == flow).unwrap();
        assert!(row.connections[0].bytes > 0, "{flow}");
        for info in [metrics::TRANSFER_TIME, metrics::GOODPUT, metrics::THROUGHPUT] {
            assert_eq!(of(flow, info), None, "{} of {flow}", info.name);
        }
    }
    for flow in ["bulk", "bursts"] {
        let row = &trial.flows.iter().find(|row| row.name == flow).unwrap().connections[0];
        assert_eq!(of(flow, metrics::TRANSFER_TIME), None, "{flow}");
        // All of its bytes, in less than the time of the trial.
        let main = of("main", metrics::TRANSFER_TIME).unwrap();
        let (rate, bits) = (of(flow, metrics::GOODPUT).unwrap(), row.bytes as f64 * 8e-6);
        assert!(rate >= bits / (main + 0.1) && rate < 5.0, "{flow}: {rate} Mbit/s, {bits} Mbit");
        assert!(of(flow, metrics::THROUGHPUT) >= Some(rate), "{flow}");
    }
}

/// Few ACKs come while the delay is long, so the mean RTT of ACKs may be below that over time: a
/// queue takes no less than no time.
#[test]
fn buffer_delay_of_a_changing_delay_is_above_the_least_rtt() {
    let of = |delay: &str| {
        let trial = trial(&format!(
            "[path]\nrate = \"10 Mbit/s\"\nqueue = \"50 packets\"\ndelay = {delay}\n\
             [workload]\nupload = \"4 MB\"\n"
        ));
        let all = [metrics::BUFFER_DELAY, metrics::RTT_MEAN, metrics::RTT_MIN, metrics::BASE_RTT];
        all.map(|info| value(&trial, info).unwrap())
    };
    let percent = |mean: f64, base: f64| (mean - base) / base * 100.0;
    let [delay, mean, least, base] = of(
        r#"{ start = "25 ms", steps = [{ at = "1 s", to = "1 s" }, { at = "1.5 s", to = "25 ms" }] }"#,
    );
    assert!(mean < base, "{mean} ms, {base} ms over time");
    assert!((delay - percent(mean, least)).abs() < 2.0, "{delay} %: {mean} ms, {least} ms");
    let [delay, mean, _, base] = of(r#""25 ms""#);
    assert!((delay - percent(mean, base)).abs() < 2.0, "{delay} %: {mean} ms, {base} ms");
}
