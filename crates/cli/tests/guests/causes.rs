//! Why a kernel retransmitted, as the analyser has it, beside what the kernel's sender says of
//! itself at each acknowledgement.

use tcplab_recording::{Recording, Sample};
use tcplab_trace::{Segment, SegmentKind, Timer, analyze};
use tcplab_units::{Endpoint, Instant, Span};

/// How much later than an acknowledgement the kernel looks at the socket, at most.
const LATE: Span = Span::from_micros(20);

/// States of `enum tcp_ca_state`.
pub(crate) const RECOVERY: u64 = 3;
pub(crate) const LOSS: u64 = 4;

/// What the two say, of the client's data.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// Retransmissions as the kernel counts them.
    pub(crate) counted: u64,
    /// As the analyser finds them beside the sender.
    pub(crate) found: usize,
    /// Of these, with the cause that the kernel's state has.
    pub(crate) right: usize,
    /// Of these, of unknown cause.
    pub(crate) unknown: usize,
    /// Each that the state contradicts.
    pub(crate) wrong: Vec<String>,
}

impl Agreement {
    /// Of a recording with samples at each acknowledgement.
    pub(crate) fn of(recording: &Recording) -> Agreement {
        let samples = of_client(recording);
        let (place, _) = recording.capture(Endpoint::Client).unwrap();
        let trace = analyze(tcplab_capture::open(place).unwrap());
        let zero = begin(recording);
        let mut agreement = Agreement {
            counted: samples.last().map_or(0, |last| last.total_retrans_segments),
            ..Agreement::default()
        };
        let segments = &trace.connections[0].forward.segments;
        for segment in segments.iter().filter(|segment| segment.kind.is_retransmission()) {
            agreement.found += 1;
            let at = zero + segment.at.since(Instant::ZERO);
            let state = state_at(&samples, at).map_or(0, |sample| sample.ca_state);
            match fits(segment, state) {
                None => agreement.unknown += 1,
                Some(true) => agreement.right += 1,
                Some(false) => agreement.wrong.push(format!(
                    "frame {} at {at:?}, state {state}: {:?}, timer {:?}",
                    segment.frame, segment.kind, segment.timer,
                )),
            }
        }
        agreement
    }
}

/// The states of the client's socket.
pub(crate) fn of_client(recording: &Recording) -> Vec<Sample> {
    let mut samples = recording.samples().unwrap();
    samples.retain(|sample| sample.endpoint == Endpoint::Client);
    samples
}

/// When the first packet was sent: times of an analysis count from there.
pub(crate) fn begin(recording: &Recording) -> Instant {
    let truth = recording.truth().unwrap();
    truth.iter().find(|row| row.frame == Some(1)).unwrap().verdict.entered
}

/// The state after all that happened at an instant.
pub(crate) fn state_at(samples: &[Sample], at: Instant) -> Option<&Sample> {
    samples.iter().rfind(|sample| sample.at <= at + LATE)
}

/// Whether the cause is one that a sender in this state has; none if it is unknown.
fn fits(segment: &Segment, state: u64) -> Option<bool> {
    match (segment.kind, segment.timer) {
        (SegmentKind::UnexplainedRetransmission, _) => None,
        // A probe leaves the state as it is.
        (_, Some(Timer::Probe)) => Some(state < RECOVERY),
        (SegmentKind::FastRetransmission, _) => Some(state == RECOVERY),
        (SegmentKind::TimeoutRetransmission | SegmentKind::AfterTimeoutRetransmission, _) => {
            Some(state == LOSS)
        }
        _ => Some(false),
    }
}
