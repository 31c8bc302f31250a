//! What goes through the path: counted, and recorded where that is wanted.

use tcplab_path::{Fate, Verdict};
use tcplab_recording::{DirectionTraffic, RecordingError, RecordingWriter, Sample};
use tcplab_units::{Endpoint, Instant};

use crate::packets::whole;

/// Takes all that the path does, in order of time.
#[derive(Debug)]
pub(super) struct Recorder {
    /// None where nothing is recorded.
    pub(super) writer: Option<RecordingWriter>,
    /// Forward and reverse.
    pub(super) traffic: [DirectionTraffic; 2],
}

type Outcome = Result<(), RecordingError>;

impl Recorder {
    pub(super) fn new(writer: Option<RecordingWriter>) -> Recorder {
        Recorder { writer, traffic: Default::default() }
    }

    /// An end sent a packet.
    pub(super) fn left(&mut self, end: Endpoint, at: Instant, id: u64, packet: &[u8]) -> Outcome {
        let way = &mut self.traffic[end.index()];
        way.packets_in += 1;
        way.bytes_in += packet.len() as u64;
        self.write(|writer| writer.left(end, at, id, whole(packet)))
    }

    /// A packet, with its verdict, reached an end; `changed` if it may not be the one that left.
    pub(super) fn arrived(
        &mut self,
        end: Endpoint,
        at: Instant,
        id: u64,
        packet: &[u8],
        changed: bool,
    ) -> Outcome {
        self.write(|writer| {
            if changed {
                writer.entered(end, at, whole(packet))
            } else {
                writer.arrived(end, at, id)
            }
        })
    }

    pub(super) fn verdict(&mut self, verdict: &Verdict) -> Outcome {
        let way = &mut self.traffic[verdict.direction as usize];
        let made = u64::from(verdict.is_made());
        match verdict.fate {
            Fate::Delivered => {
                way.packets_out += 1;
                way.bytes_out += verdict.size.as_u64();
                way.made_out += made;
            }
            Fate::Dropped(cause) => {
                way.dropped += 1;
                way.made_dropped += made;
                *way.dropped_for.entry(cause.name()).or_default() += 1;
            }
            Fate::StillOnLink | Fate::Absorbed => {}
        }
        self.write(|writer| writer.verdict(verdict))
    }

    /// The state of a socket, of the main flow or of the one named.
    pub(super) fn sampled(&mut self, flow: Option<&str>, sample: &Sample) -> Outcome {
        self.write(|writer| match flow {
            None => writer.sampled(sample),
            Some(flow) => writer.sampled_of(flow, sample),
        })
    }

    fn write(&mut self, write: impl FnOnce(&mut RecordingWriter) -> Outcome) -> Outcome {
        self.writer.as_mut().map_or(Ok(()), write)
    }
}
