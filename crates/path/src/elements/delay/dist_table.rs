//! Tables of a distribution in netem's format, as `tc` reads them from `*.dist` files.

use std::ops::RangeInclusive;

/// What 1 in a table's unit, a standard deviation, is written as (`NETEM_DIST_SCALE`).
pub(super) const UNIT: f64 = 8192.0;

/// What an entry can be: netem keeps them in 16 bits (`struct disttable`).
pub(super) const RANGE: RangeInclusive<i32> = -32768..=32767;

/// How many entries netem takes at most (`NETEM_DIST_MAX`).
pub(super) const MOST: usize = 16_384;

/// A table that cannot be read or used. Says where, and quotes nothing of the file, which may be
/// another's; entries of a line count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TableError {
    #[error("line {line}: this is not text")]
    NotText { line: usize },
    #[error("line {line}: entry {entry} is not a whole number")]
    NotANumber { line: usize, entry: usize },
    #[error(
        "line {line}: entry {entry} begins with a zero, so netem reads it as octal: remove the zero"
    )]
    Octal { line: usize, entry: usize },
    #[error("line {line}: entry {entry} is out of range: entries are from -32768 to 32767")]
    OutOfRange { line: usize, entry: usize },
    #[error("line {line}: a table has at most 16384 entries")]
    TooLong { line: usize },
    #[error("the table has no entries")]
    Empty,
}

/// The entries of a file: whole numbers between white space; what follows a `#` on a line is a
/// comment.
///
/// `tc` reads on in silence where it does not understand a line; here that is an error.
pub(super) fn parse(file: &[u8]) -> Result<Vec<i32>, TableError> {
    let text = str::from_utf8(file).map_err(|error| {
        let before = &file[..error.valid_up_to()];
        TableError::NotText { line: before.split(|byte| *byte == b'\n').count() }
    })?;
    let mut entries = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default();
        for (entry, text) in (1..).zip(content.split_ascii_whitespace()) {
            if entries.len() == MOST {
                return Err(TableError::TooLong { line });
            }
            entries.push(number(text, line, entry)?);
        }
    }
    if entries.is_empty() { Err(TableError::Empty) } else { Ok(entries) }
}

fn number(text: &str, line: usize, entry: usize) -> Result<i32, TableError> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(TableError::NotANumber { line, entry });
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(TableError::Octal { line, entry });
    }
    let number = text.parse().ok().filter(|number| RANGE.contains(number));
    number.ok_or_else(|| TableError::OutOfRange { line, entry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_netem_are_read() {
        let file = b"# This is the distribution table.\n -32768 -5461 0\n\n7 +8192 # half\n32767";
        assert_eq!(parse(file), Ok(vec![-32768, -5461, 0, 7, 8192, 32767]));
        assert_eq!(parse(b"1\r\n-0\r\n"), Ok(vec![1, 0]));
        let longest = "1 ".repeat(MOST);
        assert_eq!(parse(longest.as_bytes()).map(|it| it.len()), Ok(MOST));
    }

    #[test]
    fn table_that_netem_misreads_is_refused_with_line() {
        for (file, error) in [
            (&b"1 2\n3 four\n"[..], "line 2: entry 2 is not a whole number"),
            (b"1\n1.5", "line 2: entry 1 is not a whole number"),
            (b"0x10", "line 1: entry 1 is not a whole number"),
            (b"1 - 2", "line 1: entry 2 is not a whole number"),
            (
                b"1\n\n-010",
                "line 3: entry 1 begins with a zero, so netem reads it as octal: remove the zero",
            ),
            (b"32768", "line 1: entry 1 is out of range: entries are from -32768 to 32767"),
            (
                b"# a\n-99999999999999999999",
                "line 2: entry 1 is out of range: entries are from -32768 to 32767",
            ),
            (b"1\n2 \xff", "line 2: this is not text"),
            (b"# nothing\n", "the table has no entries"),
        ] {
            assert_eq!(parse(file).unwrap_err().to_string(), error);
        }
        let long = format!("{}\n1\n", "1 ".repeat(MOST));
        let error = parse(long.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "line 2: a table has at most 16384 entries");
    }
}
