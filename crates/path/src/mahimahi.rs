//! Traces of delivery opportunities in Mahimahi's format, read and written.
//!
//! Each line is a whole number of milliseconds in decimal digits: a moment at which 1504 B can be
//! sent (mahimahi(1), `mm-link`; src/frontend/link_queue.cc). The file holds nothing else.

use std::fmt::Write as _;

/// What is wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// The latest time that fits into 64 bits of nanoseconds, in milliseconds: 584 years.
const LATEST: u64 = u64::MAX / 1_000_000;

/// The opportunities of a trace file, in milliseconds. An error quotes nothing of the file, which
/// may be another's. Lines end with LF or CRLF; the last needs no
/// end. Stricter than Mahimahi itself, which also takes blanks and signs in front of a number.
///
/// # Errors
/// When a line is not a whole number of milliseconds or falls below the one before, or when none is
/// above zero.
pub fn parse_mahimahi(text: &[u8]) -> Result<Vec<u64>, TraceError> {
    let mut opportunities: Vec<u64> = Vec::new();
    if text.is_empty() {
        return Err(TraceError { line: 1, what: "the file is empty".into() });
    }
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n');
    for (index, line) in lines.enumerate() {
        let number = line.strip_suffix(b"\r").unwrap_or(line);
        let ms = milliseconds(number).map_err(|what| TraceError { line: index + 1, what })?;
        opportunities.push(ms);
    }
    check_opportunities(&opportunities)
        .map_err(|(index, what)| TraceError { line: index + 1, what })?;
    Ok(opportunities)
}

fn milliseconds(number: &[u8]) -> Result<u64, String> {
    if number.is_empty() {
        return Err("the line is empty: write a whole number of milliseconds".into());
    }
    if let Some(at) = number.iter().position(|byte| !byte.is_ascii_digit()) {
        let column = at + 1;
        return Err(format!("not a whole number of milliseconds: byte {column} is no digit"));
    }
    match std::str::from_utf8(number).ok().and_then(|digits| digits.parse().ok()) {
        Some(ms) if ms <= LATEST => Ok(ms),
        _ => Err("out of range: a trace lasts 584 years at most".into()),
    }
}

/// Whether opportunities can be: else the index of the one at fault, and what it does wrong.
pub(crate) fn check_opportunities(opportunities: &[u64]) -> Result<(), (usize, String)> {
    for (index, pair) in opportunities.windows(2).enumerate() {
        if pair[1] < pair[0] {
            return Err((index + 1, "is less than the one before: times do not fall".into()));
        }
    }
    match opportunities.last() {
        None => Err((0, "is missing: a trace has at least one".into())),
        Some(0) => {
            let what = "is at zero like all before: the last one must be above zero";
            Err((opportunities.len() - 1, what.into()))
        }
        Some(ms) if *ms > LATEST => {
            let what = "is out of range: a trace lasts 584 years at most";
            Err((opportunities.len() - 1, what.into()))
        }
        Some(_) => Ok(()),
    }
}

/// Opportunities in milliseconds as a trace file.
pub fn to_mahimahi(opportunities: &[u64]) -> String {
    let mut text = String::new();
    for ms in opportunities {
        writeln!(text, "{ms}").expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_milliseconds() {
        for text in ["0\n0\n5\n12\n", "0\n0\n5\n12", "0\r\n0\r\n5\r\n12\r\n", "00\n0\n05\n12"] {
            assert_eq!(parse_mahimahi(text.as_bytes()), Ok(vec![0, 0, 5, 12]), "{text:?}");
        }
    }

    #[test]
    fn invalid_trace_is_refused_with_line() {
        for (text, error) in [
            ("", "line 1: the file is empty"),
            ("\n", "line 1: the line is empty: write a whole number of milliseconds"),
            ("1\n\n2\n", "line 2: the line is empty: write a whole number of milliseconds"),
            ("1\n2\n\n", "line 3: the line is empty: write a whole number of milliseconds"),
            ("1\n512\n498\n", "line 3: is less than the one before: times do not fall"),
            ("# trace\n1\n", "line 1: not a whole number of milliseconds: byte 1 is no digit"),
            ("1\n 2\n", "line 2: not a whole number of milliseconds: byte 1 is no digit"),
            ("1\n+2\n", "line 2: not a whole number of milliseconds: byte 1 is no digit"),
            ("1.5\n", "line 1: not a whole number of milliseconds: byte 2 is no digit"),
            ("1\t\n", "line 1: not a whole number of milliseconds: byte 2 is no digit"),
            ("1\r\r\n", "line 1: not a whole number of milliseconds: byte 2 is no digit"),
            ("0\n0\n", "line 2: is at zero like all before: the last one must be above zero"),
            ("18446744073709551616\n", "line 1: out of range: a trace lasts 584 years at most"),
            ("18446744073710\n", "line 1: out of range: a trace lasts 584 years at most"),
        ] {
            assert_eq!(parse_mahimahi(text.as_bytes()).unwrap_err().to_string(), error, "{text:?}");
        }
        let binary = parse_mahimahi(b"1\n\xff\xfe\n").unwrap_err();
        assert_eq!(binary.line, 2);
    }

    proptest! {
        #[test]
        fn written_trace_round_trips(mut times in prop::collection::vec(0..=LATEST, 1..50)) {
            times.sort_unstable();
            prop_assume!(times.last() != Some(&0));
            prop_assert_eq!(parse_mahimahi(to_mahimahi(&times).as_bytes()), Ok(times));
        }

        #[test]
        fn any_bytes_are_read_or_refused(text: Vec<u8>) {
            if let Ok(times) = parse_mahimahi(&text) {
                prop_assert!(times.is_sorted() && times.last() > Some(&0));
            }
        }
    }
}
