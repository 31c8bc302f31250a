//! A trial that is watched: what the page is told is what the recording says.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::page::{Page, SMALL, until};

/// All that is told of a trial, or several, until all is over.
fn told(page: &Page, query: &str) -> Vec<Value> {
    let mut stream = page.connect();
    let head = format!("GET /api/live{query} HTTP/1.1\r\n{}\r\n", page.own());
    stream.write_all(head.as_bytes()).unwrap();
    let mut told = Vec::new();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if line == "event: over" {
            break;
        }
        if let Some(data) = line.strip_prefix("data: ") {
            told.push(serde_json::from_str(data).unwrap());
        }
    }
    told
}

/// The intervals of a series, over all messages: the latest of each holds.
fn series(told: &[Value], find: impl Fn(&Value) -> Option<&Value>) -> Vec<Value> {
    let rows = told.iter().filter_map(find).flat_map(|rows| rows.as_array().unwrap());
    let by_interval: BTreeMap<u64, Value> =
        rows.map(|row| (row[0].as_u64().unwrap(), row.clone())).collect();
    by_interval.into_values().collect()
}

/// The intervals of what the client sends.
fn forward(told: &Value) -> Option<&Value> {
    let mut flows = told["flows"].as_array().unwrap().iter();
    flows.find(|it| it["forward"] == true).map(|it| &it["intervals"])
}

fn sum(rows: &[Value], column: usize) -> u64 {
    rows.iter().map(|row| row[column].as_u64().unwrap()).sum()
}

/// What a trial was is the same until the path changes.
#[test]
fn trial_is_run_again_with_a_change() {
    let page = Page::start();
    let toml = SMALL.replace(", loss = \"1 %\"", "");
    let wish = json!({ "do": "run", "toml": toml, "name": "small", "world": "sim" });
    let run = page.run(&wish);
    let events = json!([{ "at": "200 ms", "direction": "forward", "drop": 1 }]);
    let changed = page.post("/api/events", &json!({ "toml": toml, "events": events })).json();
    let wish = json!({
        "do": "run", "toml": changed["toml"], "name": "changed", "world": "sim",
        "case": "cubic", "trial": 2,
    });
    let again = page.run(&wish);
    let packets = |run: &str| {
        let answer = page.get(&format!("/api/live/packets?run={run}&case=cubic&trial=2"));
        answer.json()["packets"].as_array().unwrap().clone()
    };
    let [before, after] = [packets(&run), packets(&again)];
    // The packet that is dropped was sent before, and waited in the queue.
    let is_same = |one: &Value, other: &Value| one["at_ns"] == other["at_ns"];
    let parted = before.iter().zip(&after).position(|(one, other)| !is_same(one, other)).unwrap();
    assert!(after[parted]["at_ns"].as_u64().unwrap() >= 200_000_000, "{}", after[parted]);
    let dropped: Vec<&Value> = after.iter().filter(|it| !it["verdict"].is_null()).collect();
    assert_eq!(dropped.len(), 1, "{dropped:?}");
    // In virtual time there is no now.
    let id = page.begin(&json!({ "do": "resume", "run": run }));
    page.wait(id);
    assert_eq!(page.post(&format!("/api/jobs/{id}/change"), &json!({ "drop": 1 })).status, 409);
}

#[test]
fn trial_without_packets_is_refused_in_words() {
    let page = Page::start();
    let run = page.run(&json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" }));
    let mut clean = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    clean.args(["clean", "--captures", "--yes"]).arg(page.runs()).stdout(Stdio::null());
    assert!(clean.status().unwrap().success());
    for query in ["", "/packets", "/states"] {
        let answer = page.get(&format!("/api/live{query}?run={run}&case=cubic&trial=1"));
        let said = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, 404, "{query}: {said}");
        assert!(said.contains("cubic-1 has no packets: they were removed"), "{query}: {said}");
        assert!(said.contains("run it again with `tcplab run "), "{query}: {said}");
    }
    let several = page.get(&format!("/api/live/several?run={run}&trials=[[%22cubic%22,1]]"));
    assert_eq!(several.status, 404);
    assert_eq!(page.get(&format!("/api/run?run={run}")).status, 200);
}

#[test]
fn history_agrees_with_the_recording() {
    let page = Page::start();
    let run = page.run(&json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" }));
    let query = format!("run={run}&case=reno&trial=1");
    let told = told(&page, &format!("?{query}"));
    assert_eq!(told.last().unwrap()["is_over"], true);
    let rows = series(&told, forward);
    // New data once, whatever was lost.
    assert_eq!(sum(&rows, 5), 500_000);
    let trial = page.runs().join(&run).join("trials/reno-1");
    let truth = fs::read_to_string(trial.join("path.jsonl")).unwrap();
    let dropped = truth.lines().filter(|line| line.contains("\"dropped\"")).count() as u64;
    let of_path = |direction| sum(&series(&told, |it| Some(&it["path"][direction])), 3);
    let drops = of_path("forward") + of_path("reverse");
    assert!(dropped > 0 && drops == dropped, "{drops} of {dropped}");
    let marks = told.iter().flat_map(|it| it["marks"].as_array().unwrap());
    assert_eq!(marks.filter(|it| it["kind"] == "drop").count() as u64, dropped);
    let samples = series(&told, |it| Some(&it["samples"]["client"]));
    assert!(samples.len() > 10 && samples.iter().all(|row| row[1].as_u64().unwrap() > 0));
    // Packets, one by one; the last ones before a time.
    let all = page.get(&format!("/api/live/packets?{query}")).json();
    let all = all["packets"].as_array().unwrap();
    assert_eq!((&all[0]["flags"], &all[0]["from_client"]), (&json!("SYN"), &json!(true)));
    let repeated = all
        .iter()
        .filter(|it| it["kind"].as_str().is_some_and(|it| it.ends_with("retransmission")));
    assert_eq!(repeated.count() as u64, sum(&rows, 7));
    let last = page.get(&format!("/api/live/packets?{query}&until_ns=100000000&most=5&last=true"));
    let last = last.json()["packets"].as_array().unwrap().clone();
    let latest = told.iter().rev().find(|it| !it["latest"].is_null()).unwrap();
    assert_eq!(latest["latest"].as_array().unwrap()[..], all[all.len() - 24..]);
    assert!(last.len() == 5 && last.iter().all(|it| it["at_ns"].as_u64().unwrap() <= 100_000_000));
    assert_eq!(page.get(&format!("/api/live?run={run}&case=none&trial=1")).status, 404);
}

/// Where the server sends the data, its capture alone has what the path dropped of them.
#[test]
fn lost_packets_of_both_ends_are_listed() {
    let page = Page::start();
    let toml = SMALL.replace("upload", "download").replace("1 %", "3 %");
    let run = page.run(&json!({ "do": "run", "toml": toml, "name": "small", "world": "sim" }));
    let query = format!("run={run}&case=reno&trial=1");
    let trial = page.runs().join(&run).join("trials/reno-1");
    let truth = fs::read_to_string(trial.join("path.jsonl")).unwrap();
    let rows = truth.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let dropped = rows.filter(|row| !row["fate"]["dropped"].is_null());
    // When the path got them.
    let mut lost: [Vec<u64>; 2] = Default::default();
    for row in dropped {
        lost[usize::from(row["direction"] == "reverse")].push(row["entered_ns"].as_u64().unwrap());
    }
    for times in &mut lost {
        times.sort_unstable();
    }
    assert!(lost[1].len() > 5, "{lost:?}");
    let packets = |more: &str| -> Vec<Value> {
        let answer = page.get(&format!("/api/live/packets?{query}{more}")).json();
        answer["packets"].as_array().unwrap().clone()
    };
    let at = |row: &Value| row["at_ns"].as_u64().unwrap();
    let all = packets("");
    assert!(all.len() < 2_000 && all.is_sorted_by_key(at), "{}", all.len());
    for (by_client, times) in [(true, &lost[0]), (false, &lost[1])] {
        let is_it = |row: &&Value| row["from_client"] == by_client && !row["verdict"].is_null();
        let listed: Vec<&Value> = all.iter().filter(is_it).collect();
        assert_eq!(listed.iter().map(|row| at(row)).collect::<Vec<_>>(), *times);
        let captured_by = if by_client { "client" } else { "server" };
        assert!(listed.iter().all(|row| row["captured_by"] == captured_by));
        assert!(listed.iter().all(|row| row["connection"] == 0));
    }
    // In portions it is all of them, from either end.
    let (middle, most) = (all.len() / 2, 40);
    let (from, until) = (at(&all[middle]), at(&all[middle]));
    let first = all.iter().position(|row| at(row) == from).unwrap();
    assert_eq!(packets(&format!("&from_ns={from}&most={most}")), all[first..first + most]);
    let behind = all.iter().rposition(|row| at(row) == until).unwrap() + 1;
    let last = packets(&format!("&until_ns={until}&most={most}&last=true"));
    assert_eq!(last, all[behind - most..behind]);
    // The page that follows the trial is told of them, and which packet a mark is of.
    let told = told(&page, &format!("?{query}"));
    let latest = told.iter().rev().find(|it| !it["latest"].is_null()).unwrap();
    assert_eq!(latest["latest"].as_array().unwrap()[..], all[all.len() - 24..]);
    let marks = told.iter().flat_map(|it| it["marks"].as_array().unwrap());
    let sent = marks.filter(|it| it["forward"] == false).filter_map(|it| it["sent_ns"].as_u64());
    let mut sent: Vec<u64> = sent.collect();
    sent.sort_unstable();
    assert_eq!(sent, lost[1]);
}

/// Of two connections the sockets of one are sampled, and each mark belongs to its own.
#[test]
fn marks_belong_to_their_connections() {
    let page = Page::start();
    let toml = r#"
        title    = "Two"
        path     = { rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets", loss = "2 %" }
        workload = { upload = "500 kB", connections = { total = 2 } }
        repeat   = { trials = 1 }
    "#;
    let run = page.run(&json!({ "do": "run", "toml": toml, "name": "two", "world": "sim" }));
    let told = told(&page, &format!("?run={run}&case=base&trial=1"));
    let flows = told.last().unwrap()["flows"].as_array().unwrap();
    let numbers: Vec<&Value> =
        flows.iter().filter(|it| it["forward"] == true).map(|it| &it["connection"]).collect();
    assert_eq!(numbers, [0, 1]);
    for number in numbers {
        let is_own = |it: &&Value| it["connection"] == *number && it["forward"] == true;
        let rows = series(&told, |it| {
            it["flows"].as_array().unwrap().iter().find(is_own).map(|it| &it["intervals"])
        });
        let marks = told.iter().flat_map(|it| it["marks"].as_array().unwrap()).filter(is_own);
        let again = marks.filter(|it| it["what"].as_str().unwrap().ends_with("retransmission"));
        assert!(sum(&rows, 7) > 0);
        assert_eq!(again.count() as u64, sum(&rows, 7), "connection {number}");
    }
    // By its ports: the first one of the trial.
    let sampled = &told[0]["sampled"];
    let port = sampled[0].as_u64().unwrap();
    let ends = flows[0]["ends"].as_array().unwrap();
    assert!(
        ends.iter().any(|end| end.as_str().unwrap().ends_with(&format!(":{port}"))),
        "{ends:?}"
    );
}

/// A trial that something was wrong with is put aside and run again, in a directory of its name.
#[test]
fn next_attempt_of_a_trial_is_announced() {
    let page = Page::start();
    let run = page.run(&json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" }));
    let trials = page.runs().join(&run).join("trials");
    let growing = trials.join(".partial-reno-1");
    fs::rename(trials.join("reno-1"), &growing).unwrap();
    fs::remove_file(growing.join("DONE")).unwrap();
    let mut stream = page.connect();
    let head = format!("GET /api/live?run={run}&case=reno&trial=1 HTTP/1.1\r\n{}\r\n", page.own());
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: history"));
    fs::rename(&growing, trials.join("aside")).unwrap();
    fs::create_dir(&growing).unwrap();
    assert!(lines.any(|line| line == "event: over"));
    let over: Value =
        serde_json::from_str(lines.next().unwrap().strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(over, json!({ "is_run_again": true }));
}

#[test]
fn several_trials_are_told_in_one_stream() {
    let page = Page::start();
    let run = page.run(&json!({ "do": "run", "toml": SMALL, "name": "small", "world": "sim" }));
    let both = told(&page, &format!("/several?run={run}&trials=[[%22reno%22,1],[%22cubic%22,2]]"));
    for (case, trial) in [("reno", 1), ("cubic", 2)] {
        let of = json!({ "case": case, "trial": trial });
        let own: Vec<Value> = both.iter().filter(|it| it["of"] == of).cloned().collect();
        let alone = told(&page, &format!("?run={run}&case={case}&trial={trial}"));
        let rows = |told: &[Value]| series(told, forward);
        assert!(!own.is_empty());
        assert_eq!(rows(&own), rows(&alone), "{case}");
    }
    let status =
        |trials: &str| page.get(&format!("/api/live/several?run={run}&trials={trials}")).status;
    assert_eq!(status("[]"), 400);
    assert_eq!(status("reno"), 400);
    assert_eq!(status(&format!("[{}]", ["[%22reno%22,1]"; 13].join(","))), 400);
    assert_eq!(status("[[%22reno%22,99]]"), 404);
    assert_eq!(status("[[%22..%22,1]]"), 400);
}

/// On this machine's kernel: the page sees the trial while it runs, and changes its path at once.
#[test]
fn running_trial_is_watched_and_changed() {
    let page = Page::start();
    if page.get("/api/about").json()["has_kernel"] == false {
        skipped("experiments cannot run on this kernel");
        return;
    }
    let toml = r#"
        title    = "Long"
        path     = { rate = "4 Mbit/s", delay = "10 ms", queue = "50 packets" }
        workload = { upload = "2 MB" }
        repeat   = { trials = 1 }
    "#;
    let wish = json!({ "do": "run", "toml": toml, "name": "long", "world": "kernel" });
    let id = page.begin(&wish);
    let state = until(|| {
        let state = page.get(&format!("/api/jobs/{id}")).json();
        assert_eq!(state["is_running"], true, "{state}");
        (state["latest"]["event"] == "progress").then_some(state)
    });
    let run = state["run"].as_str().unwrap();
    let it = page.get(&format!("/api/run?run={run}")).json();
    let case = it["trials"][0]["case"].as_str().unwrap();
    let query = format!("run={run}&case={case}&trial=1");
    // What is told while it runs is not all, and soon more.
    let packets = || {
        let answer = page.get(&format!("/api/live/packets?{query}"));
        answer.json()["packets"].as_array().map_or(0, Vec::len)
    };
    let first = until(|| Some(packets()).filter(|count| *count > 0));
    until(|| (packets() > first).then_some(()));
    // Its states are samples until it is over.
    let states = || page.get(&format!("/api/live/states?{query}")).json();
    assert_eq!((&states()["is_over"], &states()["ends"]), (&json!(false), &Value::Null));
    let change = json!({ "direction": "forward", "drop": 3 });
    let changed = |query: &str| page.post(&format!("/api/jobs/{id}/change{query}"), &change);
    // It is meant for this trial alone.
    for (other, status) in [
        (format!("?run={run}&case={case}&trial=2"), 409),
        (format!("?run={run}&case=other&trial=1"), 409),
        (format!("?run=other/1&case={case}&trial=1"), 409),
        (format!("?run={run}"), 400),
    ] {
        assert_eq!(changed(&other).status, status, "{other}");
    }
    assert_eq!(page.get(&format!("/api/jobs/{id}")).json()["trial"]["case"], case);
    assert_eq!(changed(&format!("?{query}")).status, 200);
    let told = told(&page, &format!("?{query}"));
    assert!(told.len() > 3, "{} messages of a trial that went on", told.len());
    let causes = told.iter().flat_map(|it| it["marks"].as_array().unwrap());
    let dropped = causes.filter(|it| it["what"].as_str().unwrap().contains("dropped by event"));
    assert_eq!(dropped.count(), 3);
    assert_eq!(page.wait(id)["is_finished"], true);
    assert_eq!(states()["ends"]["client"]["edges"][0]["to"], "SYN-SENT");
    // It is written down, and makes a scenario.
    let record = page.runs().join(run).join(format!("trials/{case}-1/result.json"));
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let events = &record["path_events"];
    assert_eq!((&events[0]["drop"], &events[0]["direction"]), (&json!(3), &json!("forward")));
    assert_eq!(page.get(&format!("/api/run?{query}")).json()["path_events"], *events);
    let with = page.post("/api/events", &json!({ "toml": toml, "events": events })).json();
    let checked = page.post("/api/check", &json!({ "toml": with["toml"] })).json();
    assert_eq!(checked["mistakes"], json!([]), "{with}");
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
