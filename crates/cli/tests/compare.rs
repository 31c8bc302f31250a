//! `tcplab compare`: finds a planted regression, reports none for other seeds, and writes readable
//! files. All in virtual time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

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
/// The one line.
const REGRESSION: &str = "\nmodel.recovery = { limited_transmit = false }\n";

fn tcplab(home: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(line.split(' ')).current_dir(home).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    command.output().unwrap()
}

/// What it says, and its exit code.
fn said(home: &Path, line: &str) -> (String, i32) {
    let Output { status, stdout, stderr } = tcplab(home, line);
    let complaint = String::from_utf8_lossy(&stderr);
    let code = status.code().unwrap();
    assert!(code < 2 && !complaint.contains("panicked"), "{line}: {complaint}");
    (String::from_utf8(stdout).unwrap(), code)
}

fn refusal(home: &Path, line: &str) -> String {
    let Output { status, stdout, stderr } = tcplab(home, line);
    let complaint = String::from_utf8(stderr).unwrap();
    assert_eq!((status.code(), &stdout[..]), (Some(2), &b""[..]), "{line}: {complaint}");
    complaint
}

/// Runs the scenario into a folder of this name; where the run is, seen from `home`.
fn run(home: &Path, folder: &str, scenario: &str, flags: &str) -> String {
    fs::create_dir_all(home.join(folder)).unwrap();
    fs::write(home.join(folder).join("losses.toml"), scenario).unwrap();
    said(home, &format!("run {folder}/losses.toml --world sim --runs {folder} {flags}"));
    let mut runs = fs::read_dir(home.join(folder).join("losses")).unwrap();
    let place = runs.next().unwrap().unwrap().file_name().into_string().unwrap();
    format!("{folder}/losses/{place}")
}

/// Without it, with the regression, and without it and with other seeds.
struct Runs {
    home: TempDir,
    good: String,
    bad: String,
    other: String,
}

fn runs() -> Runs {
    let home = tempfile::tempdir().unwrap();
    let stack = "stack = \"model:haiku-2017-middle\"\n";
    // One of both cases is enough to be compared with.
    let one = SCENARIO.replace(LARGE, "");
    assert_ne!(one, SCENARIO);
    let worse = one.replace(stack, &format!("{stack}{REGRESSION}"));
    let good = run(home.path(), "good", SCENARIO, "--seed 1");
    let bad = run(home.path(), "bad", &worse, "--seed 1");
    let other = run(home.path(), "other", &one, "--seed 2 --trials 16");
    Runs { home, good, bad, other }
}

#[test]
fn regression_is_found_without_false_alarms() {
    let Runs { home, good, bad, other } = runs();
    let home = home.path();
    let (text, code) = said(home, &format!("compare {good} {bad}"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("B is worse than A in "), "{text}");
    assert!(text.contains("B has `model.recovery = { limited_transmit = false }`"), "{text}");
    assert!(text.contains("only A has large: left out"), "{text}");
    // The worst first, by pairs of the same seed.
    let (json, _) = said(home, &format!("compare {good} {bad} --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    let worst = &json["rows"][0];
    assert_eq!(
        (&worst["verdict"], &worst["is_paired"]),
        (&"worse".into(), &true.into()),
        "{worst}"
    );
    // The other way round it is an improvement.
    let (text, code) = said(home, &format!("compare {bad} {good}"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("B is better than A in "), "{text}");
    assert_eq!(said(home, &format!("compare {bad} {good} --fail-on different")).1, 1);
    // A against A, with other seeds, and with itself.
    let (json, code) = said(home, &format!("compare {good} {other} --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(code, 0, "{json}");
    for row in json["rows"].as_array().unwrap() {
        let verdict = &row["verdict"];
        assert!(verdict["inconclusive"].is_object() || verdict["equivalent"].is_object(), "{row}");
    }
    let (text, code) = said(home, &format!("compare {good} {good} --fail-on different"));
    assert_eq!(code, 0);
    assert!(text.contains("B is identical to A in all "), "{text}");
    written(home, &good, &bad);
    levels(home, &good);
    captures(home, &good, &bad);
    mistakes(home, &good);
}

/// Every form for whoever reads it.
fn written(home: &Path, good: &str, bad: &str) {
    let files = "--markdown c.md --junit c.xml --html c.html --fail-on inconclusive";
    said(home, &format!("compare {good} {bad} {files}"));
    let read = |name: &str| fs::read_to_string(home.join(name)).unwrap();
    let markdown = read("c.md");
    assert!(markdown.starts_with("### ❌ tcplab: B is worse than A"), "{markdown}");
    assert!(markdown.contains("| **worse** |") && markdown.contains("<details><summary>All "));
    let xml = read("c.xml");
    let count = |tag: &str| xml.matches(tag).count();
    assert!(count("<testcase ") >= 4 && count("<testcase ") == count("</testcase>"), "{xml}");
    let failures = count("<failure ");
    assert!(
        failures > 0 && xml.contains(&format!("failures=\"{failures}\" errors=\"0\"")),
        "{xml}"
    );
    let page = read("c.html");
    for expected in
        ["class=\"forest\"", "Data of A and B, overlaid", "first difference", "class=\"ladder\""]
    {
        assert!(page.contains(expected), "{expected}");
    }
    for elsewhere in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(elsewhere), "{elsewhere}: the page needs nothing else");
    }
}

fn levels(home: &Path, good: &str) {
    let (text, _) = said(home, &format!("compare {good} --by buffer --metrics transfer_time"));
    assert!(text.contains("by buffer\nA: large\nB: small\n"), "{text}");
    let (json, _) = said(home, &format!("compare {good} --by buffer --levels small,large --json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["sides"][0]["label"], "small");
    assert_eq!(json["rows"][0]["is_paired"], true);
}

fn captures(home: &Path, good: &str, bad: &str) {
    let trial = |run: &str| format!("{run}/trials/small-1/client.pcapng");
    let (a, b) = (trial(good), trial(bad));
    let (text, code) = said(home, &format!("compare {a} {a}"));
    assert_eq!(code, 0);
    assert!(text.contains("no differences"), "{text}");
    let (text, _) = said(home, &format!("compare {a} {b} --html d.html --json=d.json"));
    assert!(text.contains("One connection each"), "{text}");
    let json: Value = serde_json::from_slice(&fs::read(home.join("d.json")).unwrap()).unwrap();
    assert!(json["pairs"][0]["facts"].as_array().unwrap().len() > 20);
    assert!(fs::read_to_string(home.join("d.html")).unwrap().contains("Two captures"));
    let told = refusal(home, &format!("compare {a} {b} --junit x.xml"));
    assert!(told.contains("--junit needs runs"), "{told}");
}

fn mistakes(home: &Path, good: &str) {
    fs::create_dir(home.join("begun")).unwrap();
    fs::copy(home.join(good).join("plan.json"), home.join("begun/plan.json")).unwrap();
    fs::create_dir(home.join("old")).unwrap();
    fs::write(home.join("old/run.json"), "{\"name\": 3}").unwrap();
    for (line, told) in [
        (format!("compare {good} nowhere"), "no such directory"),
        (format!("compare {good} begun"), "tcplab run --resume begun"),
        (format!("compare {good} old"), "tcplab report old"),
        (format!("compare {good} {good}/run.json"), "cannot compare a capture with a run"),
        (format!("compare {good} --by speed"), "one of: buffer"),
        (format!("compare {good} {good} --metrics speed"), "there is no metric `speed`"),
        (format!("compare {good} {good} --threshold 2"), "METRIC=2"),
        (format!("compare {good} {good} --json --markdown -"), "only one output can go to"),
    ] {
        let said = refusal(home, &line);
        assert!(said.contains(told), "{line}: {said}");
    }
}
