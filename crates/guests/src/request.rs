//! A guest as its owner asks for it.

use std::path::Path;
use std::time::Duration;

/// A guest to start.
#[derive(Debug, Clone, Copy)]
pub struct GuestRequest<'a> {
    /// The kernel image.
    pub image: &'a Path,
    /// Whether the image switches between its processes by seccomp, which is twice as fast as
    /// ptrace and exists from Linux 6.16 on.
    pub has_seccomp: bool,
    /// The first program in the guest, a file of this machine,
    pub init: &'a Path,
    /// and its arguments, without blanks.
    pub arguments: &'a [&'a str],
    /// Whether its programs may change the files of this machine, with the rights of this user.
    pub writable: bool,
    /// How much processor time it may use without waiting for anything, while its clock stands;
    /// [`LONGEST_TURN`] commonly. Without a processor it is ended after 30 times as long.
    pub longest_turn: Duration,
    /// Of its random numbers.
    pub seed: u64,
    /// The phases in which BBR begins its cycles, one digit each, as its model draws them.
    pub bbr_phases: &'a str,
    /// Whether it may leave the cutting of large segments to the network device.
    pub cuts: bool,
    /// How much later than a packet or a message leaves, something may arrive because of it.
    pub response: tcplab_units::Span,
}

/// How much processor time a guest may use without waiting for anything, while its clock stands.
pub const LONGEST_TURN: Duration = Duration::from_secs(20);
