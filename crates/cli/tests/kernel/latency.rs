//! `tcplab latency` across a path that differs by direction: each way by itself.

use serde_json::Value;

use crate::home::{Home, ended};
use crate::program::namespaces_allowed;

/// 10 ms and losses there, 40 ms back.
const PATH: [&str; 3] = ["forward.delay=10 ms", "reverse.delay=40 ms", "forward.loss=10 %"];

#[test]
fn each_way_of_an_asymmetric_path_is_measured() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_tcplab");
    let server = format!("'{program}' server --service latency --address 0.0.0.0 --port 5195");
    let measure = format!(
        "'{program}' latency $TCPLAB_FAR:5195 --duration 1s --timeout 300ms -q --json=one.json && \
         '{program}' latency $TCPLAB_FAR:5195 --duration 1s --timeout 300ms -q --json=two.json --clocks separate"
    );
    let mut shell = home.command("shell --json=end.json");
    shell.args(PATH.iter().flat_map(|key| ["-s", key]));
    shell.args(["--far-command", &server, "--", "sh", "-c", &measure]);
    let run = ended(&mut shell);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let [one, two, end] = ["one.json", "two.json", "end.json"]
        .map(|name| serde_json::from_slice::<Value>(&home.bytes(name)).unwrap());
    let least = |of: &Value, what: &str| of["phases"][0][what]["min_ns"].as_f64().unwrap() / 1e6;
    // No packet is earlier than the path lets it (three digits are kept).
    for (way, delay) in [("there", 10.0), ("back", 40.0), ("rtt", 50.0)] {
        assert!(least(&one, way) >= delay * 0.999, "{way}: {one}");
    }
    // Half of the RTT would be more.
    assert!(least(&one, "there") < least(&one, "rtt") / 2.0, "{one}");
    // Two clocks: the sum is right, the division is half by half, and the bound says so.
    let half = least(&two, "rtt") / 2.0;
    assert!((least(&two, "there") - half).abs() < 0.1, "{two}");
    let bound = two["clock"]["bound_ns"].as_f64().unwrap() / 1e6;
    assert!((bound - half).abs() < 0.1 && bound >= 24.9, "{two}");
    // All losses were there, and as many as the path says.
    let mut lost = 0;
    for found in [&one, &two] {
        assert_eq!(found["lost"], found["lost_there"], "{found}");
        assert_eq!(found["lost_back"], 0, "{found}");
        lost += found["lost"].as_u64().unwrap();
    }
    let dropped = end["traffic"]["forward"]["dropped"].as_u64().unwrap();
    // A greeting may be lost, too.
    assert!(lost > 0 && (lost..lost + 6).contains(&dropped), "{lost} of {dropped}");
}
