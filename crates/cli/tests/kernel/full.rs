//! A limit on file sizes, which fails like a full disk and needs no privileges.

use std::process::Command;

use crate::home::{Ended, Home, ended};
use crate::program::namespaces_allowed;

const SCENARIO: &str = r#"
title    = "Small"
path     = { delay = "1 ms" }
workload = { upload = "20 kB" }
repeat   = { trials = 1 }
"#;

/// The error of a run that may write this much into each file, with these parts.
fn limited(home: &Home, bytes: u64, parts: &[&str]) {
    home.write("small.toml", SCENARIO);
    // POSIX counts in blocks of 512 bytes.
    let line = format!(
        "ulimit -f {} && exec '{}' run small.toml",
        bytes.div_ceil(512),
        env!("CARGO_BIN_EXE_tcplab")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("POSIXLY_CORRECT", "1").current_dir(home.path(""));
    let Ended { code, stderr, .. } = ended(&mut shell);
    assert_eq!(code, Some(2), "{stderr}");
    for part in parts.iter().chain(&["try: raise the limit on the size of files"]) {
        assert!(stderr.contains(part), "`{part}` is missing: {stderr}");
    }
}

#[test]
fn in_a_trial() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    limited(&home, 12_000, &[".pcapng: File too large"]);
    assert!(!home.exists("runs"), "a run without any trial");
}

#[test]
fn in_the_report() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    let resume = "all trials are done; resume with: tcplab run --resume runs/small/";
    limited(&home, 50_000, &["report.html: File too large", resume]);
    let directory = home.only("runs/small");
    for file in ["run.json", "report.html", ".partial-report.html"] {
        assert!(!directory.join(file).exists(), "{file} looks as if it were whole");
    }
    home.answer("run --resume");
    assert!(directory.join("run.json").exists() && directory.join("report.html").exists());
}
