//! `tcplab advise`, `tcplab rfc6349` and `tcplab metrics`, in virtual time.

use std::path::Path;

use serde_json::Value;

use crate::home::{Home, names};

/// For a long lossy path, another congestion control: trials confirm the gain that the formula
/// expects.
#[test]
fn advice_is_tried_and_confirmed() {
    let home = Home::new();
    let found = home.json(
        "advise --rtt '60 ms' --rate '20 Mbit/s' --loss '0.5 %' --goal throughput --payload '4 MB' \
         --congestion cubic --trials 4 --world sim --json",
    );
    let first = &found["advice"][0];
    assert_eq!(first["id"], "congestion-control");
    assert_eq!(first["changes"][0]["key"], "client.socket.congestion");
    let tried = &found["tried"][0];
    assert_eq!((&tried["verdict"], &tried["world"]), (&"better".into(), &"sim".into()));
    let gain = &tried["gains"][0];
    assert_eq!(gain["metric"], "goodput");
    let [before, after] = ["before", "after"].map(|it| {
        let of = |value: &Value| value[it].as_f64().unwrap();
        of(gain) / of(&first["expected"])
    });
    assert!((0.5..2.0).contains(&before) && (0.7..1.4).contains(&after), "{before} {after}");
    let low = gain["interval"][0].as_f64().unwrap();
    assert!(low > 1.0 && gain["factor"].as_f64().unwrap() > 1.5, "{gain}");
    let report = home.path(tried["report"].as_str().unwrap());
    assert!(report.is_file() && report.with_file_name("run.json").is_file());

    // From that run: which of its variants to take.
    let run = report.parent().unwrap().to_str().unwrap().to_owned();
    let found = home.json(&format!("advise {run} --no-trials --json"));
    let choice = &found["choices"][0];
    assert_eq!((&choice["best"], &choice["metric"]), (&"tuned".into(), &"goodput".into()));
    assert!(found["tried"].as_array().unwrap().is_empty());
    let text = home.answer(&format!("advise {run} --no-trials"));
    assert!(text.contains("★") && text.contains("best goodput"), "{text}");

    // From a capture: its trials kept none, and one is made again with all its packets.
    home.answer(&format!(
        "run {run}/scenario.toml --case before --trial 1 --world sim --runs again"
    ));
    let again = home.only(home.only("again"));
    let capture = again.join("trials/before-1/client.pcapng").to_str().unwrap().to_owned();
    let found = home.json(&format!("advise {capture} --goal throughput --no-trials --json"));
    assert_eq!(found["situation"]["congestion"]["name"], "cubic", "{}", found["situation"]);
    let rtt = found["situation"]["rtt_ns"].as_u64().unwrap();
    assert!((60_000_000..61_000_000).contains(&rtt), "{rtt}");
    let loss = found["situation"]["loss_ratio"].as_f64().unwrap();
    assert!((0.002..0.01).contains(&loss), "{loss}");
    assert_eq!(found["advice"][0]["id"], "congestion-control");
}

/// The sender's reaction to losses names its congestion control; without losses nothing does.
#[test]
fn capture_shows_the_congestion_control() {
    let home = Home::new();
    home.write(
        "losses.toml",
        r#"title = "Losses"
[path]
rate = "50 Mbit/s"
delay = "20 ms"
[workload]
upload = "20 MB"
[recording]
snaplen = "96 B"
[matrix]
"path.forward.loss" = ["0 %", "0.05 %"]
"client.socket.congestion" = ["reno", "cubic", "bbr"]
"#,
    );
    home.answer("run losses.toml --world sim --trials 1");
    let trials = home.only("runs/losses").join("trials");
    for case in names(&trials) {
        let capture = trials.join(&case).join("client.pcapng");
        let line = format!("advise {} --goal throughput --no-trials", capture.display());
        let found = home.json(&format!("{line} --json"));
        let congestion = &found["situation"]["congestion"];
        let truth = ["reno", "cubic", "bbr"].into_iter().find(|name| case.contains(name)).unwrap();
        let text = home.answer(&line);
        let loss = found["situation"]["loss_ratio"].as_f64().unwrap();
        if case.contains("0.05") {
            assert!((0.0003..0.0008).contains(&loss), "{case}: {loss}");
            assert_eq!(congestion["name"], truth, "{case}: {congestion}");
            assert!(text.contains(&format!("congestion control {truth}: in ")), "{text}");
        } else {
            if case.contains("cubic") {
                // 1000 packets take 240 ms.
                let queue = found["situation"]["queue_ns"].as_u64().unwrap();
                assert!((100_000_000..250_000_000).contains(&queue), "{case}: {queue}");
            }
            // Only slow start overflows the queue: one reaction decides nothing.
            assert!(congestion["name"].is_null(), "{case}: {congestion}");
            assert!(text.contains("congestion control unknown: "), "{text}");
            assert!(!text.contains("Use BBR"), "nothing is assumed: {text}");
        }
    }
}

/// A queue that overflows, and an interruption, are no loss at random: BBR is no remedy for them.
#[test]
fn losses_of_a_full_queue_do_not_ask_for_another_congestion_control() {
    let home = Home::new();
    home.write(
        "full.toml",
        r#"title = "Full"
[path]
rate = "20 Mbit/s"
delay = "20 ms"
queue = "80 packets"
forward.interruption = { at = ["8 s"], lasting = "300 ms" }
[workload]
upload = "30 MB"
[recording]
snaplen = "96 B"
[client.socket]
congestion = "cubic"
"#,
    );
    home.answer("run full.toml --world sim --trials 1");
    let trial = home.only("runs/full").join("trials/base-1");
    let capture = trial.join("client.pcapng");
    let line = format!("advise {} --goal throughput --no-trials", capture.display());
    let found = home.json(&format!("{line} --json"));
    let situation = &found["situation"];
    assert_eq!(situation["congestion"]["name"], "cubic", "{situation}");
    let retransmissions = situation["seen"]["retransmissions"].as_u64().unwrap();
    assert!(retransmissions > 60, "{situation}");
    let loss = situation["loss_ratio"].as_f64().unwrap();
    assert!(loss < 1e-4, "the interruption is one at most: {situation}");
    let ids = found["advice"].as_array().unwrap().iter().map(|it| it["id"].clone());
    assert!(!ids.collect::<Vec<_>>().contains(&"congestion-control".into()), "{found}");
    // From the receiver's capture nobody can tell.
    let capture = trial.join("server.pcapng");
    let line = format!("advise {} --goal throughput --no-trials", capture.display());
    let found = home.json(&format!("{line} --congestion cubic --json"));
    let loss = found["situation"]["loss_ratio"].as_f64().unwrap();
    assert!(loss > 1e-3, "{}", found["situation"]);
}

/// Figures say nothing of a sender: it is this machine.
#[test]
fn figures_take_the_default_of_this_machine() {
    let Ok(default) = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control") else {
        println!("skipped: this machine has no net.ipv4.tcp_congestion_control");
        return;
    };
    let home = Home::new();
    let line = "advise --rtt '20 ms' --rate '10 Mbit/s' --no-trials";
    let wanted = format!(
        "congestion control {}: this machine's default (net.ipv4.tcp_congestion_control)",
        default.trim()
    );
    let text = home.answer(line);
    assert!(text.contains(&wanted), "{text}");
    assert!(!text.contains("SetSocket"), "an embedded API without --stack: {text}");
    let given = home.answer(&format!("{line} --congestion reno"));
    assert!(given.contains("congestion control reno: --congestion"), "{given}");
}

/// What no path, transfer or sender can have is refused before anything is said or run.
#[test]
fn impossible_figures_are_refused() {
    let home = Home::new();
    for rest in ["--no-trials", "--world sim"] {
        for (figures, said) in [
            ("--rate 0bit/s", "--rate 0: use a rate above zero"),
            ("--rate 10M --loss 100%", "--loss 100 %: no packet would arrive"),
            ("--rate 10M --payload 0B", "--payload 0: use at least 1 B"),
            (
                "--rate 10M --congestion cubci",
                "no congestion control `cubci` try: did you mean `cubic`?",
            ),
            ("--rate 10M --congestion foo", "no congestion control `foo` try: there are bbr, bic"),
        ] {
            home.refuses(&[(&format!("advise --rtt 100ms {figures} {rest}"), said)]);
        }
    }
    home.refuses(&[
        ("advise -s delay=20ms -s loss=100% --no-trials", "loses every packet"),
        ("advise dsl25", "did you mean `dsl-25`?"),
    ]);
    // Linux has more than this machine or a model.
    home.answer("advise --rtt 100ms --rate 10M --congestion htcp --no-trials");
    assert!(!home.exists("runs"));
}

/// In virtual time nothing else bounds a transfer.
#[test]
fn test_of_a_path_without_rate_is_refused_in_virtual_time() {
    let home = Home::new();
    home.refuses(&[
        (
            "rfc6349 -s delay='50 ms' --world sim --duration 1s",
            "in virtual time try: add `-s rate=…`",
        ),
        ("rfc6349 --path - --world sim", "in virtual time try: add `-s rate=…`"),
    ]);
    assert!(!home.exists("runs"));
}

/// What a transfer to another host is asked for holds, or is refused.
#[test]
fn congestion_control_that_the_kernel_lacks_is_refused_with_those_it_has() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let line = format!("rfc6349 --target {target} --congestion nosuch --duration 500ms");
    let said =
        "cannot use the congestion control `nosuch`: this kernel does not have it try: there";
    Home::new().refuses(&[(&line, said)]);
}

/// The counts that are recommended reach the goal in the stack's model, and one fewer does not.
#[test]
fn embedded_buffers_are_tried_before_they_are_recommended() {
    let home = Home::new();
    let found = home.json(
        "advise --rtt '10 ms' --rate '25 Mbit/s' --goal throughput --payload '2 MB' --stack netburner \
         --congestion cubic --trials 2 --world sim --json",
    );
    for way in ["receive", "send"] {
        let least = &found["buffers"][way];
        let goodput = |key: &str| least[format!("goodput{key}_mbit_per_second")].as_f64().unwrap();
        let goal = 0.99 * goodput("_of_best");
        assert!(goodput("") >= goal && goodput("_of_one_fewer") < goal, "{way}: {least}");
    }
    let count = found["buffers"]["receive"]["buffers"].as_u64().unwrap();
    assert!((25..=27).contains(&count), "the formula says 23, which are too few: {count}");
    let advice = found["advice"].as_array().unwrap().last().unwrap();
    let how = advice["how"][0].as_str().unwrap();
    assert!(how.starts_with(&format!("SetSocketRxBuffers(fd, {count});")), "{how}");
}

/// A run of small uploads is tried with small uploads, and leaves no packets.
#[test]
fn trials_of_advice_leave_little() {
    let home = Home::new();
    home.write(
        "small.toml",
        r#"title = "Small"
[path]
rate = "1 Mbit/s"
delay = "15 ms"
queue = "500 packets"
[workload]
upload = "60 kB"
[matrix]
"client.socket.congestion" = ["cubic", "reno"]
"#,
    );
    home.answer("run small.toml --world sim --trials 2");
    let run = home.only("runs/small");
    let line = format!(
        "advise {} --goal latency --trials 5 --world sim --runs left --json",
        run.display()
    );
    let found = home.json(&line);
    assert_eq!(found["situation"]["payload_bytes"], 60_000);
    assert!(!found["tried"].as_array().unwrap().is_empty(), "{}", found["advice"]);
    let left = size_of(&home.path("left"));
    assert!(left < 3_000_000, "{left} bytes are left");
}

/// A window of 64 KiB over 100 ms: the trials begin with it, of the run and of its capture, and
/// take it away.
#[test]
fn narrow_window_is_tried_as_it_was() {
    let home = Home::new();
    home.write(
        "narrow.toml",
        r#"title = "Narrow"
[path]
rate = "50 Mbit/s"
delay = "50 ms"
[workload]
download = "10 MB"
[client.socket]
rcvbuf = "64 KiB"
[server.socket]
congestion = "cubic"
"#,
    );
    home.answer("run narrow.toml --world sim --trials 1");
    let run = home.only("runs/narrow");
    let capture = run.join("trials/base-1/server.pcapng");
    for from in [run, capture] {
        let from = from.display();
        let line = format!("advise {from} --goal throughput --trials 2 --world sim --json");
        let found = home.json(&line);
        if from.to_string().ends_with("pcapng") {
            assert!(found["situation"]["queue_ns"].is_null(), "the path was never full: {found}");
        }
        let tried = found["tried"].as_array().unwrap();
        let tried = tried.iter().find(|it| it["tries"][0] == "buffers").unwrap();
        let [before, after] = ["before", "after"].map(|it| tried["gains"][0][it].as_f64().unwrap());
        // 64 to 80 kB each 100 ms are 5.2 to 6.4 Mbit/s.
        assert!((5.0..7.0).contains(&before) && after > 25.0, "{from}: {before} → {after}");
    }
}

/// All files below a directory, bytes.
fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            it if it.is_dir() => size_of(&entry.path()),
            it => it.len(),
        })
        .sum()
}

const RFC6349: &str =
    "rfc6349 -s 'rate=20 Mbit/s' -s 'delay=15 ms' --duration '1 s' --world sim --json";

/// Every step of the RFC, compared with the configured path and the formulas.
#[test]
fn rfc6349_measures_the_path() {
    let home = Home::new();
    for direction in ["", "--download"] {
        let found = home.json(&format!("{RFC6349} --connections 2 {direction}"));
        let baseline = &found["baseline"];
        assert_eq!(baseline["mtu_bytes"], 1500, "{baseline}");
        let rtt = baseline["rtt_ns"].as_u64().unwrap();
        assert!((30_000_000..31_000_000).contains(&rtt), "{baseline}");
        let rate = baseline["rate_bits_per_second"].as_f64().unwrap();
        assert!((rate / 20e6 - 1.0).abs() < 0.03, "{baseline}");
        let rows = found["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 7);
        let goodput = |row: &Value| row["goodput_mbit_per_second"].as_f64().unwrap();
        let goodputs: Vec<f64> = rows.iter().map(goodput).collect();
        assert!(goodputs[..5].is_sorted(), "in proportion to the window: {goodputs:?}");
        for (row, goodput) in rows[..4].iter().zip(&goodputs) {
            let ideal = row["ideal_bits_per_second"].as_f64().unwrap() / 1e6;
            // The kernel offers a little more than the configured window.
            assert!((0.6..1.25).contains(&(goodput / ideal)), "{row}");
            assert_eq!(row["efficiency_percent"], 100.0);
        }
        let full = &rows[4];
        assert!((1.0..1.4).contains(&full["transfer_time_ratio"].as_f64().unwrap()), "{full}");
        assert!(full["buffer_delay_percent"].as_f64().unwrap() < 60.0, "{full}");
        assert_eq!(found["reports"].as_array().unwrap().len(), 3);
    }
}

/// The model learns the MTU from ICMP, and the test reports it.
#[test]
fn rfc6349_measures_path_with_small_mtu() {
    let home = Home::new();
    let found = home.json(&format!("{RFC6349} -s 'mtu=1400 B' --connections 1"));
    let baseline = &found["baseline"];
    let mtus = (&baseline["mtu_bytes"], &baseline["asked"]["mtu_bytes"]);
    assert_eq!(mtus, (&1400.into(), &1400.into()));
    assert_eq!(baseline["segment_bytes"], 1348);
    let rate = baseline["rate_bits_per_second"].as_f64().unwrap();
    assert!((rate / 20e6 - 1.0).abs() < 0.03, "{baseline}");
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["goodput_mbit_per_second"].as_f64().unwrap() > 0.0));
}

/// A slow path: a segment of 1500 B takes 31 ms at 384 kbit/s, which is part of its round trip (RFC
/// 6349 section 3.2.1). One connection fills the path, whose delay is constant.
#[test]
fn rfc6349_measures_the_round_trip_of_a_full_segment() {
    let home = Home::new();
    let line = "rfc6349 --path dsl-1.5 --duration '10 s' --world sim --json";
    for (direction, rates) in [("", [384e3, 1.5e6]), ("--download", [1.5e6, 384e3])] {
        let found = home.json(&format!("{line} {direction}"));
        let baseline = &found["baseline"];
        let expected = 50e6 + 1500.0 * 8e9 / rates[0] + 52.0 * 8e9 / rates[1];
        for rtt in [&baseline["rtt_ns"], &baseline["asked"]["rtt_ns"]] {
            let ratio = rtt.as_f64().unwrap() / expected;
            assert!((ratio - 1.0).abs() < 0.01, "{ratio}: {baseline}");
        }
        let bdp = found["bdp_bytes"].as_f64().unwrap();
        assert!((bdp / (rates[0] * expected / 8e9) - 1.0).abs() < 0.03, "{bdp}");
        let summary = found["summary"].to_string();
        assert!(!summary.contains("varies") && !summary.contains("connections:"), "{summary}");
        let goodput = |row: &&Value| row["goodput_mbit_per_second"].as_f64().unwrap();
        let single = found["rows"].as_array().unwrap().iter().filter(|it| it["connections"] == 1);
        let most = single.map(|row| goodput(&row)).fold(0.0, f64::max);
        let best = found["best_bits_per_second"].as_f64().unwrap() / 1e6;
        assert!(most > 0.96 * best, "{most} of {best}: {found}");
    }
}

/// A path whose rate and round trip vary: the bottleneck is what it sustains, the RTT the least.
#[test]
fn rfc6349_measures_path_that_varies() {
    let home = Home::new();
    let line = "rfc6349 --path wifi-bursty --duration '10 s' --connections 1 --world sim --json";
    let found = home.json(line);
    let baseline = &found["baseline"];
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    for (key, asked, tolerance) in
        [("rate_bits_per_second", "rate_bits_per_second", 0.05), ("rtt_mean_ns", "rtt_ns", 0.2)]
    {
        let ratio = number(baseline, key) / number(&baseline["asked"], asked);
        assert!((ratio - 1.0).abs() < tolerance, "{key}: {ratio}");
    }
    assert!(number(baseline, "rtt_ns") < 0.8 * number(baseline, "rtt_mean_ns"), "{baseline}");
    let peak = number(baseline, "peak_rate_bits_per_second");
    assert!(peak > 1.2 * number(baseline, "rate_bits_per_second"), "{baseline}");
    let best = number(&found, "best_bits_per_second") / 1e6;
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| number(row, "goodput_mbit_per_second") < best), "{found}");
}

#[test]
fn impossible_arguments_are_refused() {
    let home = Home::with("empty.pcap", "");
    home.refuses(&[
        ("advise", "--rtt"),
        ("advise --rtt '0 ms'", "use at least 1 µs"),
        ("advise --rtt '10 ms' --loss '120 %'", "--loss"),
        ("advise --rtt '10 ms' --goal speed", "--goal"),
        ("advise --path dsl-26", "did you mean `dsl-25`?"),
        ("advise nothing.pcap", "nothing.pcap"),
        ("advise empty.pcap", "empty.pcap"),
        ("advise .", "is not a run"),
        ("rfc6349", "--path"),
        ("rfc6349 --path dsl-25 --duration '1 ms'", "out of range: use 500 ms to 10 min"),
        ("rfc6349 --target 127.0.0.1:1", "cannot connect to 127.0.0.1:1"),
        ("metrics happiness", "`tcplab metrics` lists all"),
    ]);
    assert_eq!(names(&home.path("")), ["empty.pcap"], "nothing is left");
}

#[test]
fn metrics_are_listed() {
    let home = Home::new();
    let found = home.json("metrics --json");
    let metrics = found["metrics"].as_array().unwrap();
    let names: Vec<&str> = metrics.iter().map(|it| it["name"].as_str().unwrap()).collect();
    for name in ["goodput", "efficiency", "buffer_delay", "transfer_time_ratio", "limit.path"] {
        assert!(names.contains(&name), "{name}");
    }
    let text = home.answer("metrics episode_share.without_time_lag transfer_time");
    assert!(text.contains("\nepisode_share.without_time_lag  %, per trial"), "{text}");
    let text = home.answer("metrics buffer");
    assert!(text.starts_with("buffer_delay") && text.contains("section 4.3"), "{text}");
}

/// Beside the receiver the time to an acknowledgement is no round trip.
#[test]
fn receivers_capture_gives_the_round_trip_of_the_path() {
    let home = Home::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    for name in ["ackloss30", "app_limited", "clean_cubic_20ms", "loss1_cubic", "rwnd_limited"] {
        let capture = corpus.join(format!("{name}.rcv.pcap.zst"));
        let found = home.json(&format!("advise {} --no-trials --json", capture.display()));
        let rtt = found["situation"]["rtt_ns"].as_u64().unwrap();
        assert!((20_000_000..25_000_000).contains(&rtt), "{name}: {rtt}");
    }
    let capture = corpus.join("rwnd_limited.snd.pcap.zst");
    let text = home.answer(&format!("advise {} --no-trials", capture.display()));
    assert!(text.contains("limited the sender for 75 % of the time"), "{text}");
    assert!(text.contains("if `sysctl net.ipv4.tcp_rmem` shows less than "), "{text}");
}
