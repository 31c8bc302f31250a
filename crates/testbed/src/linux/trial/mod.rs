//! A trial: both endpoints, what lies between them, and the threads that record.

mod bridged;
mod conduct;
mod endpoint_thread;
mod in_order;
mod netem;
mod recording_threads;
mod same_host;
mod through;
mod watch;

use std::sync::mpsc::Receiver;

use tcplab_path::{Backend, PathChange};

pub(crate) use netem::{MISSING_TOOLS, Tool, ToolError, try_qdisc};
pub(crate) use recording_threads::{RecorderThread, missed_frames, record};

use crate::namespace::Privilege;
use crate::trial_request::TrialRequest;
use crate::{TrialError, load};

/// Runs a trial in the namespace of this process; `changes` of its path are made as they come, if
/// it can be steered.
pub(crate) fn run(
    request: &TrialRequest,
    privilege: Privilege,
    changes: Receiver<PathChange>,
) -> Result<(), TrialError> {
    let request = &load::captured_in_short(request);
    let case = &request.case;
    match case.path.backend.unwrap_or_default() {
        _ if !case.workload.through.has_packets() => through::run(request, privilege),
        _ if case.path.same_host => same_host::run(request, privilege),
        Backend::Tcplab => {
            bridged::run(request, privilege, Some(changes).filter(|_| request.steerable))
        }
        Backend::Netem => netem::run(request, privilege),
    }
}
