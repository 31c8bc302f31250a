//! Reads captures into the analyser.

use std::borrow::Cow;
use std::io::Read;

use tcplab_capture::{ReadError, Reader, Record, Statistics, UnixTime};
use tcplab_wire::LinkType;

use super::AnyAnalyzer;
use crate::{Analyzer, Frame, Note, Sink, Trace};

/// Analyses a whole capture, or the readable part of it; [`Trace::notes`] has its problems.
pub fn analyze<R: Read>(reader: Reader<R>) -> Trace {
    let mut analyzer = Analyzer::new();
    analyzer.read(reader);
    analyzer.finish()
}

impl<S: Sink> Analyzer<S> {
    /// Reads all records of a capture.
    pub fn read<R: Read>(&mut self, reader: Reader<R>) {
        self.read_at_most(reader, u64::MAX);
    }

    /// Reads at most `most` records of a capture.
    pub fn read_at_most<R: Read>(&mut self, mut reader: Reader<R>, most: u64) {
        let any: &mut AnyAnalyzer<'_> = self;
        any.records(&mut reader, most);
    }
}

impl AnyAnalyzer<'_> {
    fn records(&mut self, reader: &mut Reader<dyn Read + '_>, most: u64) {
        let mut links = Vec::new();
        add_links(&mut links, reader);
        self.tell_coarse(reader.time_unit());
        let mut last_time = 0;
        let mut copy = Vec::new();
        let wants_comments = self.output.wants_packets;
        let mut descriptions = None;
        for _ in 0..most {
            let begins = reader.position();
            let record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    if matches!(error, ReadError::Io { .. }) {
                        self.output.give_up_log();
                    }
                    self.output.note(format!("the capture is {error}"));
                    break;
                }
            };
            // A record without a time gets that of the previous one.
            let time_ns = record.time.map_or(last_time, UnixTime::as_nanos);
            last_time = time_ns;
            if record.time.is_none() {
                self.untimed += 1;
            }
            if let Some(log) = &mut self.output.log {
                log.begins(self.frames + 1, begins);
                if record.time.is_none() {
                    log.gives_up();
                }
            }
            let (index, original_len) = (record.interface as usize, record.original_len);
            let comment = if wants_comments { comment(&record) } else { None };
            let (captured, link) = if let Some(&link) = links.get(index) {
                (record.captured, link)
            } else {
                // The first record of an interface: its description is read once the record is
                // released.
                copy.clear();
                copy.extend_from_slice(record.captured);
                add_links(&mut links, reader);
                self.tell_coarse(reader.time_unit());
                let unknown = LinkType::Other(u16::MAX);
                (&copy[..], links.get(index).copied().unwrap_or(unknown))
            };
            let comment = comment.as_deref();
            self.frame(&Frame { time_ns, link, captured, original_len, comment });
            if self.frames == 1 {
                descriptions = reader.descriptions();
            }
        }
        if descriptions.is_none() || descriptions != reader.descriptions() {
            self.output.give_up_log();
        }
        for (index, counted) in reader.statistics().iter().enumerate() {
            let lost = counted.as_ref().map_or(0, Statistics::all_dropped);
            if lost > 0 {
                let name = reader.interfaces().get(index).and_then(|i| i.name.clone());
                let name = name.unwrap_or_else(|| index.to_string());
                let note = Note::of_dropped(&format!("interface {name}"), lost);
                self.output.remarks.whole.push(note);
            }
        }
    }
}

pub(super) fn comment(record: &Record<'_>) -> Option<String> {
    let comment = record.comments().reduce(|all, one| format!("{all}; {one}").into());
    comment.map(Cow::into_owned)
}

/// Adds the link types that became known; a file may describe any number.
pub(super) fn add_links(links: &mut Vec<LinkType>, reader: &Reader<impl Read + ?Sized>) {
    let new = reader.interfaces().iter().skip(links.len());
    links.extend(new.map(|interface| LinkType::from_number(interface.link_type)));
}
