//! The program as a user who may have few processes, threads counted (setrlimit(2), RLIMIT_NPROC).

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::home::{Ended, Home, ended, skipped};

/// Below it are users that there may be.
const FIRST_USER: u32 = 1 << 20;
/// Each test has a user of its own: their processes would count together.
static NEXT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct FewProcesses {
    pub(crate) home: Home,
    /// Somebody who has no other process, where this user may become somebody.
    user: Option<u32>,
}

impl FewProcesses {
    /// None where the limit cannot be set.
    pub(crate) fn new() -> Option<FewProcesses> {
        let home = Home::new();
        // The limit does not bind root; and the processes of any other user count together.
        let is_root = rustix::process::geteuid().is_root();
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let user = is_root.then(|| FIRST_USER + 16 * std::process::id() + nth);
        let few = FewProcesses { home, user };
        // That user may not be allowed to read the build directory.
        fs::copy(env!("CARGO_BIN_EXE_tcplab"), few.home.path("tcplab")).unwrap();
        fs::set_permissions(few.home.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        chown(few.home.path(""), user, user).unwrap();
        let mut version = few.command(1, "--version");
        if version.output().is_ok_and(|output| output.status.success()) {
            return Some(few);
        }
        skipped("setpriv(1) or prlimit(1) is not installed or not allowed");
        None
    }

    /// `tcplab` with these words as arguments.
    pub(crate) fn command(&self, processes: u32, line: &str) -> Command {
        let limit = format!("--nproc={processes}:{processes}");
        let mut command = match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={user}")]);
                command.args(["--clear-groups", "prlimit"]);
                command
            }
            None => Command::new("prlimit"),
        };
        command.args([&limit, "./tcplab"]).args(line.split_whitespace());
        command.current_dir(self.home.path("")).stdin(Stdio::null()).env("LC_ALL", "C.UTF-8");
        command.env("TCPLAB_KERNELS", "kernels");
        command
    }

    /// Runs a command with one process, two, and so on: it never panics, and where it cannot do
    /// what it is asked it says why and what to do. One is too few, and `enough` are enough.
    pub(crate) fn sweep(&self, line: &str, enough: u32) {
        let mut codes = Vec::new();
        for processes in 1..=enough {
            let end = ended(&mut self.command(processes, line));
            explained(&end, &format!("{line} with {processes}"));
            codes.push(end.code);
        }
        assert_ne!(codes[0], Some(0), "{line}: one process is enough, so nothing is tested");
        // The processes of any other user are not known.
        assert!(self.user.is_none() || codes.last() == Some(&Some(0)), "{line}: {codes:?}");
    }
}

/// Asserts that a command succeeded, or that it says which thread or process it could not have.
pub(crate) fn explained(end: &Ended, what: &str) {
    let Ended { code, stdout, stderr } = end;
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    if *code != Some(0) {
        assert_eq!(*code, Some(2), "{what}: {stdout}{stderr}");
        assert!(stderr.contains("cannot start "), "{what}: {stderr}");
        assert!(stderr.contains("`ulimit -u`"), "{what}: no remedy: {stderr}");
    }
}
