//! What happened in a simulated transfer: the model's reason for each segment, and the path's
//! verdict on it and on each ACK.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_path::{Direction, Fate};
use tcplab_recording::Recording;
use tcplab_scenario::Scenario;
use tcplab_sim::{TrialRequest, run_trial};
use tcplab_trace::{Analyzer, Flow, Frame, Range, Trace, analyze};
use tcplab_units::{Endpoint, Instant, Offset, Span};
use tcplab_wire::{FrameView, LinkType};

/// A packet of the sender with sequence space.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) range: Range,
    pub(crate) sent: Instant,
    /// When it reached the receiver, if it did.
    pub(crate) arrived: Option<Instant>,
    /// Why the model sent it.
    pub(crate) because: String,
    /// It begins below the highest byte sent before.
    pub(crate) again: bool,
}

/// An ACK that reached the sender.
#[derive(Debug)]
pub(crate) struct Reached {
    pub(crate) at: Instant,
    pub(crate) ack: Offset,
    pub(crate) duplicate: bool,
    pub(crate) sack: Vec<Range>,
}

/// A capture and what its frames are.
pub(crate) struct Tap {
    pub(crate) name: &'static str,
    pub(crate) trace: Trace,
    /// Frames with sequence space, by their number here: the passage, and whether the path made it.
    pub(crate) frames: BTreeMap<u64, (usize, bool)>,
}

impl Tap {
    pub(crate) fn flow(&self) -> &Flow {
        &self.trace.connections[0].forward
    }
}

/// An upload in virtual time.
pub(crate) struct Truth {
    /// In the order of sending.
    pub(crate) passages: Vec<Passage>,
    /// In the order of reception.
    pub(crate) acks: Vec<Reached>,
    pub(crate) acks_dropped: usize,
    pub(crate) taps: Vec<Tap>,
}

/// A frame at one end.
struct Raw {
    time_ns: u64,
    number: u64,
    link: LinkType,
    bytes: Vec<u8>,
    /// From the sender of the data.
    forward: bool,
    has_sequence: bool,
}

impl Truth {
    /// Runs the scenario's only case.
    pub(crate) fn of(text: &str, seed: u64) -> Truth {
        let scenario = Scenario::parse(text, "trial").unwrap();
        let place = tempfile::tempdir().unwrap();
        let directory = place.path();
        let request = TrialRequest {
            case: &scenario.cases[0],
            seed,
            directory,
            snaplen: None,
            keeps_packets: true,
        };
        run_trial(&request, &AtomicBool::new(false))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        Truth::read(&Recording::open(directory).unwrap())
    }

    fn read(recording: &Recording) -> Truth {
        let open = |end| recording.capture(end).unwrap().0;
        let at_sender = analyze(tcplab_capture::open(open(Endpoint::Client)).unwrap());
        let [near, far] = [Endpoint::Client, Endpoint::Server].map(|end| raw(&open(end)));
        let rows = recording.truth().unwrap();
        let flow = &at_sender.connections[0].forward;
        let mut passages: Vec<Passage> = Vec::new();
        let mut by_frame = BTreeMap::new();
        let mut by_id = BTreeMap::new();
        let ranges: BTreeMap<u64, Range> =
            flow.segments.iter().map(|s| (s.frame, s.range)).collect();
        let mut deliveries = Vec::new();
        let mut high = Offset::ZERO;
        let mut first = Instant::ZERO;
        let ours = |direction: Direction| direction == Direction::Forward;
        let mut sent: Vec<_> = rows.iter().filter(|row| ours(row.verdict.direction)).collect();
        sent.sort_by_key(|row| row.frame);
        for row in &sent {
            let Some(frame) = row.frame else { continue };
            if frame == 1 {
                first = row.verdict.entered;
            }
            let Some(&range) = ranges.get(&frame).filter(|range| !range.is_empty()) else {
                continue;
            };
            let arrived = (row.verdict.fate == Fate::Delivered).then_some(row.verdict.left);
            by_frame.insert(frame, (passages.len(), false));
            by_id.insert(row.verdict.id, passages.len());
            deliveries.extend(arrived.map(|at| (at, passages.len(), false)));
            let because = row.because.as_deref().unwrap_or_default().to_owned();
            let again = range.start < high;
            high = high.max(range.end);
            passages.push(Passage { range, sent: row.verdict.entered, arrived, because, again });
        }
        for row in sent.iter().filter(|row| row.verdict.fate == Fate::Delivered) {
            if let Some(&of) = row.verdict.origin.and_then(|id| by_id.get(&id)) {
                deliveries.push((row.verdict.left, of, true));
            }
        }
        deliveries.sort();
        let data = far.iter().filter(|raw| raw.forward && raw.has_sequence);
        let numbers: Vec<u64> = data.map(|raw| raw.number).collect();
        assert_eq!(numbers.len(), deliveries.len(), "packets with data at the receiver");
        let by_far: BTreeMap<_, _> = numbers
            .into_iter()
            .zip(deliveries.iter().map(|&(_, passage, copy)| (passage, copy)))
            .collect();
        let acks_dropped = rows
            .iter()
            .filter(|row| {
                !ours(row.verdict.direction) && matches!(row.verdict.fate, Fate::Dropped(_))
            })
            .count();
        let acks = flow.acks.iter().map(|ack| Reached {
            at: first + ack.at.since(Instant::ZERO),
            ack: ack.ack,
            duplicate: ack.duplicate,
            sack: ack.sack.clone(),
        });
        let acks = acks.collect();
        let quarter = flow.round_trips.min.unwrap_or_default() / 4;
        let taps = vec![
            Tap { name: "before", ..moved(&near, quarter, true, &by_frame) },
            Tap { name: "behind", ..moved(&far, quarter, false, &by_far) },
            Tap { name: "receiver", ..moved(&far, Span::ZERO, false, &by_far) },
            Tap { name: "sender", trace: at_sender, frames: by_frame },
        ];
        Truth { passages, acks, acks_dropped, taps }
    }

    /// Whether this had been sent when a timer expired, and was not acknowledged since.
    pub(crate) fn follows_timeout(&self, passage: usize) -> bool {
        let (before, this) = self.passages.split_at(passage);
        let timeout = before.iter().rposition(|p| p.because == "timeout");
        timeout.is_some_and(|at| before[..at].iter().any(|p| p.range.end > this[0].range.start))
    }

    /// What was known and true when this was sent.
    pub(crate) fn at(&self, passage: usize) -> Facts {
        let this = &self.passages[passage];
        let before = &self.passages[..passage];
        let heard: Vec<&Reached> = self.acks.iter().filter(|ack| ack.at <= this.sent).collect();
        let una = heard.iter().map(|ack| ack.ack).max().unwrap_or_default();
        let has = |p: &Passage, byte: Offset| p.range.start <= byte && byte < p.range.end;
        let head = una;
        let outstanding = || before.iter().filter(|p| p.range.end > una);
        let since = heard.iter().position(|ack| ack.ack == una).unwrap_or(0);
        let full = before.iter().map(|p| p.range.len()).max().unwrap_or(1);
        let sacked = heard.iter().flat_map(|ack| &ack.sack).filter(|block| block.start > head);
        let sacked = union(sacked.copied().collect());
        let fast =
            before.iter().rposition(|p| ["fast-retransmit", "rack"].contains(&p.because.as_str()));
        let recover = fast.map(|index| before[..index].iter().map(|p| p.range.end).max().unwrap());
        let moved = fast.is_some_and(|index| before[index].range.start < una);
        let slow = before.iter().rposition(|p| p.because == "timeout");
        Facts {
            head_arrived: before.iter().any(|p| p.arrived.is_some() && has(p, head)),
            segments: outstanding().filter(|p| !p.again).count(),
            all_lost: !outstanding().any(|p| p.arrived.is_some()),
            last_lost: outstanding().rfind(|p| !p.again).is_some_and(|p| p.arrived.is_none()),
            resent: before.iter().any(|p| p.again && has(p, head)),
            resent_lost: outstanding().any(|p| p.again && has(p, head) && p.arrived.is_none()),
            duplicates: heard[since..].iter().filter(|ack| ack.duplicate).count(),
            sacked: sacked.iter().map(|block| block.len()).sum::<u64>().div_ceil(full),
            blocks: sacked.len(),
            partial: fast > slow && moved && recover.is_some_and(|recover| una < recover),
        }
    }
}

/// At the time of a transmission.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Facts {
    /// The oldest unacknowledged byte reached the receiver without this transmission.
    pub(crate) head_arrived: bool,
    /// New segments sent and not acknowledged.
    pub(crate) segments: usize,
    /// None of the unacknowledged transmissions arrived.
    pub(crate) all_lost: bool,
    /// The latest new segment did not.
    pub(crate) last_lost: bool,
    /// The oldest had been retransmitted.
    pub(crate) resent: bool,
    /// And that was lost, too.
    pub(crate) resent_lost: bool,
    /// Duplicate ACKs that reached the sender since the cumulative ACK advanced.
    pub(crate) duplicates: usize,
    /// Segments above the oldest in SACK blocks that reached the sender, and how many blocks.
    pub(crate) sacked: u64,
    pub(crate) blocks: usize,
    /// A partial ACK reached it in fast recovery.
    pub(crate) partial: bool,
}

impl Facts {
    /// The loss of the oldest byte was revealed to the sender.
    pub(crate) fn is_revealed(&self) -> bool {
        self.duplicates >= 3 || self.sacked >= 3 || self.blocks >= 3 || self.partial
    }
}

/// What the ranges cover, without overlaps.
fn union(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort();
    let mut whole: Vec<Range> = Vec::new();
    for range in ranges {
        match whole.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => whole.push(range),
        }
    }
    whole
}

fn raw(file: &Path) -> Vec<Raw> {
    let mut reader = tcplab_capture::open(file).unwrap();
    let mut frames: Vec<Raw> = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let (bytes, time) = (record.captured.to_vec(), record.time.unwrap().as_nanos());
        let (original, interface) = (record.original_len, record.interface as usize);
        let link = LinkType::from_number(reader.interfaces()[interface].link_type);
        let tcp = FrameView::new(link, &bytes, original).tcp();
        let tcp = tcp.expect("only TCP is sent");
        let forward = tcp.dst_port() < tcp.src_port();
        let has_sequence = tcp.sequence_len() > 0;
        frames.push(Raw {
            time_ns: time,
            number: frames.len() as u64 + 1,
            link,
            bytes,
            forward,
            has_sequence,
        });
    }
    frames
}

/// The capture as from a capture point so far from the end, with no loss between: behind the sender
/// packets with data pass it later, before the receiver sooner; ACKs the other way round.
fn moved(
    frames: &[Raw],
    by: Span,
    from_sender: bool,
    passages: &BTreeMap<u64, (usize, bool)>,
) -> Tap {
    let by = by.as_nanos();
    let time = |raw: &Raw| {
        let later = raw.forward == from_sender;
        if later { raw.time_ns + by } else { raw.time_ns - by }
    };
    let mut order: Vec<&Raw> = frames.iter().collect();
    order.sort_by_key(|raw| (time(raw), raw.number));
    let mut analyzer = Analyzer::new();
    let mut found = BTreeMap::new();
    for (number, raw) in (1..).zip(order) {
        let original_len = raw.bytes.len() as u32;
        let (time_ns, link) = (time(raw), raw.link);
        analyzer.packet(&Frame {
            time_ns,
            link,
            captured: &raw.bytes,
            original_len,
            comment: None,
        });
        if raw.forward
            && let Some(&of) = passages.get(&raw.number)
        {
            found.insert(number, of);
        }
    }
    Tap { name: "", trace: analyzer.finish(), frames: found }
}
