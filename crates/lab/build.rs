//! Gives the crate the revision of tcplab it is built from, for the environment of each run.

use std::path::Path;
use std::process::Command;

fn main() {
    let described = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let revision = match described {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into(),
        // Not built from a checkout: the version has to do.
        _ => String::new(),
    };
    let mut orders = format!("cargo::rustc-env=TCPLAB_REVISION={}\n", revision.trim());
    // Grows with every commit and every checkout.
    let log = Path::new("../../.git/logs/HEAD");
    if log.exists() {
        orders += &format!("cargo::rerun-if-changed={}\n", log.display());
    }
    orders += "cargo::rerun-if-changed=build.rs\n";
    let _ = std::io::Write::write_all(&mut std::io::stdout(), orders.as_bytes());
}
