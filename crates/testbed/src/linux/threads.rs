//! Threads that the system may refuse: it counts them with the processes (setrlimit(2),
//! `RLIMIT_NPROC`; `pids.max` of a control group).

use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::TrialError;

/// Starts a thread; `what` it is completes "cannot start".
///
/// # Errors
/// When the system refuses it; the work is dropped.
pub(crate) fn start<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, TrialError> {
    Builder::new().spawn(work).map_err(TrialError::not_started(what))
}

/// As [`start`], in a scope.
pub(crate) fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    what: &'static str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, TrialError> {
    Builder::new().spawn_scoped(scope, work).map_err(TrialError::not_started(what))
}
