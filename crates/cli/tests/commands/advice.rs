//! `tcplab advise`, `tcplab rfc6349` and `tcplab metrics`, in virtual time.

use serde_json::Value;

use crate::home::{Home, names};

/// For a long lossy path, another congestion control: trials confirm the gain that the formula
/// expects.
#[test]
fn advice_is_tried_and_confirmed() {
    let home = Home::new();
    let found = home.json(
        "advise --rtt '60 ms' --rate '20 Mbit/s' --loss '0.5 %' --goal throughput --payload '4 MB' \
         --trials 4 --world sim --json",
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

    // From a capture of it.
    let capture = format!("{run}/trials/before-1/client.pcapng");
    let found = home.json(&format!("advise {capture} --goal throughput --no-trials --json"));
    let rtt = found["situation"]["rtt_ns"].as_u64().unwrap();
    assert!((60_000_000..61_000_000).contains(&rtt), "{rtt}");
    let loss = found["situation"]["loss_ratio"].as_f64().unwrap();
    assert!((0.002..0.01).contains(&loss), "{loss}");
    assert_eq!(found["advice"][0]["id"], "congestion-control");
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
    let text = home.answer("metrics buffer");
    assert!(text.starts_with("buffer_delay") && text.contains("section 4.3"), "{text}");
}
