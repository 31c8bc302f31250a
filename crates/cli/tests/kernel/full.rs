//! A limit on file sizes, which fails like a full disk and needs no privileges.

use std::process::Command;

use crate::home::{Ended, Home, ended, skipped};
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
        "ulimit -f {} && exec '{}' run small.toml --snaplen whole",
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

/// Shell and bridge have no `--runs`.
#[test]
fn in_the_capture_of_a_shell() {
    if !namespaces_allowed() {
        return;
    }
    let home = Home::new();
    home.make_directory("disk");
    // Only this command sees the mount; the summary needs no room on it.
    let line = "mount -t tmpfs -o size=8k none disk || exit 77; \
                \"$TCPLAB\" shell --quiet --capture disk/seen -s delay=1ms -- true";
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare.args(["--mount", "sh", "-c", line]).current_dir(home.path(""));
    let Ended { code, stderr, .. } = ended(unshare.env("TCPLAB", env!("CARGO_BIN_EXE_tcplab")));
    if code == Some(77) {
        return skipped("this user may not mount a small disk to fill");
    }
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
    let remedy = "try: make room on that disk, or choose another with `--capture DIR`";
    assert!(stderr.contains(remedy), "{stderr}");
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
