//! On a system that is not Linux: everything that needs its kernel is refused.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;

use crate::{
    CalibrationRecord, CalibrationRequest, Launcher, Progress, Reach, Steering, TrialError,
    TrialRequest,
};

/// Why there is no Multipath TCP.
pub const NO_MPTCP: &str = "this system has no Linux kernel";

fn no_kernel() -> TrialError {
    TrialError::Ended {
        message: "this system has no Linux kernel".into(),
        remedy: Some("use a model in virtual time (world `sim`), or a Linux machine".into()),
        reach: Reach::All,
    }
}

/// Runs no trial.
///
/// # Errors
/// Always: there is no Linux kernel.
pub fn run_trial(
    _: &Launcher,
    _: &TrialRequest,
    _: &AtomicBool,
    _: Option<&Steering>,
    _: impl FnMut(Progress),
) -> Result<(), TrialError> {
    Err(no_kernel())
}

/// Whether this user may make the namespaces that a trial needs.
///
/// # Errors
/// Always: there is no Linux kernel.
pub fn may_isolate(_: &Launcher) -> Result<(), TrialError> {
    Err(no_kernel())
}

/// Measures no path.
///
/// # Errors
/// Always: there is no Linux kernel.
pub fn run_calibration(
    _: &Launcher,
    _: &CalibrationRequest,
    _: &AtomicBool,
    _: impl FnMut(f64),
) -> Result<CalibrationRecord, TrialError> {
    Err(no_kernel())
}

/// Refuses every congestion control.
///
/// # Errors
/// Always: there is no Linux kernel.
pub fn has_congestion(_: &str) -> Result<(), TrialError> {
    Err(no_kernel())
}

/// Holds no signal back.
///
/// # Errors
/// Never.
pub fn hold_interrupts() -> io::Result<()> {
    Ok(())
}

/// Whether this machine's kernel has Multipath TCP: it is not Linux.
pub fn has_mptcp() -> bool {
    false
}

/// Opens the file for [`File::try_lock`], made if it is missing.
///
/// # Errors
/// If it cannot be opened or made, and if it is a symbolic link: what that leads to is left alone,
/// unless the link is made in this very moment.
pub fn open_lock_file(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    File::options().create(true).write(true).truncate(false).open(path)
}

/// Starts a program.
///
/// # Errors
/// If it cannot be started.
pub fn start_group(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Ends a program, without those that it has started, and waits for it.
pub fn end_group(leader: &mut Child) {
    let _ = leader.kill();
    let _ = leader.wait();
}
