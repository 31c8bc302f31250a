//! `tcplab states` of this machine, a trial and a capture.

use std::net::TcpListener;

use crate::home::{Home, names};

const SMALL: &str = r#"title    = "Small"
path     = { rate = "10 Mbit/s", delay = "7 ms" }
workload = { upload = "200 kB" }
sampling = { tcp_info = "1 ms" }
repeat   = { trials = 2 }

[matrix]
"path.loss" = ["0 %", "1 %"]
"#;

#[test]
fn sockets_of_machine_are_listed() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = home.json(&format!("states --port {port} --json"));
    assert_eq!(found["counts"][0]["state"], "LISTEN");
    let socket = &found["connections"][0];
    assert_eq!(socket["local"], format!("127.0.0.1:{port}"));
    assert_eq!(socket["waits_for"], "a SYN from anywhere");
    let text = home.answer(&format!("states --port {port} --state listen"));
    assert!(text.contains("1 LISTEN        waits for a SYN from anywhere"), "{text}");
    let none = home.answer(&format!("states --port {port} --state time-wait"));
    assert_eq!(none, "No such TCP connection.\n");
    home.refuses(&[("states --state asleep", "TIME-WAIT")]);
}

/// A thousand times a second.
#[test]
fn walk_of_trial_equals_its_models() {
    let home = Home::with("small.toml", SMALL);
    home.answer("run small.toml --world sim");
    let run = home.only("runs/small").display().to_string();
    for (case, trial) in [(0, 1), (1, 1), (1, 2)] {
        let cases = home.refusal(&format!("states {run}"));
        let cases = cases.rsplit("--case: ").next().unwrap();
        let name = cases.trim().split(", ").nth(case).unwrap();
        let line = format!("states {run} --case {name} --trial {trial} --json --svg walk.svg");
        let found = home.json(&line);
        let states = |end: &str| {
            let edges = found[end]["edges"].as_array().unwrap();
            edges.iter().map(|edge| edge["to"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let client = ["SYN-SENT", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT"];
        assert_eq!(states("client"), client);
        let server = ["LISTEN", "SYN-RECEIVED", "ESTABLISHED", "CLOSE-WAIT", "LAST-ACK", "CLOSED"];
        assert_eq!(states("server"), server);
        assert_eq!(found["time_wait"][0]["end"], "client");
        for check in found["samples"].as_array().unwrap() {
            let count = |name: &str| check[name].as_u64().unwrap();
            assert!(count("samples") > 100, "{check}");
            assert_eq!(count("differing"), 0, "{check}");
            assert_eq!(count("agree") + count("closed_before_fin"), count("samples"), "{check}");
        }
        let svg = home.text("walk.svg");
        check_stands_alone(&svg);
        assert!(svg.contains("finally in TIME-WAIT"), "{svg}");
    }
    // The same trial by its recording, and by the client's capture alone.
    let recording = format!("{run}/trials/{}", names(&home.path(&run).join("trials"))[0]);
    let text = home.answer(&format!("states {recording}"));
    assert!(text.contains("TIME-WAIT at the client, which closed first"), "{text}");
    let text = home.answer(&format!("states {recording}/client.pcapng"));
    assert!(text.contains("Not captured at the server"), "{text}");
    assert!(text.contains("(arrival inferred)"), "{text}");
    let page = home.text(format!("{run}/report.html"));
    assert_eq!(page.matches(r#"class="state-diagram""#).count(), 4, "one for each trial");
    home.refuses(&[
        (&format!("states {run} --case none"), "no case `none`"),
        (&format!("states {recording} --case none"), "is not a run: omit --case"),
        (&format!("states {recording} -c 1"), "no such connection: there are 1"),
        (&format!("states {recording}/client.pcapng -c 5"), "no connection 5"),
        (&format!("states {recording}/app.json"), "app.json"),
        (&format!("states {run}/trials"), "trials"),
        ("states missing.pcapng", "missing.pcapng"),
    ]);
}

/// Half open, the client gives up after the 3 s of its user timeout; half closed, the server's
/// socket is replaced in FIN-WAIT-2. No packet shows either.
#[test]
fn states_beside_the_packets_agree_with_the_sockets() {
    let home = Home::new();
    home.answer("run sockets-course/states --world sim --kernel model --trials 1");
    let run = home.only("runs/sockets-course-states").display().to_string();
    let found = home.json(&format!("states {run} --case half-open --json --svg walk.svg"));
    let last = found["client"]["edges"].as_array().unwrap().last().unwrap();
    let shown = ["to", "event", "basis"].map(|key| last[key].as_str().unwrap());
    assert_eq!(shown, ["CLOSED", "user-timeout", "missing"]);
    let at = last["at"].as_u64().unwrap();
    assert!((5_000_000_000..6_500_000_000).contains(&at), "{last}");
    assert!(home.text("walk.svg").contains(">user timeout</text>"));
    let text = home.answer(&format!("states {run} --case half-open"));
    assert!(text.contains("The client gave up by user timeout"), "{text}");
    for case in ["half-open", "half-closed", "active-close"] {
        let text = home.answer(&format!("states {run} --case {case}"));
        assert!(!text.contains("; the packets show"), "{case}: {text}");
    }
}

/// That programs which know no style sheets show the colours of this SVG file.
pub(crate) fn check_stands_alone(svg: &str) {
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    for absent in ["var(", "light-dark(", "<style", "system-ui"] {
        assert!(!svg.contains(absent), "{absent}: {svg}");
    }
}
