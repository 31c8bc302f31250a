//! Captures contain the packets on the wire.

use tcplab_capture::Direction as Way;
use tcplab_path::{Direction, Fate};
use tcplab_recording::TruthRow;
use tcplab_units::Endpoint;
use tcplab_wire::{ChecksumState, FrameView};

use crate::experiment::Recorded;
use crate::frames::Tap;

/// The largest IP packet on the path, bytes.
const MTU: usize = 1500;

/// Both captures, frame by frame, against the path's log.
pub(crate) fn are_right(trial: &Recorded<'_>) {
    for (end, tap) in Endpoint::BOTH.into_iter().zip(&trial.taps) {
        let name = format!("{}, {}'s capture", trial.name(), end.name());
        frames_are_whole_and_in_order(&name, tap);
        counted(&name, trial, tap);
        comments_equal_verdicts(&name, tap, &rows(trial, end));
    }
    for (sender, receiver) in [(0, 1), (1, 0)] {
        delivered_packets_arrive_unchanged(trial, sender, receiver);
    }
}

/// The verdicts on what this endpoint sent, by frame.
fn rows(trial: &Recorded<'_>, end: Endpoint) -> Vec<TruthRow> {
    let direction = Direction::from_sender(end);
    trial.truth.iter().filter(|row| row.verdict.direction == direction).cloned().collect()
}

fn frames_are_whole_and_in_order(name: &str, tap: &Tap) {
    let mut last = 0;
    for frame in &tap.frames {
        let number = frame.number;
        assert!(frame.bytes.len() <= MTU, "{name}: frame {number} has {} B", frame.bytes.len());
        assert!(frame.nanos >= last, "{name}: frame {number} goes back in time");
        last = frame.nanos;
        let view = FrameView::of_packet(&frame.bytes);
        assert_eq!(view.anomaly(), None, "{name}: frame {number}");
        let tcp = view.tcp().unwrap_or_else(|| panic!("{name}: frame {number} is no TCP"));
        assert!(tcp.ip().header_checksum_is_right(), "{name}: frame {number}, IP");
        assert_eq!(tcp.checksum_state(), ChecksumState::Right, "{name}: frame {number}, TCP");
    }
}

fn counted(name: &str, trial: &Recorded<'_>, tap: &Tap) {
    let [Some(counted)] = tap.statistics[..] else { panic!("{name}: {:?}", tap.statistics) };
    let lost = trial.record.world.device_drops;
    assert_eq!(counted.dropped, Some(lost), "{name}: frames that are not in it");
    assert_eq!(counted.received, Some(tap.frames.len() as u64 + lost), "{name}: frames in all");
    assert_eq!(lost, 0, "{name}: the bridge must lose nothing by itself");
}

fn comments_equal_verdicts(name: &str, tap: &Tap, rows: &[TruthRow]) {
    let sent: Vec<_> = tap.going(Way::Outbound).collect();
    let frames: Vec<u64> = sent.iter().map(|frame| frame.number).collect();
    let judged: Vec<u64> = rows.iter().filter_map(|row| row.frame).collect();
    assert_eq!(frames, judged, "{name}: each packet sent has one verdict, in the order sent");
    for (frame, row) in sent.into_iter().zip(rows) {
        let expected = match row.verdict.fate {
            Fate::Delivered => None,
            fate => Some(fate.to_string()),
        };
        assert_eq!(frame.comments.first(), expected.as_ref(), "{name}: frame {}", frame.number);
        assert_eq!(row.verdict.size.as_u64(), frame.bytes.len() as u64, "{name}: {row:?}");
    }
    for frame in tap.going(Way::Inbound) {
        assert!(frame.comments.is_empty(), "{name}: frame {}", frame.number);
    }
}

/// The other end captures the delivered packets in order, byte by byte, and never before the path's
/// verdict says, less the cost of reading and writing.
fn delivered_packets_arrive_unchanged(trial: &Recorded<'_>, sender: usize, receiver: usize) {
    let rows = rows(trial, Endpoint::BOTH[sender]);
    let delivered: Vec<&TruthRow> =
        rows.iter().filter(|row| row.verdict.fate == Fate::Delivered).collect();
    let arrived: Vec<_> = trial.taps[receiver].going(Way::Inbound).collect();
    let name = format!("{}, from the {}", trial.name(), Endpoint::BOTH[sender].name());
    assert_eq!(arrived.len(), delivered.len(), "{name}: packets");
    for (row, frame) in delivered.into_iter().zip(arrived) {
        let number = row.frame.unwrap_or_else(|| panic!("{name}: nobody sent {row:?}"));
        let sent = &trial.taps[sender].frames[number as usize - 1];
        assert!(sent.bytes == frame.bytes, "{name}: frame {number} became {}", frame.number);
        let due = trial.record.epoch_nanos + row.verdict.left.as_nanos();
        let lead = trial.record.world.lead.as_nanos();
        assert!(frame.nanos + lead >= due, "{name}: frame {number} came too early");
    }
}
