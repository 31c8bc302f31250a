//! What a trial leaves behind.

use std::path::Path;

use tcplab_recording::{AppLog, Sample, TrialRecord, TruthRow, TruthRows, parse_samples};

/// The files of a recording except its captures: the first byte says which of them the others are.
pub(crate) fn recording(bytes: &[u8]) {
    let [which, file @ ..] = bytes else { return };
    match which {
        b's' => samples(file),
        b't' => truth(file),
        b'a' => drop(serde_json::from_slice::<AppLog>(file)),
        b'r' => drop(serde_json::from_slice::<TrialRecord>(file)),
        _ => {}
    }
}

fn samples(file: &[u8]) {
    let Ok(text) = str::from_utf8(file) else { return };
    let read: Result<Vec<Sample>, _> = parse_samples(Path::new("samples.csv"), text);
    match read {
        Ok(samples) => assert!(samples.len() < text.lines().count()),
        Err(error) => assert!(error.to_string().starts_with("samples.csv, line ")),
    }
}

/// Rows that can be read are written and read again as they are.
fn truth(file: &[u8]) {
    let mut rows = TruthRows::new(Path::new("path.jsonl"), file);
    for row in rows.by_ref() {
        match row {
            Ok(row) => {
                let text = serde_json::to_string(&row).expect("a row is data");
                let again: TruthRow = serde_json::from_str(&text).expect("what was written");
                assert_eq!(again, row);
            }
            Err(error) => assert!(error.to_string().starts_with("path.jsonl, line ")),
        }
    }
    assert!(rows.next().is_none(), "an error is the last answer");
}
