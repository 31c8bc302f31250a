//! A row of `path.jsonl`, written fast: there is one for each packet.

use serde::Serialize;
use tcplab_path::{Fate, Transmission, Verdict};
use tcplab_units::Instant;

use crate::TruthRow;

/// How a row ends, with its line, if the path delivered the packet and did nothing else to it: as
/// nearly all do.
pub(crate) const END_OF_DELIVERED: &[u8] = b",\"fate\":\"delivered\"}\n";

/// Appends the JSON form of a row, as serde writes it.
pub(crate) fn write(row: &TruthRow, line: &mut Vec<u8>) {
    let TruthRow { frame, because, verdict } = row;
    let Verdict { id, direction, size, entered, transmission, left, fate, .. } = verdict;
    let Verdict { origin, marked, corrupted, second_path, .. } = verdict;
    line.push(b'{');
    if let Some(frame) = frame {
        number(line, "\"frame\":", *frame);
        line.push(b',');
    }
    if let Some(because) = because {
        line.extend_from_slice(b"\"because\":");
        json(line, because);
        line.push(b',');
    }
    number(line, "\"id\":", *id);
    line.extend_from_slice(b",\"direction\":");
    json(line, direction);
    number(line, ",\"size_bytes\":", size.as_u64());
    time(line, ",\"entered_ns\":", *entered);
    if let Some(Transmission { queued, began, ended }) = transmission {
        time(line, ",\"transmission\":{\"queued_ns\":", *queued);
        time(line, ",\"began_ns\":", *began);
        time(line, ",\"ended_ns\":", *ended);
        line.push(b'}');
    }
    time(line, ",\"left_ns\":", *left);
    match fate {
        Fate::Delivered => line.extend_from_slice(b",\"fate\":\"delivered\""),
        other => {
            line.extend_from_slice(b",\"fate\":");
            json(line, other);
        }
    }
    if let Some(origin) = origin {
        number(line, ",\"origin_id\":", *origin);
    }
    if *marked {
        line.extend_from_slice(b",\"marked\":true");
    }
    if let Some(bit) = corrupted {
        number(line, ",\"corrupted_bit\":", (*bit).into());
    }
    if *second_path {
        line.extend_from_slice(b",\"second_path\":true");
    }
    line.push(b'}');
}

fn json(line: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(line, value).expect("plain data has a JSON form");
}

fn time(line: &mut Vec<u8>, key: &str, at: Instant) {
    number(line, key, at.as_nanos());
}

/// What `key` says, and a number.
fn number(line: &mut Vec<u8>, key: &str, value: u64) {
    line.extend_from_slice(key.as_bytes());
    json(line, &value);
}

#[cfg(test)]
mod tests {
    use tcplab_path::{Cause, Direction};
    use tcplab_units::{Bytes, Span};

    use super::*;

    fn plain() -> Verdict {
        let at = Instant::from_nanos;
        Verdict {
            id: 7,
            direction: Direction::Forward,
            size: Bytes::new(1500),
            entered: at(5),
            transmission: Some(Transmission { queued: at(5), began: at(6), ended: at(8) }),
            left: at(u64::MAX),
            fate: Fate::Delivered,
            origin: None,
            marked: false,
            corrupted: None,
            second_path: false,
        }
    }

    /// Verdicts in which each part of the form comes with and without.
    fn verdicts() -> [Verdict; 5] {
        let full = Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) };
        let late = Cause::Aqm {
            discipline: tcplab_path::Discipline::FqCodel,
            waited: Span::from_millis(5),
            packets: 1,
        };
        [
            plain(),
            Verdict { fate: Fate::Dropped(full), transmission: None, ..plain() },
            Verdict { fate: Fate::Dropped(late), direction: Direction::Reverse, ..plain() },
            Verdict { fate: Fate::StillOnLink, marked: true, corrupted: Some(9), ..plain() },
            Verdict { id: u64::MAX, origin: Some(3), second_path: true, ..plain() },
        ]
    }

    #[test]
    fn row_of_a_delivered_packet_ends_as_expected() {
        let mut line = Vec::new();
        write(&TruthRow { frame: Some(1), because: None, verdict: plain() }, &mut line);
        line.push(b'\n');
        assert!(line.ends_with(END_OF_DELIVERED));
    }

    #[test]
    fn every_row_is_written_as_serde_does() {
        for verdict in verdicts() {
            for (frame, because) in [(None, None), (Some(12), None), (Some(1), Some("timeout"))] {
                let row = TruthRow { frame, because: because.map(Into::into), verdict };
                let mut line = Vec::new();
                write(&row, &mut line);
                assert_eq!(String::from_utf8(line).unwrap(), serde_json::to_string(&row).unwrap());
            }
        }
    }
}
