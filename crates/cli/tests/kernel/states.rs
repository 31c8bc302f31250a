//! State transitions in captures equal those of the kernel's sockets.

use tcplab_lab::load_recording;
use tcplab_report::states::{check_samples, walks_of_trial};
use tcplab_trace::TcpState;

use crate::experiment::Recorded;

/// All states in `TCP_INFO` of both sockets match the packets.
pub(crate) fn agree(trial: &Recorded<'_>) {
    let data = load_recording(&trial.recording).unwrap();
    let (_, walks) = walks_of_trial(&data, None).unwrap();
    for check in check_samples(&walks, &data.samples) {
        let walk = walks.of_end(check.end);
        let name = format!("{}, {:?}", trial.name(), check.end);
        assert!(walk.entered(TcpState::Established).is_some(), "{name}: {walk:?}");
        assert!(check.agree > 0, "{name}: {check:?}");
        // On a busy machine a sample may be on the other side of a transition.
        assert!(check.differing <= walk.edges.len(), "{name}: {check:?}");
    }
    // The sender closes first.
    let waits: Vec<&str> = walks.time_wait.iter().map(|wait| wait.end.name()).collect();
    assert_eq!(waits, [trial.sender().name()], "{}", trial.name());
}
