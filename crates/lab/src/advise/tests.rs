use tcplab_path::PathSpec;
use tcplab_scenario::Scenario;
use tcplab_trace::{Limit, LimitShares};
use tcplab_units::{Bytes, Endpoint, Rate, Span};

use super::*;

fn fat_and_lossy() -> Situation {
    Situation { rate: Some(Rate::from_bits_per_second(50_000_000)), loss: 0.001, ..clean(100) }
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

/// By the formula 4.5 Mbit/s: a connection that reached more is promised no more than the rest.
#[test]
fn gain_is_over_what_was_seen() {
    let long = Situation { payload: Bytes::new(200_000_000), ..fat_and_lossy() };
    let reached = |mbit: u64| {
        let goodput = Some(Rate::from_bits_per_second(mbit * 1_000_000));
        let seen = Some(Observed { goodput, ..unseen() });
        let advice = advise(&Situation { seen, ..long.clone() }, Goal::Throughput);
        let found = advice.into_iter().find(|advice| advice.id == "congestion-control")?;
        found.expected.map(|expected| expected.before)
    };
    assert!((4.0..7.0).contains(&reached(1).unwrap()), "{:?}", reached(1));
    assert_eq!([20, 45].map(reached), [Some(20.0), None]);
}

/// As of a test by RFC 6349: Linux puts timestamps into each segment.
#[test]
fn ideal_goodput_is_that_of_segments_with_timestamps() {
    let situation = Situation { rate: Some(Rate::from_bits_per_second(50_000_000)), ..clean(100) };
    assert_eq!(situation.segment(), Bytes::new(1448));
    let goodput = situation.ideal_goodput().unwrap().as_mbit_f64();
    assert!((goodput - 50.0 * 1448.0 / 1500.0).abs() < 1e-5, "{goodput}");
}

/// Where a capture does not tell them apart, the reason says what the loss counts.
#[test]
fn reason_names_losses_of_a_full_queue() {
    for (has_losses_of_queue, said) in [
        (false, "with 0.1 % of packets lost for other reasons than a full queue its window"),
        (true, "with 0.1 % of packets lost (those of a full queue included) its window"),
    ] {
        let situation = Situation { has_losses_of_queue, ..fat_and_lossy() };
        let why = &advise(&situation, Goal::Throughput)[0].why;
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn good_settings_get_no_advice() {
    let clean = Situation { loss: 0.0, ..fat_and_lossy() };
    assert_eq!(ids(&clean, Goal::Throughput), ["buffers"]);
    let bbr = Situation { congestion: Congestion::known("bbr", "given"), ..fat_and_lossy() };
    assert_eq!(ids(&bbr, Goal::Throughput), ["buffers"]);
}

#[test]
fn deep_queue_gets_queue_advice() {
    let bloated = Situation {
        rate: Some(Rate::from_bits_per_second(1_000_000)),
        queue: Some(Span::from_secs(2)),
        ..clean(30)
    };
    let found = ids(&bloated, Goal::Latency);
    assert!(found.starts_with(&["congestion-control"]), "{found:?}");
    assert!(found.contains(&"queue") && found.contains(&"nodelay"), "{found:?}");
    assert!(!ids(&bloated, Goal::Throughput).contains(&"queue"));
}

/// Below the link's rate; and no less waits than one and a half packets (RFC 8289 section 4.4): of
/// 1500 B at 1 Mbit/s 18 ms, at 100 kbit/s 180 ms.
#[test]
fn managed_queue_is_slower_than_the_link_and_holds_a_packet() {
    for (kbit, bandwidth, near, keys) in [
        (20_000, "bandwidth 19.0mbit", "stays near 5 ms", serde_json::json!({})),
        (
            1_000,
            "bandwidth 950kbit",
            "stays near 18 ms",
            serde_json::json!({ "target": "18 ms", "interval": "100 ms" }),
        ),
        (
            100,
            "bandwidth 95.0kbit",
            "stays near 180 ms",
            serde_json::json!({ "target": "180 ms", "interval": "360 ms" }),
        ),
    ] {
        let rate = Some(Rate::from_bits_per_second(kbit * 1000));
        let bloated = Situation { rate, queue: Some(Span::from_secs(2)), ..clean(30) };
        let advice = advise(&bloated, Goal::Latency);
        let queue = advice.iter().find(|advice| advice.id == "queue").unwrap();
        assert!(queue.how[0].ends_with(bandwidth), "{:?}", queue.how);
        assert!(queue.why.contains(near), "{}", queue.why);
        assert_eq!(queue.changes[0].value["fq_codel"], keys);
        let tried = Experiment::of(&bloated, None, Goal::Latency, &advice, 2);
        for one in tried {
            let scenario = tcplab_scenario::Scenario::parse(&one.source, &one.name);
            assert!(scenario.is_ok(), "{}", one.source);
        }
    }
}

#[test]
fn large_bdp_gets_larger_buffers() {
    let fat = Situation { rate: Some(Rate::from_bits_per_second(1_000_000_000)), ..clean(150) };
    let advice = advise(&fat, Goal::Throughput);
    let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
    assert!(buffers.how[0].contains("tcp_rmem=\"4096 131072 134217728\""), "{:?}", buffers.how);
    assert_eq!(buffers.changes.len(), 2);
}

/// The kernel keeps both maxima in an `int`, and no window is larger than 65,535 × 2^14 B: of ten
/// such products, ten connections fill the path.
#[test]
fn buffers_beyond_the_largest_window_take_several_connections() {
    let product = |millis| Situation {
        rate: Some(Rate::from_bits_per_second(8 * 1_073_725_440)),
        ..clean(millis)
    };
    for (millis, said) in [
        (1_000, "grow to 1.07 GB."),
        (1_001, "grow to 1.07 GB. Use 2 connections or more."),
        (10_000, "grow to 1.07 GB. Use 10 connections or more."),
    ] {
        let advice = advise(&product(millis), Goal::Throughput);
        let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
        assert!(buffers.what.ends_with(said), "{millis}: {}", buffers.what);
        assert!(buffers.how[0].contains("tcp_rmem=\"4096 131072 2147483647\""), "{buffers:?}");
        assert!(buffers.how[1].contains("tcp_wmem=\"4096 16384 2147483647\""), "{buffers:?}");
    }
}

/// A 65 kB window limited a transfer: of a run it is tried with the run's settings, of a capture
/// with that window, and of a capture that a send buffer limited not at all.
#[test]
fn larger_buffers_are_tried_against_the_buffers_there_are() {
    let seen = |limit: Limit| {
        let mut shares = LimitShares::default();
        shares.spans[limit as usize] = Span::from_secs(9);
        Observed { shares, window: Some(Bytes::new(65_000)), ..unseen() }
    };
    let narrow = |limit, ends| Situation { seen: Some(seen(limit)), ends, ..fat_and_lossy() };
    let set: Ends = Ends {
        client: serde_json::from_str(r#"{ "socket": { "sndbuf": "1 MB", "nodelay": true } }"#)
            .unwrap(),
        server: serde_json::from_str(
            r#"{ "socket": { "rcvbuf": "64 KiB" }, "accepted": { "rcvbuf": "32 KiB" },
                 "sysctl": { "net.ipv4.tcp_sack": "0" } }"#,
        )
        .unwrap(),
    };
    let tried = |situation: &Situation| {
        let advice = advise(situation, Goal::Throughput);
        let advice: Vec<Advice> = advice.into_iter().filter(|it| it.id == "buffers").collect();
        let tried = Experiment::of(situation, None, Goal::Throughput, &advice, 3);
        let cases = tried.first().map(|one| {
            let scenario = tcplab_scenario::Scenario::parse(&one.source, &one.name);
            scenario.unwrap_or_else(|error| panic!("{error}\n{}", one.source)).cases
        });
        (cases, advice[0].why.clone())
    };
    let receive = "net.ipv4.tcp_rmem";
    let (cases, _) = tried(&narrow(Limit::ReceiveWindow, Some(set.clone())));
    let [before, tuned] = &cases.unwrap()[..] else { panic!("two cases") };
    assert_eq!((&before.server, before.client.socket.len()), (&set.server, 3), "with cubic");
    assert!(tuned.server.socket.is_empty() && tuned.server.accepted.is_empty(), "{tuned:?}");
    assert_eq!(tuned.client.socket.len(), 2, "no_delay and congestion: {:?}", tuned.client);
    assert_eq!(tuned.server.sysctl["net.ipv4.tcp_sack"], "0", "all else stays");
    assert_eq!(tuned.server.sysctl[receive], "4096 131072 6291456");

    let (cases, _) = tried(&narrow(Limit::ReceiveWindow, None));
    let [before, tuned] = &cases.unwrap()[..] else { panic!("two cases") };
    assert_eq!(before.server.sysctl[receive], "4096 104000 104000");
    assert_eq!(tuned.server.sysctl[receive], "4096 131072 6291456");

    let (cases, why) = tried(&narrow(Limit::SendBuffer, None));
    assert!(cases.is_none() && why.contains("Not tried: the capture does not show"), "{why}");
}

/// The sender has the send buffer, also where that is the server.
#[test]
fn buffers_of_a_download_are_the_servers_send_and_the_clients_receive_buffer() {
    let fat = Situation { rate: Some(Rate::from_bits_per_second(1_000_000_000)), ..clean(150) };
    for (sender, keys) in [
        (
            Endpoint::Client,
            ["server.sysctl.'net.ipv4.tcp_rmem'", "client.sysctl.'net.ipv4.tcp_wmem'"],
        ),
        (
            Endpoint::Server,
            ["client.sysctl.'net.ipv4.tcp_rmem'", "server.sysctl.'net.ipv4.tcp_wmem'"],
        ),
    ] {
        let advice = advise(&Situation { sender, ..fat.clone() }, Goal::Throughput);
        let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
        let changed: Vec<&str> = buffers.changes.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(changed, keys);
    }
}

/// Requests and responses wait for each other on purpose.
#[test]
fn dialogue_gets_no_advice_to_write_more_at_once() {
    let mut shares = LimitShares::default();
    shares.spans[Limit::Application as usize] = Span::from_secs(9);
    for is_dialogue in [true, false] {
        let seen = Some(Observed { shares, is_dialogue, ..unseen() });
        let found = ids(&Situation { seen, ..clean(20) }, Goal::Throughput);
        assert_eq!(found.contains(&"write-size"), !is_dialogue, "{found:?}");
    }
}

/// Nothing was seen.
fn unseen() -> Observed {
    Observed {
        goodput: None,
        mean_rtt: None,
        window: None,
        shares: LimitShares::default(),
        window_scaling: None,
        sack: None,
        timestamps: None,
        nagle_waits: 0,
        nagle_waited: Span::ZERO,
        segments: 0,
        retransmissions: 0,
        is_dialogue: false,
    }
}

/// 65,535 bytes take 50 kB, and not 100 kB (RFC 7323 section 2.2).
#[test]
fn window_scale_is_that_of_the_window_beside_it() {
    let path = Situation { rate: Some(Rate::from_bits_per_second(20_000_000)), ..clean(20) };
    let advice = advise(&path, Goal::Throughput);
    let buffers = advice.iter().find(|advice| advice.id == "buffers").unwrap();
    let scale = "The path holds 50 kB on its way; a window of 100 kB takes a window scale of 1,";
    assert!(buffers.why.starts_with(scale), "{}", buffers.why);
}

/// A limit is only raised where it is lower: never lowered.
#[test]
fn buffer_limits_are_never_lowered() {
    let fat = Situation { rate: Some(Rate::from_bits_per_second(1_000_000_000)), ..clean(150) };
    let how = |maxima: Option<[u64; 2]>| {
        let situation = Situation { buffer_maxima: maxima, ..fat.clone() };
        let advice = advise(&situation, Goal::Throughput);
        advice.iter().find(|advice| advice.id == "buffers").unwrap().how.join("\n")
    };
    let elsewhere = how(None);
    assert!(elsewhere.contains("if `sysctl net.ipv4.tcp_rmem` shows less than 134217728"));
    let mixed = how(Some([1 << 30, 4 << 20]));
    assert!(!mixed.contains("tcp_rmem") && mixed.contains("tcp_wmem=\"4096 16384 134217728\""));
    assert!(!how(Some([1 << 30, 1 << 30])).contains("sysctl"));
}

#[test]
fn product_beyond_all_numbers_is_no_panic() {
    let rate = Some(Rate::from_bits_per_second(u64::MAX));
    let endless = Situation { rate, ..clean(1_000_000_000_000) };
    for goal in [Goal::Throughput, Goal::Latency, Goal::Both] {
        advise(&endless, goal);
    }
}

#[test]
fn buffers_are_the_fewest_that_reach_the_goal() {
    // 99 % of 24 Mbit/s are 23.76; more than 30 overflow the queue.
    let goodput = |count: u64| match count {
        ..25 => count as f64 * 0.9,
        25 => 23.8,
        26..=30 => 24.0,
        _ => 15.0,
    };
    let case = |way: &str, count: u64| {
        serde_json::json!({
            "name": format!("{way}-{count}"), "levels": [], "world": "sim", "trials": [],
            "summaries": [{
                "name": "goodput", "unit": "Mbit/s", "count": 1, "mean": goodput(count),
                "standard_deviation": null, "interval": null,
            }],
        })
    };
    let cases: Vec<_> =
        ["receive", "send"].iter().flat_map(|way| (5..=43).map(|n| case(way, n))).collect();
    let run = serde_json::from_value(serde_json::json!({
        "name": "t", "title": "t", "reference": null, "scenario": "", "world": "sim",
        "started": "", "seed": 1, "path": [], "environment": [], "claims": [], "cases": cases,
    }))
    .unwrap();
    let found = BufferSearch::outcome(&run).unwrap();
    assert_eq!((found.receive.buffers, found.receive.goodput), (25, 23.8));
    assert_eq!((found.receive.best, found.receive.of_best), (26, 24.0));
    let advice = found.advice();
    assert!(advice.how[0].starts_with("SetSocketRxBuffers(fd, 25)"), "{:?}", advice.how);
    assert!(
        advice.why.contains("(24: 21.6; the best, 26: 24.0)") && advice.why.contains("99 %"),
        "{}",
        advice.why
    );
}

#[test]
fn untried_buffers_say_so() {
    for (mbit, millis, buffers) in [(25, 10, 23), (100, 1, 10), (25, 100, 43)] {
        let path =
            Situation { rate: Some(Rate::from_bits_per_second(mbit * 1_000_000)), ..clean(millis) };
        let advice = Buffers::by_formula(&path).unwrap();
        let wanted = format!("SetSocketRxBuffers(fd, {buffers})");
        assert!(advice.how[0].starts_with(&wanted), "{mbit}: {:?}", advice.how);
        assert!(advice.why.contains("Not tried"), "{}", advice.why);
    }
}

fn clean(millis: u64) -> Situation {
    Situation {
        congestion: Congestion::known("cubic", "given"),
        ..Situation::of_round_trip(Span::from_millis(millis))
    }
}

/// A formula describes what is known, and nothing is assumed.
#[test]
fn unknown_congestion_control_gets_no_advice_on_it() {
    let unknown =
        Situation { congestion: Congestion::unknown("nothing shows it"), ..fat_and_lossy() };
    assert_eq!(ids(&unknown, Goal::Throughput), ["buffers"]);
    let other = Situation { congestion: Congestion::known("vegas", "given"), ..fat_and_lossy() };
    assert_eq!(ids(&other, Goal::Throughput), ["buffers"], "no formula describes it");
}

/// Nothing to recommend is one thing, no formula another.
#[test]
fn missing_formula_is_said_where_it_would_decide() {
    let of = |name: &str, loss| Situation {
        congestion: Congestion::known(name, "given"),
        loss,
        ..fat_and_lossy()
    };
    for (situation, said) in [
        (of("cubic", 0.001), None),
        (of("bbr", 0.0), None),
        (of("vegas", 0.001), Some("there is no formula for vegas; trials can tell")),
        (of("cubic", 0.16), Some("there is no formula for BBR at 16 % loss; trials can tell")),
        (of("bbr", 0.16), Some("\"client.socket.congestion\" = [\"bbr\", \"cubic\"]")),
    ] {
        let found = unknown(&situation, Goal::Throughput);
        let is_said = said.is_none_or(|said| found.as_ref().is_some_and(|it| it.contains(said)));
        assert!(found.is_some() == said.is_some() && is_said, "{found:?}");
        assert_eq!(unknown(&situation, Goal::Latency), None, "no queue to fill");
    }
    let nobody =
        |loss| Situation { congestion: Congestion::unknown("nothing shows it"), ..of("", loss) };
    assert!(unknown(&nobody(0.001), Goal::Both).unwrap().contains("`--congestion`"));
    assert_eq!(unknown(&nobody(0.0), Goal::Both), None, "all would do alike");
    let queue = Some(Span::from_millis(200));
    assert!(unknown(&Situation { queue, ..of("westwood", 0.0) }, Goal::Latency).is_some());
    assert!(unknown(&Situation { queue, ..of("reno", 0.16) }, Goal::Latency).is_none());
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
    let requests = experiments.last().unwrap();
    let scenario = tcplab_scenario::Scenario::parse(&requests.source, "t").unwrap();
    let writes = scenario.cases.iter().map(|case| case.workload.requests.as_ref().unwrap().writes);
    assert_eq!(writes.collect::<Vec<_>>(), [2, 1], "the advice is to write messages whole");
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

/// The report of a trial answers by what the advice promises, as the command does.
#[test]
fn experiment_is_judged_by_what_its_advice_promises() {
    let bloated = Situation {
        rate: Some(Rate::from_bits_per_second(1_000_000)),
        queue: Some(Span::from_secs(2)),
        ..clean(30)
    };
    let asked = |situation: &Situation, goal: Goal| -> Vec<String> {
        let tried = Experiment::of(situation, None, goal, &advise(situation, goal), 2);
        let scenario = |one: &Experiment| Scenario::parse(&one.source, &one.name).unwrap();
        tried.iter().filter_map(|one| scenario(one).question_metric).collect()
    };
    let [rtt, response] = ["rtt.mean", "median_response"];
    assert_eq!(asked(&bloated, Goal::Both), [rtt, rtt, response]);
    assert_eq!(asked(&bloated, Goal::Latency), [rtt, rtt, response]);
    assert_eq!(asked(&fat_and_lossy(), Goal::Both), ["goodput", response]);
    assert_eq!(asked(&fat_and_lossy(), Goal::Throughput), ["goodput"]);
}

#[test]
fn situation_follows_path() {
    let path: PathSpec = serde_json::from_str(
        r#"{ "rate": "50 Mbit/s", "delay": "50 ms", "loss": "0.1 %", "queue": "1 bdp" }"#,
    )
    .unwrap();
    let known = Situation::of_path(&path, Endpoint::Client).unwrap();
    assert_eq!(known.rate, Some(Rate::from_bits_per_second(50_000_000)));
    assert!((known.loss - 0.001).abs() < 1e-9);
    let queue = known.queue.unwrap().as_millis_f64();
    assert!((queue - 100.0).abs() < 1.0, "{queue}");
}

/// A download has the rate of its own direction, and is tried as one.
#[test]
fn situation_of_download_is_that_of_its_direction() {
    let path: PathSpec = serde_json::from_str(
        r#"{ "rate": "25 Mbit/s", "delay": "50 ms", "loss": "1 %", "queue": "1 bdp",
             "forward": { "rate": "5 Mbit/s" } }"#,
    )
    .unwrap();
    for (sender, mbit, transfer, key) in [
        (Endpoint::Client, 5, "upload = ", "client.socket.congestion"),
        (Endpoint::Server, 25, "download = ", "server.socket.congestion"),
    ] {
        let known = Situation::of_path(&path, sender).unwrap();
        assert_eq!(known.rate, Some(Rate::from_bits_per_second(mbit * 1_000_000)));
        let situation = Situation { congestion: Congestion::known("cubic", "given"), ..known };
        let advice = advise(&situation, Goal::Throughput);
        assert_eq!(advice[0].changes, [Change::new(key, "bbr")]);
        let tried = Experiment::of(&situation, Some(&path), Goal::Throughput, &advice, 3);
        let source = &tried[0].source;
        assert!(source.contains(transfer) && source.contains(key), "{source}");
    }
}

/// What a run with flows is about is its first flow: its direction, amount, sender and RTT.
#[test]
fn situation_of_run_is_that_of_its_subject() {
    let head = "title = \"t\"\n[path]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
                port_delay = [{ port = 32768, delay = \"5 ms\" }]\n[workload]\nupload = \"3 MB\"\n";
    let subject = |flows: &str| {
        let scenario = Scenario::parse(&format!("{head}{flows}"), "t").unwrap();
        Subject::of(&scenario.cases[0]).unwrap()
    };
    let second = "[flow.before]\nbackground = true\n[flow.far]\ndelay = \"40 ms\"\n\
                  workload = { download = \"1 MB\" }\nserver.socket.congestion = \"bbr\"\n\
                  [flow.after]\nstart = \"1 s\"\ndelay = \"90 ms\"\n";
    let bulk = "[flow.bulk]\nlasting = \"1 s\"\ntraffic = { bulk = \"download\" }\n";
    for (flows, sender, amount, millis, congestion) in [
        ("", Endpoint::Client, Some(3_000_000), 30, None),
        // Its client has the second port.
        (second, Endpoint::Server, Some(1_000_000), 100, Some("bbr")),
        (bulk, Endpoint::Server, None, 30, None),
    ] {
        let subject = subject(flows);
        assert_eq!((subject.sender, subject.amount), (sender, amount.map(Bytes::new)), "{flows}");
        assert_eq!(subject.ends.of(subject.sender).socket.congestion(), congestion);
        let situation = Situation::of_path(&subject.path, subject.sender).unwrap();
        // And 64 B at 20 Mbit/s in each direction.
        assert_eq!(situation.rtt, Span::from_millis(millis) + Span::from_nanos(51_200));
        // It is tried by itself, between ends as far apart.
        let known = Situation { congestion: Congestion::known("cubic", "given"), ..situation };
        let advice = advise(&known, Goal::Both);
        let tried = Experiment::of(&known, Some(&subject.path), Goal::Both, &advice, 1);
        assert!(!tried.is_empty());
        for experiment in tried {
            let case = &Scenario::parse(&experiment.source, "t").unwrap().cases[0];
            assert_eq!(Subject::of(case).unwrap().path.port_delay, subject.path.port_delay);
        }
    }
}
