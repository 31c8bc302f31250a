//! Attributes of routes and parameters of kernel modules, by what they do to packets.

use serde_json::Value;
use tcplab_path::{Direction, Fate};
use tcplab_recording::{Recording, TruthRow};
use tcplab_units::Instant;

use crate::home::Home;
use crate::image::Images;

const SCENARIO: &str = r#"
title  = "Routes"
repeat = { trials = 1 }
server = { stack = "linux-6.12" }

[path]
rate  = "10 Mbit/s"
delay = "20 ms"
queue = "64 kB"

[client]
stack = "linux-6.12"
"#;

/// What the client sent in the one trial of a scenario, without segments that carry no data.
fn data(home: &Home) -> Vec<TruthRow> {
    let trial = home.only(home.only(home.only("runs")).join("trials"));
    let mut rows = Recording::open(&trial).unwrap().truth().unwrap();
    let is_data = |row: &TruthRow| {
        let verdict = row.verdict;
        verdict.direction == Direction::Forward && verdict.size.as_u64() > 100
    };
    rows.retain(is_data);
    rows.sort_by_key(|row| row.verdict.id);
    rows
}

fn millis(at: Instant) -> u64 {
    at.since(Instant::ZERO).as_nanos() / 1_000_000
}

#[test]
fn initial_window_of_the_route_is_the_first_burst() {
    let Some(images) = Images::find() else { return };
    for (route, burst) in [("", 10), ("route = { initcwnd = 3 }\n", 3)] {
        let home = Home::new();
        let text = format!("{SCENARIO}{route}[workload]\nupload = \"100 kB\"\n");
        let run = images.run_scenario(&home, &text, "");
        let sent = data(&home);
        let first = sent[0].verdict.entered;
        // The next burst follows an RTT later.
        let in_burst = sent.iter().filter(|row| millis(row.verdict.entered) < millis(first) + 20);
        assert_eq!(in_burst.count(), burst, "{route}");
        let options = run["cases"][0]["trials"][0]["options"].as_array().unwrap().clone();
        let of_route = |it: &&Value| it["socket"] == "client's route";
        let recorded: Vec<_> = options.iter().filter(of_route).collect();
        let asked = [(&Value::from("initcwnd"), &Value::from(3), &Value::from(3))];
        let found = recorded.iter().map(|it| (&it["name"], &it["requested"], &it["effective"]));
        let expected = if route.is_empty() { &asked[..0] } else { &asked };
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}

/// The one segment is lost, and nothing else says so: RTT 40 ms, its variation 80 ms or the least
/// timeout.
#[test]
fn least_timeout_of_the_route_decides_when_a_segment_is_retransmitted() {
    let Some(images) = Images::find() else { return };
    for (route, timeout) in [
        ("", 240),
        ("route = { rto_min = \"20 ms\" }\n", 120),
        ("route = { rto_min = \"400 ms\" }\n", 440),
    ] {
        let home = Home::new();
        let text = format!(
            "{SCENARIO}{route}sysctl = {{ \"net.ipv4.tcp_early_retrans\" = 0 }}\n\
             [workload]\n\
             requests = {{ count = 1, request = \"1 kB\", response = \"1 B\" }}\n\
             [path.forward]\ndrop = {{ bytes = \"0..1\", nth = [1] }}\n"
        );
        images.run_scenario(&home, &text, "");
        let sent = data(&home);
        let [lost, retransmitted] = &sent[..] else { panic!("{route}: {sent:?}") };
        assert!(matches!(lost.verdict.fate, Fate::Dropped(_)), "{lost:?}");
        let waited = millis(retransmitted.verdict.entered) - millis(lost.verdict.entered);
        // Timers tick every 4 ms, and from 252 ms on every 32 ms (kernel/time/timer.c).
        assert!((timeout..timeout + 36).contains(&waited), "{route}: {waited} ms");
    }
}

#[test]
fn parameter_of_a_module_is_set_and_recorded() {
    let Some(images) = Images::find() else { return };
    let home = Home::new();
    let module = "module = { \"tcp_cubic.hystart\" = 0 }\n";
    let text = format!("{SCENARIO}{module}[workload]\nupload = \"10 kB\"\n");
    images.run_scenario(&home, &text, "");
    let trial = home.only(home.only(home.only("runs")).join("trials"));
    let record = Recording::open(&trial).unwrap().record().unwrap();
    assert_eq!(record.client.modules["tcp_cubic.hystart"], "0");
    assert!(record.server.modules.is_empty());
    home.write("it.toml", text.replace("hystart", "hystrat"));
    let refused = images.run(&home, "run it.toml").stderr;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["the module `tcp_cubic` has no parameter `hystrat`", "hystart,"] {
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn what_a_stack_does_not_take_is_refused_before_the_first_trial() {
    let home = Home::new();
    let model = SCENARIO.replace("linux-6.12", "model:linux-6.18");
    let real = SCENARIO.replace("linux-6.12", "linux");
    let module = "module = { \"tcp_cubic.hystart\" = 0 }";
    for (scenario, setting, world, part) in [
        (&model, "route = { initrwnd = 4 }", "", "`route.initrwnd` is no setting of a model"),
        (&model, module, "", "a parameter of a kernel module, and a model has none"),
        (&real, "route = { mtu = \"1400 B\" }", "--world sim --kernel model", "`route.mtu` is no"),
        (&real, module, "--world kernel", "is a parameter of this machine's whole kernel"),
    ] {
        home.write("it.toml", format!("{scenario}{setting}\n[workload]\nupload = \"1 kB\"\n"));
        let line = format!("run it.toml --dry-run {world}");
        home.refuses(&[(&line, part), (&line, "try: use a kernel in virtual time")]);
    }
}
