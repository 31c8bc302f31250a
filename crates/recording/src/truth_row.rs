//! A row of `path.jsonl`, written and read fast: there is one for each packet.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tcplab_path::{Direction, Fate, Transmission, Verdict};
use tcplab_units::{Bytes, Instant};

use crate::TruthRow;

/// How a row ends, with its line, if the path delivered the packet and did nothing else to it: as
/// nearly all do.
pub(crate) const END_OF_DELIVERED: &[u8] = b",\"fate\":\"delivered\"}\n";

/// Appends the JSON form of a row, as serde writes it.
pub(crate) fn write(
    frame: Option<u64>,
    because: Option<&str>,
    verdict: &Verdict,
    line: &mut Vec<u8>,
) {
    let Verdict { id, direction, size, entered, transmission, left, fate, .. } = verdict;
    let Verdict { origin, marked, corrupted, fragment, second_path, .. } = verdict;
    line.push(b'{');
    if let Some(frame) = frame {
        number(line, "\"frame\":", frame);
        line.push(b',');
    }
    if let Some(because) = because {
        line.extend_from_slice(b"\"because\":");
        json(line, because);
        line.push(b',');
    }
    number(line, "\"id\":", *id);
    line.extend_from_slice(match direction {
        Direction::Forward => b",\"direction\":\"forward\"",
        Direction::Reverse => b",\"direction\":\"reverse\"",
    });
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
    if let Some(offset) = fragment {
        number(line, ",\"fragment_offset_bytes\":", (*offset).into());
    }
    if *second_path {
        line.extend_from_slice(b",\"second_path\":true");
    }
    line.push(b'}');
}

fn json(line: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
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

/// Reads one line of `path.jsonl`.
///
/// # Errors
/// When the line is no row.
pub fn parse_truth_row(line: &[u8]) -> serde_json::Result<TruthRow> {
    /// What it has besides the verdict. Both are read one after the other: as a whole it would
    /// take several times as long (`flatten` buffers all).
    #[derive(Deserialize)]
    struct Own {
        frame: Option<u64>,
        because: Option<String>,
    }
    if let Some(row) = delivered(line) {
        return Ok(row);
    }
    let Own { frame, because } = serde_json::from_slice(line)?;
    let verdict = serde_json::from_slice(line)?;
    Ok(TruthRow { frame, because: because.map(Cow::Owned), verdict })
}

/// A packet that was delivered, with nothing else done to it, as [`write()`] puts it: nearly all
/// rows are of this form. None for any other.
fn delivered(line: &[u8]) -> Option<TruthRow> {
    let mut rest = line.strip_prefix(b"{")?;
    let frame = number_after(&mut rest, b"\"frame\":");
    if frame.is_some() {
        rest = rest.strip_prefix(b",")?;
    }
    let id = number_after(&mut rest, b"\"id\":")?;
    rest = rest.strip_prefix(b",\"direction\":\"")?;
    let direction = match rest.split_at_checked(7)? {
        (b"forward", after) => (Direction::Forward, after),
        (b"reverse", after) => (Direction::Reverse, after),
        _ => return None,
    };
    let (direction, mut rest) = direction;
    let size = Bytes::new(number_after(&mut rest, b"\",\"size_bytes\":")?);
    let mut time = |key: &[u8]| number_after(&mut rest, key).map(Instant::from_nanos);
    let entered = time(b",\"entered_ns\":")?;
    let transmission = match time(b",\"transmission\":{\"queued_ns\":") {
        None => None,
        Some(queued) => {
            let (began, ended) = (time(b",\"began_ns\":")?, time(b",\"ended_ns\":")?);
            rest = rest.strip_prefix(b"}")?;
            Some(Transmission { queued, began, ended })
        }
    };
    let left = Instant::from_nanos(number_after(&mut rest, b",\"left_ns\":")?);
    let end = rest.strip_suffix(b"\n").unwrap_or(rest);
    let is_plain = end == END_OF_DELIVERED.trim_ascii_end();
    is_plain.then_some(TruthRow {
        frame,
        because: None,
        verdict: Verdict {
            id,
            direction,
            size,
            entered,
            transmission,
            left,
            fate: Fate::Delivered,
            origin: None,
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        },
    })
}

/// The number that follows `key`, if the line goes on so; then it goes on behind the number.
fn number_after(line: &mut &[u8], key: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(key)?;
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at(length);
    // JSON has no number that begins with 0.
    if digits.is_empty() || (digits[0] == b'0' && length > 1) {
        return None;
    }
    let number = digits.iter().try_fold(0u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })?;
    *line = rest;
    Some(number)
}

#[cfg(test)]
mod tests {
    use tcplab_path::Cause;
    use tcplab_units::Span;

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
            fragment: None,
            second_path: false,
        }
    }

    /// Verdicts in which each part of the form comes with and without.
    fn verdicts() -> [Verdict; 6] {
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
            Verdict { origin: Some(3), fragment: Some(976), ..plain() },
        ]
    }

    #[test]
    fn row_of_a_delivered_packet_ends_as_expected() {
        let mut line = Vec::new();
        write(Some(1), None, &plain(), &mut line);
        line.push(b'\n');
        assert!(line.ends_with(END_OF_DELIVERED));
    }

    #[test]
    fn every_row_is_written_as_serde_does() {
        for verdict in verdicts() {
            for (frame, because) in [(None, None), (Some(12), None), (Some(1), Some("timeout"))] {
                let row = TruthRow { frame, because: because.map(Into::into), verdict };
                let mut line = Vec::new();
                write(frame, because, &verdict, &mut line);
                assert_eq!(parse_truth_row(&line).unwrap(), row);
                assert_eq!(String::from_utf8(line).unwrap(), serde_json::to_string(&row).unwrap());
            }
        }
    }

    #[test]
    fn what_is_read_fast_is_what_serde_reads() {
        let mut line = Vec::new();
        let row = TruthRow { frame: Some(1), because: None, verdict: plain() };
        write(Some(1), None, &plain(), &mut line);
        assert_eq!(delivered(&line), Some(row));
        // Every line that is cut, or has another byte anywhere.
        let changed = (0..line.len()).flat_map(|at| {
            let other = b"0x\"} ,".map(|byte| [&line[..at], &[byte], &line[at + 1..]].concat());
            other.into_iter().chain([line[..at].to_vec()])
        });
        for line in changed.collect::<Vec<_>>() {
            if let Some(row) = delivered(&line) {
                assert_eq!(serde_json::from_slice::<TruthRow>(&line).unwrap(), row);
            }
        }
    }
}
