//! A transfer below a round trip or a few segments has no rate, in any output; round trips of
//! sockets are those of captures.

use serde_json::Value;

use crate::home::Home;

/// 82 bytes and their answer, as public captures of two ends have them: milliseconds at the sender,
/// half a microsecond at the receiver.
const TINY: &str = r#"title = "Tiny"
[path]
rate = "20 Mbit/s"
delay = "10 ms"
[workload]
upload = "82 B"
[repeat]
trials = 1
"#;

/// The captures of the client and the server.
fn captures(home: &Home) -> [String; 2] {
    home.write("tiny.toml", TINY);
    let run = home.run("run tiny.toml --world sim --runs runs");
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    let trials = home.only("runs/tiny").join("trials");
    let trial = home.only(trials);
    ["client", "server"].map(|end| format!("{}", trial.join(format!("{end}.pcapng")).display()))
}

/// Whether a key of this name has a value anywhere in it.
fn has_value(json: &Value, key: &str) -> bool {
    match json {
        Value::Object(map) => {
            map.iter().any(|(name, value)| name == key && !value.is_null() || has_value(value, key))
        }
        Value::Array(list) => list.iter().any(|value| has_value(value, key)),
        _ => false,
    }
}

#[test]
fn tiny_transfer_has_no_rate_in_any_output() {
    let home = &Home::new();
    let captures = captures(home);
    for capture in &captures {
        for view in ["", "--connection 0"] {
            let text = home.answer(&format!("trace '{capture}' {view}"));
            assert!(!text.contains("bit/s"), "{text}");
        }
        let whole = home.json(&format!("trace '{capture}' --json"));
        let lines = home.answer(&format!("trace '{capture}' --jsonl"));
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        for key in [
            "goodput_bits_per_second",
            "throughput_bits_per_second",
            "transfer_time_ratio",
            "capacity_bits_per_second",
        ] {
            assert!(!has_value(&whole, key), "{key}");
            assert!(lines.clone().all(|line: Value| !has_value(&line, key)), "{key}");
        }
        home.answer(&format!("trace '{capture}' --csv all.csv --html all.html --xpl graphs"));
        let csv = home.text("all.csv");
        let mut rows = csv.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let names: Vec<&str> = rows.next().unwrap().split(',').map(str::trim).collect();
        let cells: Vec<&str> = rows.next().unwrap().split(',').map(str::trim).collect();
        let place = names.iter().position(|name| *name == "throughput_a2b").unwrap();
        assert_eq!((cells[place], cells[place + 1]), ("NA", "0"));
        assert!(!home.exists("graphs/a2b_tput.xpl"));
        assert!(!home.text("all.html").contains("bit/s"));
    }
}

#[test]
fn tiny_transfers_compare_without_absurd_percentages() {
    let home = &Home::new();
    let [client, server] = captures(home);
    for (a, b) in [(&server, &client), (&client, &server)] {
        let text = home.answer(&format!("compare '{a}' '{b}' --json=c.json --markdown c.md"));
        assert!(!text.contains("bit/s"), "{text}");
        for text in [text, home.text("c.md")] {
            for word in text.split_whitespace().filter(|word| word.starts_with('+')) {
                let number: String = word.chars().filter(char::is_ascii_digit).collect();
                assert!(number.len() <= 5, "{word}: {text}");
            }
        }
    }
}

/// Most of a short transfer leaves the send buffer after its program has closed the socket.
#[test]
fn mean_rtt_of_the_socket_is_that_of_the_capture() {
    let scenario = r#"title = "A queue that fills"
client = { socket = { congestion = "reno" } }
workload = { upload = "2 MB" }
path = { rate = "20 Mbit/s", rtt = "20 ms" }
"#;
    let home = Home::with("full.toml", scenario);
    home.answer("run full.toml --world sim --trials 1");
    let table = home.text(home.only("runs/full").join("trials.csv"));
    let mut lines = table.lines().map(|line| line.split(','));
    let row: Vec<_> = lines.next().unwrap().zip(lines.next().unwrap()).collect();
    let value = |name| -> f64 { row.iter().find(|it| it.0 == name).unwrap().1.parse().unwrap() };
    let (socket, capture) = (value("mean_rtt_ms"), value("rtt_mean_ms"));
    assert!(capture > 150.0, "the queue did not fill: {capture}");
    assert!((socket / capture - 1.0).abs() < 0.15, "{socket} against {capture}");
}
