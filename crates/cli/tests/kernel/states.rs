//! State transitions in captures equal those of the kernel's sockets.

use tcplab_lab::load_recording;
use tcplab_report::states::{check_samples, walks_of_trial};
use tcplab_trace::TcpState;

use crate::experiment::Recorded;

/// What `TCP_INFO` said of both sockets, all along, is what the packets show.
pub(crate) fn agree(trial: &Recorded<'_>) {
    let data = load_recording(&trial.recording).unwrap();
    let (_, walks) = walks_of_trial(&data, None).unwrap();
    for check in check_samples(&walks, &data.samples) {
        let walk = walks.of_end(check.end);
        let name = format!("{}, {:?}", trial.name(), check.end);
        assert!(walk.entered(TcpState::Established).is_some(), "{name}: {walk:?}");
        assert!(check.agree > 0, "{name}: {check:?}");
        // Where the machine was busy, a sample may lie on the other side of an edge.
        assert!(check.differing <= walk.edges.len(), "{name}: {check:?}");
    }
    // Who sends closes first.
    let waits: Vec<&str> = walks.time_wait.iter().map(|wait| wait.end.name()).collect();
    assert_eq!(waits, [trial.sender().name()], "{}", trial.name());
}
