//! `tcplab bisect` on histories without a kernel: nothing is built here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tcplab_quantities::BISECTION_DOCUMENT;

use crate::home::{Home, names, skipped};
use crate::schema::check;

const SCENARIO: &str = r#"
title    = "A page"
path     = { delay = "50 ms" }
workload = { upload = "100 kB" }

[[expect]]
claim   = "it is there soon"
metric  = "transfer_time"
at_most = "0.5 s"
"#;

/// A scenario, and a repository `linux` with commits and tags A to D; none where there is no git.
fn home() -> Option<Home> {
    let home = Home::with("page.toml", SCENARIO);
    home.make_directory("linux");
    if Command::new("git").arg("--version").output().is_err() {
        skipped("there is no git, so no history was bisected");
        return None;
    }
    git(&home, &["init", "--quiet", "--initial-branch", "main"]);
    for name in ["A", "B", "C", "D"] {
        home.write(&format!("linux/net/ipv4/{name}.c"), "");
        git(&home, &["add", "--all"]);
        git(&home, &["commit", "--quiet", "-m", name]);
        git(&home, &["tag", name]);
    }
    Some(home)
}

fn git(home: &Home, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.env_remove("GIT_DIR").arg("-C").arg(home.path("linux"));
    git.args(["-c", "user.name=Ann", "-c", "user.email=ann@host", "-c", "commit.gpgsign=false"]);
    git.env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z");
    let ended = git.args(arguments).output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    String::from_utf8(ended.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_cannot_be_bisected_says_why_and_what_helps() {
    let Some(home) = home() else { return };
    home.write(
        "none.toml",
        "title = \"t\"\npath = { delay = \"5 ms\" }\nworkload = { upload = \"1 kB\" }\n",
    );
    let model = SCENARIO.replace("[[expect]]", "[client]\nstack = \"model:linux-6.18\"\n[server]\nstack = \"model:linux-6.18\"\n[[expect]]");
    home.write("model.toml", model);
    let other = SCENARIO.replace("[[expect]]", "[server]\nstack = \"linux-6.12\"\n[[expect]]");
    home.write("other.toml", other);
    home.make_directory("empty");
    home.refuses(&[
        ("bisect page.toml --source nowhere --good A --bad D", "is not a git repository"),
        ("bisect page.toml --source empty --good A --bad D", "git clone"),
        ("bisect page.toml --source linux --good A --bad X", "`X` is no commit of"),
        ("bisect page.toml --source linux --good A --bad main~3", "are the same commit"),
        ("bisect none.toml --source linux --good A --bad D", "has no claims"),
        (
            "bisect page.toml --source linux --good A --bad D --claim 'it is there son'",
            "did you mean",
        ),
        ("bisect model.toml --source linux --good A --bad D", "no end of scenario model"),
        ("bisect other.toml --source linux --good A --bad D", "there is no kernel 6.12 in"),
    ]);
    assert!(!home.exists("runs") && !home.exists("kernels"), "nothing is begun");
    assert_eq!(git(&home, &["status", "--porcelain"]), "");
}

/// The claims of a step, of which one holds or fails.
fn claims(held: bool, found: &str) -> Value {
    json!([{
        "claim": "it is there soon", "check": "transfer_time at most 0.5 s", "held": held,
        "is_judged": true, "needs": 1, "held_alone": u8::from(held), "trials": 1, "found": found,
    }])
}

/// Writes down that these commits were tested, as a bisection does.
fn tested(home: &Home, steps: &[(&str, &str)]) {
    let file = record(home);
    let mut known: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let step = |(name, verdict): &(&str, &str)| {
        let reason = (*verdict == "skipped").then_some("compiling failed: tcp.c:1: error\nmore");
        let found = if *verdict == "good" { "base: 0.375 s" } else { "base: 0.578 s" };
        json!({
            "commit": {
                "hash": git(home, &["rev-parse", &format!("{name}^0")]),
                "author": "Ann <ann@host>", "date": "2026-01-02T03:04:05+00:00", "subject": name,
            },
            "verdict": verdict, "reason": reason, "run": format!("runs/x/{name}"),
            "claims": if reason.is_some() { json!([]) } else { claims(*verdict == "good", found) },
            "is_built": reason.is_none(), "compiled_files": 12, "build_s": 10.5, "trials_s": 1.5,
        })
    };
    known["steps"] = steps.iter().map(step).collect();
    let hash = |name: &str| git(home, &["rev-parse", &format!("{name}^0")]);
    let several = steps.iter().any(|(_, verdict)| *verdict == "skipped");
    let commits = if several { vec!["D", "C"] } else { vec!["C"] };
    let commit = |name: &&str| {
        json!({ "hash": hash(name), "author": "Ann <ann@host>", "date": "2026-01-02T03:04:05+00:00",
                "subject": name })
    };
    known["outcome"] = json!({
        "commits": commits.iter().map(commit).collect::<Vec<_>>(),
        "files": if several { vec![] } else { vec!["net/ipv4/C.c"] },
        "before": 2, "after": if several { 1 } else { 3 },
    });
    fs::write(&file, known.to_string()).unwrap();
}

fn record(home: &Home) -> PathBuf {
    let all = names(&home.path("runs"));
    let [one] = &all[..] else { panic!("{all:?}") };
    home.path("runs").join(one).join("bisect.json")
}

const LINE: &str = "bisect page.toml --source linux --good A --bad D";

#[test]
fn commit_without_linux_is_no_end_and_the_record_stays() {
    let Some(home) = home() else { return };
    let said = home.refusal(LINE);
    // A machine that cannot build says that first.
    let is_expected =
        said.contains("(\"A\") cannot be tested") && said.contains("Kbuild is missing");
    assert!(is_expected || said.contains("are missing here"), "{said}");
    assert!(record(&home).is_file());
    assert_eq!(git(&home, &["status", "--porcelain"]), "");
}

#[test]
fn finished_bisection_is_printed_again() {
    let Some(home) = home() else { return };
    home.refusal(LINE);
    tested(&home, &[("A", "good"), ("D", "bad"), ("B", "good"), ("C", "bad")]);
    let value = home.json(&format!("{LINE} --json"));
    check(&BISECTION_DOCUMENT, &value, LINE);
    assert_eq!(value["outcome"]["commits"][0]["subject"], "C");
    let text = home.answer(LINE);
    let hash = git(&home, &["rev-parse", "--short=12", "C^0"]);
    for part in [
        format!("The first bad commit is {hash}."),
        "  author   Ann <ann@host>\n  date     2026-01-02T03:04:05+00:00".into(),
        "  files    net/ipv4/C.c\n".into(),
        "  before   ✓ it is there soon (transfer_time at most 0.5 s): base: 0.375 s\n".into(),
        "  after    ✗ it is there soon (transfer_time at most 0.5 s): base: 0.578 s\n".into(),
        "  tcplab compare runs/x/B runs/x/C\n".into(),
        "4 commits tested, 0 of them skipped; 4 builds in 42 s, trials in 6 s.\n".into(),
    ] {
        assert!(text.contains(&part), "`{part}` is missing: {text}");
    }
}

#[test]
fn commits_that_were_skipped_leave_several() {
    let Some(home) = home() else { return };
    home.refusal(LINE);
    tested(&home, &[("A", "good"), ("D", "bad"), ("B", "good"), ("C", "skipped")]);
    let ended = home.run(LINE);
    if ended.stderr.contains("are missing here") {
        return skipped("this machine cannot build, so nothing was tested again");
    }
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let text = ended.stdout;
    assert!(text.starts_with("The first bad commit is one of 2 commits"), "{text}");
    assert!(text.contains("    skipped: ") && text.contains("Kbuild is missing"), "{text}");
    assert!(!text.contains("compiling failed"), "what was skipped before was not tried: {text}");
}
