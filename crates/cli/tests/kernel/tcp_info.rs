//! `TCP_INFO` matches the packets on the wire.

use tcplab_recording::Sample;
use tcplab_trace::{Flow, Trace};
use tcplab_units::{Endpoint, Span};

use crate::experiment::Recorded;

/// The counters of both sockets match the capture.
pub(crate) fn fits(trial: &Recorded<'_>, interval: Span) {
    let samples = trial.recording.samples().unwrap();
    for end in Endpoint::BOTH {
        let own: Vec<&Sample> = samples.iter().filter(|sample| sample.endpoint == end).collect();
        let name = format!("{}, {}'s socket", trial.name(), end.name());
        assert!(own.windows(2).all(|pair| pair[0].at < pair[1].at), "{name}: order of samples");
        // A busy machine may miss some, and counts them.
        let due = trial.record.duration.as_nanos() / interval.as_nanos();
        assert!(own.len() as u64 <= due, "{name}: {} samples of {due}", own.len());
        assert!(own.len() as u64 > due / 4, "{name}: {} samples of {due}", own.len());
        assert!(own.iter().all(|sample| sample.snd_mss_bytes == 1448), "{name}: segment size");
    }
    retransmissions_agree(trial, &samples);
    bytes_agree(trial, &samples);
}

fn retransmissions_agree(trial: &Recorded<'_>, samples: &[Sample]) {
    let (trace, lead) = analysed(trial);
    let flow = payload_flow(&trace, trial.sender());
    let again: Vec<_> = flow
        .segments
        .iter()
        .filter(|segment| segment.kind.is_retransmission())
        .map(|segment| segment.at + lead)
        .collect();
    assert_eq!(again.len() as u64, flow.totals.retransmissions, "{}", trial.name());
    let of_sender = samples.iter().filter(|sample| sample.endpoint == trial.sender());
    for sample in of_sender.clone() {
        // The kernel counts a packet before the bridge reads it.
        let seen = again.iter().filter(|at| **at <= sample.at).count() as u64;
        let counted = sample.total_retrans_segments;
        let all = again.len() as u64;
        assert!((seen..=all).contains(&counted), "{}: {counted}, {seen}, {all}", trial.name());
    }
    let last = of_sender.max_by_key(|sample| sample.at).unwrap();
    if again.last().is_none_or(|at| *at <= last.at) {
        let (counted, found) = (last.total_retrans_segments, again.len() as u64);
        assert_eq!(counted, found, "{}: retransmissions in all", trial.name());
    }
}

fn bytes_agree(trial: &Recorded<'_>, samples: &[Sample]) {
    let receiver = Endpoint::BOTH[1 - trial.sender() as usize];
    let most = |end: Endpoint, value: fn(&Sample) -> u64| {
        samples.iter().filter(|sample| sample.endpoint == end).map(value).max().unwrap_or_default()
    };
    let sent = trial.app.client.bytes.max(trial.app.server.bytes).as_u64();
    // Both count a FIN as a byte.
    let acked = most(trial.sender(), |sample| sample.bytes_acked);
    assert!(acked <= sent + 2 && acked > sent / 2, "{}: {acked} of {sent}", trial.name());
    let received = most(receiver, |sample| sample.bytes_received);
    assert!(received <= sent + 1 && received > sent / 2, "{}: {received}", trial.name());
}

/// The trace of the sender's capture, and its zero relative to the trial's.
fn analysed(trial: &Recorded<'_>) -> (Trace, Span) {
    let (_, file) = trial.recording.capture(trial.sender()).unwrap();
    let trace = tcplab_trace::analyze(tcplab_capture::Reader::new(file).unwrap());
    let lead = Span::from_nanos(trace.epoch_nanos - trial.record.epoch_nanos);
    (trace, lead)
}

fn payload_flow(trace: &Trace, sender: Endpoint) -> &Flow {
    assert_eq!(trace.connections.len(), 1);
    match sender {
        Endpoint::Client => &trace.connections[0].forward,
        Endpoint::Server => &trace.connections[0].reverse,
    }
}

/// The case's name is the requested one; the record has the effective one.
pub(crate) fn congestion_is_as_asked(trial: &Recorded<'_>) {
    let endpoint = match trial.sender() {
        Endpoint::Client => &trial.record.client,
        Endpoint::Server => &trial.record.server,
    };
    let option = endpoint.options.iter().find(|option| option.name == "congestion").unwrap();
    assert_eq!(option.requested.as_ref(), Some(&trial.record.case), "{}", trial.name());
    assert_eq!(option.effective, trial.record.case, "{}", trial.name());
}
