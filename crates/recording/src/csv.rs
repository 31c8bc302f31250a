//! Tables of whole numbers, with a header row; the only text is in the second column.

use std::path::Path;

use tcplab_units::{Endpoint, Instant};

use crate::{RecordingError, Sample};

/// The header of `samples.csv`.
pub(crate) fn header() -> String {
    let mut line = String::from("at_ns,endpoint");
    for column in Sample::COLUMNS {
        line.push(',');
        line.push_str(column.quantity.key);
    }
    line.push('\n');
    line
}

/// One row of `samples.csv`.
pub(crate) fn row(sample: &Sample) -> String {
    let mut line = format!("{},{}", sample.at.as_nanos(), sample.endpoint.name());
    for (column, value) in Sample::COLUMNS.iter().zip(sample.values()) {
        line.push(',');
        line.push_str(&column.cell(value));
    }
    line.push('\n');
    line
}

/// The samples in the text of `samples.csv`, named `path` in errors.
///
/// # Errors
/// When it is not what tcplab writes.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Sample>, RecordingError> {
    let malformed =
        |line: usize, what: String| RecordingError::Malformed { path: path.into(), line, what };
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, first)) if first == header().trim_end() => {}
        _ => return Err(malformed(1, "not the columns this version writes".into())),
    }
    lines
        .map(|(index, line)| {
            parse_row(line).ok_or_else(|| malformed(index + 1, format!("not a sample: `{line}`")))
        })
        .collect()
}

fn parse_row(line: &str) -> Option<Sample> {
    let mut fields = line.split(',');
    let at = Instant::from_nanos(fields.next()?.parse().ok()?);
    let name = fields.next()?;
    let endpoint = Endpoint::BOTH.into_iter().find(|end| end.name() == name)?;
    let mut sample = Sample::empty(at, endpoint);
    for (column, slot) in Sample::COLUMNS.iter().zip(sample.slots()) {
        *slot = column.value(fields.next()?)?;
    }
    fields.next().is_none().then_some(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_survive_being_written_down() {
        let mut sample = Sample::empty(Instant::from_nanos(1_500_000_000), Endpoint::Server);
        sample.cwnd_segments = 10;
        sample.rtt_us = 20_319;
        sample.ssthresh_segments = 0x7fff_ffff;
        sample.min_rtt_us = u64::from(u32::MAX);
        sample.pacing_rate_bytes_per_second = u64::MAX;
        let text = header() + &row(&sample);
        assert!(text.contains(",srtt_ns,") && text.contains(",20319000,"), "{text}");
        assert!(!text.contains("4294967295") && !text.contains("18446744073709551615"), "{text}");
        assert_eq!(parse(Path::new("samples.csv"), &text).unwrap(), [sample]);
    }

    #[test]
    fn truncated_row_is_reported() {
        let text = header() + "17,client,1,2\n";
        let error = parse(Path::new("samples.csv"), &text).unwrap_err();
        assert_eq!(error.to_string(), "samples.csv, line 2: not a sample: `17,client,1,2`");
    }
}
