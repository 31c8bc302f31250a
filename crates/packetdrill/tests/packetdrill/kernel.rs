//! The model's scripts run against this machine's own kernel, where google's packetdrill is
//! installed: the truth for the model.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::model::scripts;

/// The kernel's timers come late by a tick or two, and packetdrill is one program among many.
const TOLERANCE: &str = "--tolerance_usecs=14000";

/// Tries of each script: a machine that is busy wakes packetdrill late.
const TRIES: u32 = 3;

/// Runs the script in a network namespace of its own, which ends with it. packetdrill asks for a
/// scheduling class that only root may have, so a user namespace does not do.
fn on_the_kernel(script: &Path) -> std::io::Result<Output> {
    // A script over IPv6 says so and gives its addresses itself.
    let is_v6 = std::fs::read_to_string(script)?.contains("--ip_version=ipv6");
    let commands = if is_v6 {
        "ip link set lo up; exec timeout 60 packetdrill --send_omit_free \"$@\""
    } else {
        "ip link set lo up; exec timeout 60 packetdrill --ip_version=ipv4 \
         --local_ip=192.168.0.1 --gateway_ip=192.168.0.1 --netmask_ip=255.255.0.0 \
         --remote_ip=192.0.2.1 --send_omit_free \"$@\""
    };
    Command::new("unshare")
        .args(["--net", "sh", "-c", commands, "sh", TOLERANCE])
        .arg(script)
        .stdin(Stdio::null())
        .output()
}

fn is_installed(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

#[test]
fn kernel_on_corpus_scripts_passes() {
    for program in ["packetdrill", "unshare", "ip", "timeout"] {
        if !is_installed(program) {
            skipped(&format!("{program} is not installed: no script was run against the kernel"));
            return;
        }
    }
    let namespace = Command::new("unshare").args(["--net", "test", "-c", "/dev/net/tun"]).output();
    if !namespace.is_ok_and(|output| output.status.success()) {
        skipped("not root, or no /dev/net/tun: no script was run against the kernel");
        return;
    }
    let mut failed = Vec::new();
    for (name, path) in scripts() {
        let mut last = String::new();
        let passed = (0..TRIES).any(|_| {
            let output = on_the_kernel(&path).unwrap();
            last = String::from_utf8_lossy(&output.stderr).into_owned();
            output.status.success()
        });
        if !passed {
            failed.push(format!("{name}: {last}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
