//! `tcplab run --quiet`: the verdicts of the claims, and what went wrong.

use crate::escapes::on_terminal;
use crate::home::{Ended, Home};

/// One trial in virtual time; of its claims the second fails.
const SCENARIO: &str = r#"title    = "Quiet"
path     = { rate = "10 Mbit/s", delay = "5 ms" }
client   = { stack = "model:linux-6.18" }
server   = { stack = "model:linux-6.18" }
workload = { upload = "60 kB" }
repeat   = { trials = 1 }

[[expect]]
claim  = "all arrives"
metric = "payload_intact"
equals = true

[[expect]]
claim    = "faster than the path"
metric   = "goodput"
at_least = "20 Mbit/s"
"#;
const PASSED: &str = "✓ all arrives\n    payload_intact equals true: base: 1 × true\n";

/// `SCENARIO` with this many of its claims.
fn with_claims(count: usize) -> String {
    let mut parts = SCENARIO.split("[[expect]]");
    let settings = parts.next().unwrap().to_owned();
    parts.take(count).fold(settings, |text, claim| text + "[[expect]]" + claim)
}

#[test]
fn quiet_run_prints_the_verdicts_alone() {
    let home = Home::new();
    let failed = "✗ faster than the path\n    goodput at least 20 Mbit/s: base: 7.398 Mbit/s\n";
    let both = format!("{PASSED}{failed}");
    for (claims, code, shown) in [(0, 0, ""), (1, 0, PASSED), (2, 1, &both)] {
        home.write("quiet.toml", with_claims(claims));
        let ended = home.run(&format!("run quiet.toml --quiet --runs {claims}"));
        let found = (ended.code, &*ended.stdout, &*ended.stderr);
        assert_eq!(found, (Some(code), shown, ""), "{claims} claims");
        assert!(home.only(format!("{claims}/quiet")).join("report.html").exists());
        // On a terminal, too: no colours, no bar, no time left.
        assert_eq!(on_terminal(home.command("run quiet.toml -q")), shown, "{claims} claims");
    }
}

#[test]
fn quiet_run_says_what_went_wrong() {
    let home = Home::with("late.toml", with_claims(1) + "[limits]\ntrial = \"10 ms\"\n");
    let Ended { code, stdout, stderr } = home.run("run late.toml --quiet");
    assert_eq!(code, Some(2), "{stdout}{stderr}");
    assert!(stdout.starts_with("✗ all arrives\n"), "{stdout}");
    let reason = "trial 1 of 1: base, number 1 failed: not done after 10 ms: 0 B of 60.0 kB have \
                  arrived; raise `[limits] trial` if it needs longer";
    assert_eq!(stderr, format!("  {reason}; missing in the tables\n"));

    home.write("wrong.toml", SCENARIO.replace("delay", "dleay"));
    home.refuses(&[
        ("run wrong.toml --quiet", "did you mean `delay`?"),
        ("run nosuch.toml --quiet", "nosuch.toml"),
        ("run late.toml --quiet --verbose", "cannot be used with"),
    ]);
}

#[test]
fn quiet_series_ends_with_a_line_for_each_experiment() {
    let home = Home::with("all/a.toml", with_claims(1));
    home.write("all/b.toml", with_claims(2));
    let Ended { code, stdout, stderr } = home.run("run all --quiet");
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().skip_while(|line| !line.is_empty()).collect();
    let ["", a, b] = lines[..] else { panic!("{stdout}") };
    assert!(a.starts_with("all/a.toml  ✓ 1 of 1 claims passed  runs/a/"), "{a}");
    assert!(b.starts_with("all/b.toml  ✗ 1 of 2 claims passed  runs/b/"), "{b}");
}
