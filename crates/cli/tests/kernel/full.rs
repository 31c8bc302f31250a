//! A limit on file sizes, which fails like a full disk and needs no privileges.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::experiment::only_entry;
use crate::program::{Ended, ended, namespaces_allowed, tcplab};

const SCENARIO: &str = r#"
title = "Small"

[path]
delay = "1 ms"

[workload]
upload = "20 kB"

[repeat]
trials = 1
"#;

/// A run that may write this much into each file.
fn limited(home: &Path, bytes: u64) -> Ended {
    fs::write(home.join("small.toml"), SCENARIO).unwrap();
    // POSIX counts in blocks of 512 bytes.
    let line = format!(
        "ulimit -f {} && exec '{}' run small.toml",
        bytes.div_ceil(512),
        env!("CARGO_BIN_EXE_tcplab")
    );
    ended(Command::new("sh").args(["-c", &line]).env("POSIXLY_CORRECT", "1").current_dir(home))
}

#[test]
fn in_a_trial() {
    if !namespaces_allowed() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let run = limited(home.path(), 12_000);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    for part in [".pcapng: File too large", "try: raise the limit on the size of files"] {
        assert!(run.stderr.contains(part), "`{part}` is missing: {}", run.stderr);
    }
    assert!(!home.path().join("runs").exists(), "a run without any trial");
}

#[test]
fn in_the_report() {
    if !namespaces_allowed() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let run = limited(home.path(), 50_000);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    for part in [
        "report.html: File too large",
        "try: raise the limit on the size of files",
        "all trials are done; resume with: tcplab run --resume runs/small/",
    ] {
        assert!(run.stderr.contains(part), "`{part}` is missing: {}", run.stderr);
    }
    let directory = only_entry(&home.path().join("runs/small"));
    for file in ["run.json", "report.html", ".partial-report.html"] {
        assert!(!directory.join(file).exists(), "{file} looks as if it were whole");
    }
    let resumed = tcplab(home.path(), &["run", "--resume"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(directory.join("run.json").exists() && directory.join("report.html").exists());
}
