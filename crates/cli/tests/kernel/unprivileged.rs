//! Without privileges, in user namespaces: works, or explains why not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_recording::Recording;
use tempfile::TempDir;

use crate::experiment::{TINY, only_entry};
use crate::leftovers::killed_in_transfer;
use crate::program::{ended, skipped};

/// The user called nobody, nearly everywhere.
const NOBODY: u32 = 65_534;

/// A place where nobody may write and run tcplab; `None` where one cannot be nobody.
pub(crate) fn nobodys_home() -> Option<TempDir> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can become somebody else; all other tests ran without privilege");
        return None;
    }
    if !as_nobody(Path::new("/"), "true").status().is_ok_and(|status| status.success()) {
        skipped("setpriv(1) is not installed or not allowed");
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    // Where it was built, nobody may be barred.
    fs::copy(env!("CARGO_BIN_EXE_tcplab"), home.path().join("tcplab")).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    Some(home)
}

pub(crate) fn as_nobody(home: &Path, program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &NOBODY.to_string(), "--regid", &NOBODY.to_string()]);
    command.args(["--clear-groups", program]).current_dir(home).stdin(Stdio::null());
    command
}

#[test]
fn unprivileged_experiment_runs() {
    let Some(home) = nobodys_home() else { return };
    fs::write(home.path().join("tiny.toml"), TINY).unwrap();
    let allowed = as_nobody(home.path(), "unshare")
        .args(["--user", "--map-root-user", "--net", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    for io in [&[][..], &["--io", "packet-socket"]] {
        let mut run = as_nobody(home.path(), "./tcplab");
        let run = run.args(["run", "tiny.toml", "--quick", "--world", "kernel", "--runs"]);
        let run = ended(run.arg(runs(io)).args(io));
        if !allowed {
            assert_eq!(run.code, Some(2));
            assert!(run.stderr.contains("may not make network namespaces"), "{}", run.stderr);
            assert!(run.stderr.contains("as root"), "{}", run.stderr);
            continue;
        }
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let directory = only_entry(&home.path().join(runs(io)).join("tiny"));
        let record =
            Recording::open(&only_entry(&directory.join("trials"))).unwrap().record().unwrap();
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

/// A change of credentials on the way into a user namespace takes back the wish to die with the
/// caller (prctl(2), PR_SET_PDEATHSIG), so this is not what root's tests show.
#[test]
fn killed_unprivileged_experiment_leaves_nothing() {
    let Some(home) = nobodys_home() else { return };
    if !crate::program::namespaces_allowed() {
        return;
    }
    killed_in_transfer(home.path(), as_nobody(home.path(), "./tcplab"));
}

/// A limit of zero in a user namespace of our own is the refusal that every machine can give.
#[test]
fn refused_namespaces_are_explained() {
    let home = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_tcplab");
    fs::write(home.path().join("tiny.toml"), TINY).unwrap();
    let within = |arguments: &str| {
        let line = format!(
            "echo 0 > /proc/sys/user/max_net_namespaces || exit 77; exec '{program}' {arguments}"
        );
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "sh", "-c", &line]).current_dir(home.path());
        unshare.output().ok().filter(|output| matches!(output.status.code(), Some(0 | 2)))
    };
    let Some(run) = within("run tiny.toml --world kernel") else {
        return skipped("no user namespace to set a limit in");
    };
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8(run.stderr).unwrap();
    for part in [
        "this user may not make network namespaces: the limit of namespaces is reached",
        "try: as root: raise them with `sysctl`",
    ] {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
    assert!(!home.path().join("runs").exists(), "a run without any trial");
    let doctor = within("doctor").expect("it fails, too");
    assert_eq!(doctor.status.code(), Some(2));
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("✗ network namespaces"), "{told}");
    assert!(told.contains("→ as root: raise them"), "{told}");
    assert!(told.contains("not the kernel; virtual time with the models"), "{told}");

    // Without `--world kernel` the model replaces the kernel, and a line says so.
    let run = within("run tiny.toml --quick --json").expect("it succeeds");
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(0), "{said}");
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let fallback = told["fallback"].as_str().unwrap();
    for part in [
        "Simulated with the linux-6.18 model, not on the kernel: this user may not make network \
         namespaces",
        "to use the kernel: as root: raise them with `sysctl`",
    ] {
        assert!(fallback.contains(part) && said.contains(part), "{fallback}\n{said}");
    }
    let case = &told["cases"][0];
    assert_eq!((&told["world"], &case["world"]), (&"sim".into(), &"sim".into()));
    assert_eq!(case["stacks"][0]["name"], "linux-6.18");
    assert_eq!(case["stacks"][0]["for_kernel"], true);
    let run = within("run tiny.toml --quick").expect("it succeeds");
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(told.contains("simulated: linux-6.18 model at both ends"), "{told}");
    assert!(told.contains("! Simulated with the linux-6.18 model, not on the kernel"), "{told}");
}
