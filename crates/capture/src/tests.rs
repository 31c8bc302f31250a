//! Writers against readers, both against files made by hand, and readers against broken files.

mod broken;
mod by_hand;
mod compressed;
mod merged;
mod other_formats;
mod round_trip;

use crate::*;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    interface: u32,
    nanos: Option<u64>,
    captured: Vec<u8>,
    original_len: u32,
    direction: Option<Direction>,
    comments: Vec<String>,
}

/// The contents of a file, and how reading it ended.
#[derive(Default)]
struct Outcome {
    records: Vec<Owned>,
    interfaces: Vec<Interface>,
    statistics: Vec<Option<Statistics>>,
    error: Option<ReadError>,
}

fn read(file: impl std::io::Read) -> Outcome {
    let mut outcome = Outcome::default();
    let mut reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return Outcome { error: Some(error), ..outcome },
    };
    loop {
        match reader.next_record() {
            Ok(Some(record)) => outcome.records.push(owned(&record)),
            Ok(None) => break,
            Err(error) => outcome.error = Some(error),
        }
    }
    assert_eq!(reader.records(), outcome.records.len() as u64);
    outcome.interfaces = reader.interfaces().to_vec();
    outcome.statistics = reader.statistics().to_vec();
    let known = outcome.interfaces.len() as u32;
    assert!(outcome.records.iter().all(|record| record.interface < known));
    outcome
}

fn owned(record: &Record<'_>) -> Owned {
    Owned {
        interface: record.interface,
        nanos: record.time.map(UnixTime::as_nanos),
        captured: record.captured.to_vec(),
        original_len: record.original_len,
        direction: record.direction(),
        comments: record.comments().map(String::from).collect(),
    }
}

/// A source that gives one byte at a time, with interruptions.
struct Trickle<'a> {
    rest: &'a [u8],
    interrupt: bool,
}
impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let [first, rest @ ..] = self.rest else { return Ok(0) };
        buffer[0] = *first;
        self.rest = rest;
        Ok(1)
    }
}

/// Fails the test if it is asked for more than a small file is worth.
struct Stingy<'a>(&'a [u8]);
impl std::io::Read for Stingy<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(buffer.len() <= 1 << 20, "{} bytes of room for a small file", buffer.len());
        self.0.read(buffer)
    }
}
