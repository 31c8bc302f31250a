//! The program under test, and whether this machine can run it.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// How frames get out of the endpoints: `--io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Io {
    Tun,
    PacketSocket,
}

impl Io {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Io::Tun => "tun",
            Io::PacketSocket => "packet-socket",
        }
    }
}

/// What the program said and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `tcplab` with these arguments, in `directory`.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command
}

/// Runs `tcplab` to its end.
pub(crate) fn tcplab(directory: &Path, arguments: &[&str]) -> Ended {
    ended(&mut command(directory, arguments))
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes| String::from_utf8(bytes).expect("the program speaks UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Whether experiments can run here; if not, says that the test is skipped. Asked of another
/// program than ours, whose refusal would be a fault to find.
pub(crate) fn namespaces_allowed() -> bool {
    let unshare = |arguments: &[&str]| {
        Command::new("unshare").args(arguments).arg("true").stderr(Stdio::null()).status()
    };
    let allowed = match unshare(&["--net"]) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped(
                "unshare(1) is not installed, so nobody can tell whether namespaces are allowed",
            );
            return false;
        }
        status => status.is_ok_and(|status| status.success()),
    };
    let allowed = allowed
        || unshare(&["--user", "--map-root-user", "--net"]).is_ok_and(|status| status.success());
    if !allowed {
        skipped("this user may not make network namespaces here");
    }
    allowed
}

/// Whether experiments can run here with frames going this way.
pub(crate) fn allowed(io: Io) -> bool {
    if !namespaces_allowed() {
        return false;
    }
    let tun = || OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    match io {
        Io::Tun => match tun() {
            Ok(_) => true,
            Err(error) => {
                skipped(&format!("/dev/net/tun cannot be opened: {error}"));
                false
            }
        },
        Io::PacketSocket => true,
    }
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

/// Whether all these programs are installed; if not, says that the test is skipped.
pub(crate) fn installed(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", program]).output();
        !found.is_ok_and(|output| output.status.success())
    });
    if let Some(missing) = missing {
        skipped(&format!("{missing} is not installed"));
    }
    missing.is_none()
}
