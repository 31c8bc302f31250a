//! Without privileges, in user namespaces: works, or explains why not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Command, Stdio};

use tcplab_recording::Recording;

use crate::experiment::TINY;
use crate::home::{Ended, Home, ended, skipped};
use crate::leftovers::killed_in_transfer;

/// The user nobody.
const NOBODY: u32 = 65_534;

/// A directory where the user nobody can write and run tcplab; `None` if this user cannot change to
/// nobody.
pub(crate) fn nobodys_home() -> Option<Home> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can become somebody else; all other tests ran without privilege");
        return None;
    }
    let home = Home::new();
    if !as_nobody(&home, "true").status().is_ok_and(|status| status.success()) {
        skipped("setpriv(1) is not installed or not allowed");
        return None;
    }
    // The user nobody may not read the build directory.
    fs::copy(env!("CARGO_BIN_EXE_tcplab"), home.path("tcplab")).unwrap();
    fs::set_permissions(home.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    chown(home.path(""), Some(NOBODY), Some(NOBODY)).unwrap();
    Some(home)
}

pub(crate) fn as_nobody(home: &Home, program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &NOBODY.to_string(), "--regid", &NOBODY.to_string()]);
    command.args(["--clear-groups", program]).current_dir(home.path("")).stdin(Stdio::null());
    command
}

#[test]
fn unprivileged_experiment_runs() {
    let Some(home) = nobodys_home() else { return };
    home.write("tiny.toml", TINY);
    let allowed = as_nobody(&home, "unshare")
        .args(["--user", "--map-root-user", "--net", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    for io in [&[][..], &["--io", "packet-socket"]] {
        let mut run = as_nobody(&home, "./tcplab");
        let run = run.args(["run", "tiny.toml", "--quick", "--world", "kernel", "--runs"]);
        let run = ended(run.arg(runs(io)).args(io));
        if !allowed {
            assert_eq!(run.code, Some(2));
            assert!(run.stderr.contains("may not make network namespaces"), "{}", run.stderr);
            assert!(run.stderr.contains("as root"), "{}", run.stderr);
            continue;
        }
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        let directory = home.only(home.path(runs(io)).join("tiny"));
        let record =
            Recording::open(&home.only(directory.join("trials"))).unwrap().record().unwrap();
        assert_eq!(record.world.privilege, "user-namespace");
        assert_eq!(record.world.device_drops, 0);
        if !io.is_empty() {
            assert_eq!(record.world.device, "packet-socket");
        }
    }
}

fn runs(io: &[&str]) -> String {
    format!("runs{}", io.len())
}

/// Entering a user namespace changes credentials, which clears PR_SET_PDEATHSIG (prctl(2)); root's
/// tests do not show that.
#[test]
fn killed_unprivileged_experiment_leaves_nothing() {
    let Some(home) = nobodys_home() else { return };
    if !crate::program::namespaces_allowed() {
        return;
    }
    killed_in_transfer(&home, as_nobody(&home, "./tcplab"));
}

/// Every machine can refuse by a limit of zero in a user namespace.
#[test]
fn refused_namespaces_are_explained() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_tcplab");
    home.write("tiny.toml", TINY);
    let within = |arguments: &str| {
        let line = format!(
            "echo 0 > /proc/sys/user/max_net_namespaces || exit 77; exec '{program}' {arguments}"
        );
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", &line]).current_dir(home.path(""));
        // Images that this user has built would replace the kernel.
        let ended = Ended::from(unshare.env("TCPLAB_KERNELS", "kernels").output().ok()?);
        matches!(ended.code, Some(0 | 2)).then_some(ended)
    };
    let Some(run) = within("run tiny.toml --world kernel") else {
        return skipped("no user namespace to set a limit in");
    };
    let refusal = run.refusal("without namespaces");
    for part in [
        "this user may not make network namespaces: the limit of namespaces is reached",
        "try: as root: raise them with `sysctl`",
    ] {
        assert!(refusal.contains(part), "`{part}` is missing: {refusal}");
    }
    assert!(!home.exists("runs"), "a run without any trial");
    let doctor = within("doctor").expect("it fails, too");
    assert_eq!(doctor.code, Some(2));
    for part in [
        "✗ network namespaces",
        "→ as root: raise them",
        "not the kernel; virtual time with the models",
        "`tcplab run` uses the model linux-6.18 instead of the kernel",
    ] {
        assert!(doctor.stdout.contains(part), "`{part}` is missing: {}", doctor.stdout);
    }

    // Without `--world kernel` the model replaces the kernel, and a line says so.
    let Ended { code, stdout, stderr: said } =
        within("run tiny.toml --quick --json").expect("it succeeds");
    assert_eq!(code, Some(0), "{said}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let fallback = json["fallback"].as_str().unwrap();
    for part in [
        "Simulated with the linux-6.18 model, not on the kernel: this user may not make network \
         namespaces",
        "to use the kernel: as root: raise them with `sysctl`",
    ] {
        assert!(fallback.contains(part) && said.contains(part), "{fallback}\n{said}");
    }
    let case = &json["cases"][0];
    assert_eq!((&json["world"], &case["world"]), (&"sim".into(), &"sim".into()));
    assert_eq!(case["stacks"][0]["name"], "linux-6.18");
    assert_eq!(case["stacks"][0]["for_kernel"], true);
    let text = within("run tiny.toml --quick").expect("it succeeds").stdout;
    assert!(text.contains("simulated: linux-6.18 model at both ends"), "{text}");
    assert!(text.contains("! Simulated with the linux-6.18 model, not on the kernel"), "{text}");
}
