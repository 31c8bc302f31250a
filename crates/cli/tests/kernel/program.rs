//! Whether this machine can run experiments.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use crate::home::skipped;

/// The values of `--io`.
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

/// Whether experiments can run here; if not, prints that the test is skipped. Asks another program
/// than ours, whose refusal would be a fault.
pub(crate) fn namespaces_allowed() -> bool {
    let unshare = |arguments: &[&str]| {
        Command::new("unshare").args(arguments).arg("true").stderr(Stdio::null()).status()
    };
    let allowed = match unshare(&["--net"]) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skipped("unshare(1) is not installed, so it is unknown whether namespaces are allowed");
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

/// Whether experiments can run here with this device.
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

/// Whether all these programs are installed; if not, prints that the test is skipped.
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
