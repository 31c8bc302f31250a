//! What one learns from: states of a trial, lessons and their answers, options, programs.

use serde_json::{Value, json};

use crate::page::{Page, SMALL};

fn embedded(page: &Page, name: &str) -> Value {
    let toml = page.get(&format!("/api/scenario?name={name}")).json()["toml"].clone();
    json!({ "do": "run", "toml": toml, "name": "learn", "world": "sim" })
}

/// The states that an end enters, with the flags of the packets that show it.
fn walked(states: &Value, end: &str) -> Vec<(String, String)> {
    let edges = states["ends"][end]["edges"].as_array().unwrap();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    edges.iter().map(|it| (text(&it["to"]), text(&it["packet"]["flags"]))).collect()
}

#[test]
fn transitions_of_a_trial_have_their_packets() {
    let page = Page::start();
    let run = page.run(&embedded(&page, "sockets-course/closing-orders"));
    let of =
        |case: &str| page.get(&format!("/api/live/states?run={run}&case={case}&trial=1")).json();
    let states = of("client-closes-first");
    let expected = [
        ("SYN-SENT", "[S]"),
        ("ESTABLISHED", "[S.]"),
        ("FIN-WAIT-1", "[F.]"),
        ("FIN-WAIT-2", "[.]"),
        ("TIME-WAIT", "[F.]"),
    ];
    let expected: Vec<_> = expected.map(|(to, flags)| (to.into(), flags.into())).into();
    assert_eq!(walked(&states, "client"), expected);
    // Each is shown in the diagram, and has its time.
    let picture = states["picture"].as_str().unwrap();
    for step in 1..=expected.len() {
        assert!(picture.contains(&format!(r#"data-step="client {step}""#)), "{step}");
    }
    let times: Vec<u64> = states["ends"]["client"]["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["at_ns"].as_u64().unwrap())
        .collect();
    assert!(times.is_sorted() && times[1] >= 100_000_000, "{times:?}");
    // A simultaneous close, and a reset.
    for end in ["client", "server"] {
        let both = walked(&of("simultaneous-close"), end);
        assert!(both.iter().any(|(to, _)| to == "CLOSING"), "{both:?}");
        let reset = walked(&of("reset"), end);
        let (to, flags) = reset.last().unwrap();
        assert!(to == "CLOSED" && flags.contains('R'), "{reset:?}");
    }
    assert!(states["ends"]["server"]["vanished_ns"].is_null(), "{states}");
    let status = |query: &str| page.get(&format!("/api/live/states?{query}")).status;
    assert_eq!(status(&format!("run={run}&case=reset&trial=1&connection=9")), 404);
    assert_eq!(status(&format!("run={run}&case=none&trial=1")), 404);
    assert_eq!(status(&format!("run={run}&case=../reset&trial=1")), 400);
    assert_eq!(status("run=../x&case=reset&trial=1"), 403);
}

/// The server sleeps for a second after its answer, which is sent at 60 ms; then its machine loses
/// its power.
#[test]
fn end_that_vanishes_is_told_though_no_packet_shows_it() {
    let page = Page::start();
    let run = page.run(&embedded(&page, "sockets-course/states"));
    let states = page.get(&format!("/api/live/states?run={run}&case=half-open&trial=1")).json();
    let gone = states["ends"]["server"]["vanished_ns"].as_f64().unwrap() / 1e9;
    assert!((1.06..1.07).contains(&gone), "{gone}");
    assert!(states["ends"]["client"]["vanished_ns"].is_null());
}

#[test]
fn lesson_is_answered_by_its_run_alone() {
    let page = Page::start();
    let lessons = page.get("/api/lessons").json();
    let lessons = lessons["lessons"].as_array().unwrap();
    let lesson = lessons.iter().find(|it| it["id"] == "one-kilobyte").unwrap();
    let run = page.run(&embedded(&page, lesson["scenario"].as_str().unwrap()));
    let answer = page.get(&format!("/api/lesson/answer?lesson=one-kilobyte&run={run}")).json();
    // The course measured 0.045 Mbit/s.
    let value = answer["value"].as_f64().unwrap();
    assert!((0.04..0.05).contains(&value), "{answer}");
    assert_eq!((&answer["unit"], &answer["right"]), (&json!("Mbit/s"), &json!(0)));
    // All that it cites is there.
    let cited: Vec<&Value> = lesson["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["claims"].as_array().unwrap())
        .collect();
    let claims = answer["claims"].as_array().unwrap();
    for claim in cited {
        let found = claims.iter().find(|it| it["claim"] == *claim).unwrap();
        assert_eq!(found["outcome"], "passed", "{found}");
    }
    // Another experiment's run is no answer, nor is one that is not there.
    let other = page.run(&json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" }));
    let status = |lesson: &str, run: &str| {
        page.get(&format!("/api/lesson/answer?lesson={lesson}&run={run}")).status
    };
    assert_eq!(status("one-kilobyte", &other), 400);
    assert_eq!(status("one-kilobyte", "none"), 404);
    assert_eq!(status("none", &run), 404);
}

#[test]
fn options_are_those_of_the_command() {
    let page = Page::start();
    let options = page.get("/api/options").json();
    let options = options["options"].as_array().unwrap();
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["sockopts", "--json"])
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&command.stdout).unwrap();
    let names = |all: &[Value]| -> Vec<Value> { all.iter().map(|it| it["name"].clone()).collect() };
    assert_eq!(names(options), names(said["options"].as_array().unwrap()));
    let nodelay = options.iter().find(|it| it["name"] == "TCP_NODELAY").unwrap();
    assert_eq!(nodelay["experiment"]["scenario"], "socket-options/nodelay");
    assert_eq!(nodelay["tcp"]["value"], false);
    assert!(options.iter().any(|it| it["experiment"].is_null()));
}

#[test]
fn programs_have_their_source() {
    let page = Page::start();
    let programs = page.get("/api/programs").json();
    for program in programs["programs"].as_array().unwrap() {
        let name = program["name"].as_str().unwrap();
        let source = page.get(&format!("/api/program?name={name}")).json();
        assert!(source["rust"].as_str().unwrap().contains("fn main()"), "{name}");
        assert!(source["c"].as_str().unwrap().contains("main("), "{name}");
    }
    assert_eq!(page.get("/api/program?name=../../etc/passwd").status, 404);
}
