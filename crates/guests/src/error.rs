//! Why a guest cannot go on.

use std::io;
use std::path::PathBuf;

use tcplab_units::{Instant, Span};

/// Why a guest could not be started, or ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// Something that every guest needs could not be made.
    #[error("cannot {what} for a guest: {source}")]
    Setup {
        /// What was to be done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The image is not there, or cannot be executed.
    #[error("cannot run the kernel image {}: {source}", image.display())]
    Image {
        /// The image.
        image: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nothing takes its memory.
    #[error("no directory takes the memory of a guest: {wrong}")]
    NoPlace {
        /// What is wrong with each.
        wrong: String,
    },
    /// The process of the guest ended.
    #[error("the guest ended {} ({status}){}", when(*.at), after(.said))]
    Ended {
        /// When.
        at: Instant,
        /// How the process ended.
        status: String,
        /// What it said last on its console.
        said: String,
    },
    /// It uses processor time without end, while its clock stands.
    #[error(
        "the guest has computed for {computed} without waiting for anything, {}{}",
        when(*.at), after(.said)
    )]
    Spins {
        /// When, in virtual time.
        at: Instant,
        /// The processor time that it used.
        computed: Span,
        /// What it said last on its console.
        said: String,
    },
    /// It does not keep to the protocol of its clock or of its rings.
    #[error("the guest broke the protocol of {what}{}", after(.said))]
    Protocol {
        /// Which protocol, and how.
        what: String,
        /// What it said last on its console.
        said: String,
    },
    /// Its owner wanted it to end.
    #[error("stopped on request")]
    Stopped,
}

impl GuestError {
    /// What would help on this machine.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            GuestError::NoPlace { .. } => {
                Some("set TMPDIR to a directory with room that allows programs")
            }
            GuestError::Ended { said, .. } if said.contains("check_ptrace") => Some(
                "this container refuses ptrace: allow it (such as `docker run --cap-add \
                 SYS_PTRACE`), or use a kernel from 6.16 on, which does without",
            ),
            GuestError::Ended { status, .. } if is_killed(status) => Some(
                "something killed it, such as the kernel where memory runs out: free some, or use \
                 fewer `--jobs`",
            ),
            GuestError::Ended { said, .. } if said.contains("SECCOMP") => Some(
                "this container refuses seccomp: allow it (such as `docker run --security-opt \
                 seccomp=unconfined`)",
            ),
            _ => None,
        }
    }

    /// Whether the guest did it, not this machine.
    pub fn is_of_guest(&self) -> bool {
        match self {
            GuestError::Setup { .. }
            | GuestError::Image { .. }
            | GuestError::NoPlace { .. }
            | GuestError::Stopped => false,
            GuestError::Ended { status, .. } => !is_killed(status),
            GuestError::Spins { .. } | GuestError::Protocol { .. } => true,
        }
    }

    pub(crate) fn setup(what: &'static str) -> impl FnOnce(io::Error) -> GuestError {
        move |source| GuestError::Setup { what, source }
    }
}

/// Whether the status is that of a process which was killed: a guest never does this to itself.
fn is_killed(status: &str) -> bool {
    status.starts_with("signal: 9 ")
}

fn when(at: Instant) -> String {
    match at.since(Instant::ZERO) {
        Span::ZERO => "while it booted".into(),
        since => format!("after {since} of virtual time"),
    }
}

fn after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; its console ends with: {said}") }
}
