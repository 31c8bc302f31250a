//! `tcplab compare` finds a planted regression, reports none for other seeds, and writes readable
//! files. All in virtual time.

use std::fs;

use crate::home::Home;

/// Losses while the window is small: where limited transmit (RFC 3042) saves timeouts.
const SCENARIO: &str = r#"title = "Losses"

[path]
rate = "10 Mbit/s"
delay = "20 ms"
forward = { loss = "6 %" }

[client]
stack = "model:haiku-2017-middle"

[workload]
upload = "250 kB"

[matrix.buffer]
large = { "server.socket.rcvbuf" = "64 kB" }
small = { "server.socket.rcvbuf" = "16 kB" }

[repeat]
trials = 24
"#;

const LARGE: &str = "large = { \"server.socket.rcvbuf\" = \"64 kB\" }\n";
/// Takes limited transmit away.
const REGRESSION: &str = "\nmodel.recovery = { limited_transmit = false }\n";

/// The output of a comparison, and its exit code.
fn compare(home: &Home, line: &str) -> (String, i32) {
    let run = home.run(&format!("compare {line}"));
    let code = run.code.unwrap();
    assert!(code < 2 && !run.stderr.contains("panicked"), "{line}: {}", run.stderr);
    (run.stdout, code)
}

fn json(home: &Home, line: &str) -> (serde_json::Value, i32) {
    let (text, code) = compare(home, &format!("{line} --json"));
    (serde_json::from_str(&text).unwrap(), code)
}

/// Runs the scenario into a directory of this name; gives the run's directory.
fn run(home: &Home, directory: &str, scenario: &str, flags: &str) -> String {
    home.write(&format!("{directory}/losses.toml"), scenario);
    let line = format!("run {directory}/losses.toml --world sim --runs {directory} {flags}");
    let run = home.run(&line);
    assert!(matches!(run.code, Some(0..=2)), "{line}: {}", run.stderr);
    let run = home.only(format!("{directory}/losses"));
    format!("{directory}/losses/{}", run.file_name().unwrap().to_string_lossy())
}

#[test]
fn regression_is_found_without_false_alarms() {
    let home = &Home::new();
    let stack = "stack = \"model:haiku-2017-middle\"\n";
    // One of both cases is enough to compare with.
    let one = SCENARIO.replace(LARGE, "");
    assert_ne!(one, SCENARIO);
    let worse = one.replace(stack, &format!("{stack}{REGRESSION}"));
    let good = run(home, "good", SCENARIO, "--seed 1");
    let bad = run(home, "bad", &worse, "--seed 1");
    let other = run(home, "other", &one, "--seed 2 --trials 16");
    let (text, code) = compare(home, &format!("{good} {bad}"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("B is worse than A in "), "{text}");
    assert!(text.contains("B has `model.recovery = { limited_transmit = false }`"), "{text}");
    assert!(text.contains("only A has large: left out"), "{text}");
    // A case that is gone has verdicts, too.
    assert!(text.contains("Not compared: ") && text.contains("of large (B has no such case)"));
    // The worst first, by pairs of the same seed.
    let worst = &json(home, &format!("{good} {bad}")).0["rows"][0];
    let (verdict, paired) = (&worst["verdict"], &worst["is_paired"]);
    assert_eq!((verdict, paired), (&"worse".into(), &true.into()), "{worst}");
    // The other way round it is an improvement.
    let (text, code) = compare(home, &format!("{bad} {good}"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("B is better than A in "), "{text}");
    assert_eq!(compare(home, &format!("{bad} {good} --fail-on different")).1, 1);
    // A against A, with other seeds, and with itself.
    let (found, code) = json(home, &format!("{good} {other}"));
    assert_eq!(code, 0, "{found}");
    for row in found["rows"].as_array().unwrap() {
        let verdict = &row["verdict"];
        assert!(verdict["inconclusive"].is_object() || verdict["equivalent"].is_object(), "{row}");
    }
    let (text, code) = compare(home, &format!("{good} {good} --fail-on different"));
    assert_eq!(code, 0);
    assert!(text.contains("B is identical to A in all "), "{text}");
    files_are_written(home, &good, &bad);
    levels_are_compared(home, &good);
    captures_are_compared(home, &good, &bad);
    mistakes_are_refused(home, &good);
}

fn files_are_written(home: &Home, good: &str, bad: &str) {
    let files = "--markdown c.md --junit c.xml --html c.html --fail-on inconclusive";
    compare(home, &format!("{good} {bad} {files}"));
    let markdown = home.text("c.md");
    assert!(markdown.starts_with("### ❌ tcplab: B is worse than A"), "{markdown}");
    assert!(markdown.contains("| **worse** |") && markdown.contains("<details><summary>All "));
    let xml = home.text("c.xml");
    assert!(xml.contains("inconclusive: B has no such case"), "{xml}");
    let count = |tag: &str| xml.matches(tag).count();
    assert!(count("<testcase ") >= 4 && count("<testcase ") == count("</testcase>"), "{xml}");
    let failures = count("<failure ");
    let counted = format!("failures=\"{failures}\" errors=\"0\"");
    assert!(failures > 0 && xml.contains(&counted), "{xml}");
    let page = home.text("c.html");
    for expected in
        ["class=\"forest\"", "Data of A and B, overlaid", "first difference", "class=\"ladder\""]
    {
        assert!(page.contains(expected), "{expected}");
    }
    for elsewhere in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(elsewhere), "{elsewhere}: the page needs nothing else");
    }
}

fn levels_are_compared(home: &Home, good: &str) {
    let (text, _) = compare(home, &format!("{good} --by buffer --metrics transfer_time"));
    assert!(text.contains("by buffer\nA: large\nB: small\n"), "{text}");
    let (found, _) = json(home, &format!("{good} --by buffer --levels small,large"));
    assert_eq!(found["sides"][0]["label"], "small");
    assert_eq!(found["rows"][0]["is_paired"], true);
}

fn captures_are_compared(home: &Home, good: &str, bad: &str) {
    let [a, b] = [good, bad].map(|run| format!("{run}/trials/small-1/client.pcapng"));
    let (text, code) = compare(home, &format!("{a} {a}"));
    assert_eq!(code, 0);
    assert!(text.contains("no differences"), "{text}");
    let (text, _) = compare(home, &format!("{a} {b} --html d.html --json=d.json"));
    assert!(text.contains("One connection each"), "{text}");
    let found: serde_json::Value = serde_json::from_str(&home.text("d.json")).unwrap();
    assert!(found["pairs"][0]["facts"].as_array().unwrap().len() > 20);
    assert!(home.text("d.html").contains("Two captures"));
    home.refuses(&[(&format!("compare {a} {b} --junit x.xml"), "--junit needs runs")]);
}

fn mistakes_are_refused(home: &Home, good: &str) {
    home.make_directory("begun");
    fs::copy(home.path(good).join("plan.json"), home.path("begun/plan.json")).unwrap();
    home.write("old/run.json", "{\"name\": 3}");
    for (rest, error) in [
        ("nowhere", "no such directory"),
        ("begun", "tcplab run --resume begun"),
        ("old", "tcplab report old"),
        ("GOOD/scenario.toml", "is a scenario or path file"),
        ("--by speed", "one of: buffer"),
        ("GOOD --metrics speed", "there is no metric `speed`"),
        ("GOOD --threshold 2", "METRIC=2"),
        ("GOOD --json --markdown -", "only one output can go to"),
    ] {
        home.refuses(&[(&format!("compare {good} {}", rest.replace("GOOD", good)), error)]);
    }
    // Other files of JSON.
    home.write("other.json", r#"{ "schema": "tcplab.comparison", "version": 1, "rows": [] }"#);
    let newer =
        home.text(format!("{good}/run.json")).replacen("\"version\": 1", "\"version\": 99", 1);
    home.write("newer.json", newer);
    for (name, text) in [("list.json", "[]"), ("cut.json", "{"), ("none.json", "{}")] {
        home.write(name, text);
    }
    for (place, said) in [
        ("other.json", "other.json has no results of a run: it is a document `tcplab.comparison`"),
        ("newer.json", "version 99 of their format; this tcplab reads up to version 1"),
        ("newer.json", "use a newer tcplab"),
        ("list.json", "has no results of a run"),
        ("cut.json", "has no results of a run: EOF"),
        ("none.json", "it is no document `tcplab.run`"),
        ("none.json", "pass what `tcplab run --json=FILE` writes"),
    ] {
        home.refuses(&[(&format!("compare {good} {place}"), said)]);
    }
    // Kept results have no packets for a page: no other file is written.
    fs::copy(home.path(good).join("run.json"), home.path("kept.json")).unwrap();
    for rest in ["--html page.html", "--junit -"] {
        let line = format!("compare {good} kept.json --json=left.json --markdown - {rest}");
        home.refuses(&[(&line, if rest.ends_with('-') { "only one" } else { "draws packets" })]);
    }
    assert!(!home.path("left.json").exists());
}

/// What B lacks is not as good as what A has.
#[test]
fn side_without_values_does_not_pass() {
    let home = &Home::new();
    let scenario = |rates: &str, rest: &str| {
        format!(
            "title = \"Late\"\n[path]\ndelay = \"5 ms\"\n[matrix]\n\"path.rate\" = [{rates}]\n\
             [repeat]\ntrials = 6\n[workload]\nupload = \"100 kB\"\n{rest}"
        )
    };
    // No trial of B ends in time.
    let failed = {
        let late = scenario("\"8 Mbit/s\", \"40 kbit/s\"", "[limits]\ntrial = \"3 s\"\n");
        run(home, "failed", &late, "")
    };
    let line = format!("compare {failed} --by rate --fail-on different");
    let found = home.run(&line);
    assert_eq!(found.code, Some(2), "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("Nothing to compare. Not compared: "), "{}", found.stdout);
    assert!(found.stdout.contains("6 of 6 trials of B failed"), "{}", found.stdout);
    assert!(found.stderr.contains("nothing could be compared"), "{}", found.stderr);
    // They may break off, but have no transfer time then.
    let breaks_off = "may_fail = true\n[client.socket]\nuser_timeout = \"3 s\"\n[server.socket]\n\
                      user_timeout = \"3 s\"\n[[path.events]]\nat = \"150 ms\"\nloss = \"100 %\"\n";
    let broken = run(home, "broken", &scenario("\"80 Mbit/s\", \"2 Mbit/s\"", breaks_off), "");
    let line = format!("{broken} --by rate --metrics transfer_time,payload_intact");
    let (found, code) = json(home, &format!("{line} --fail-on inconclusive"));
    assert_eq!((code, found["missing"][0]["why"].as_str()), (1, Some("B has none")), "{found}");
    let (text, _) = compare(home, &line);
    assert!(text.contains("Not compared: transfer time of "), "{text}");
}
