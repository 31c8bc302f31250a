//! Several captures as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read;

use super::location::RecordLocation;
use super::{ReadError, Reader};
use crate::{Interface, Record, Statistics};

/// Several captures read as one, in the order of time, as if their records had been written to a
/// single file; records of the same time in the order of the captures.
///
/// A capture whose own records are not in order is taken as it comes: only the next record of each
/// is compared. One that is cut off or damaged ends there, and the others go on.
#[derive(Debug)]
pub struct Merged<R> {
    captures: Vec<Capture<R>>,
    /// When the next record of each capture was captured, and the capture's place.
    ahead: BinaryHeap<Reverse<(u64, usize)>>,
    interfaces: Vec<Interface>,
    /// Where each of `interfaces` comes from: a capture, and its index there.
    origins: Vec<(usize, usize)>,
    /// The capture whose record was lent last.
    current: Option<usize>,
}

#[derive(Debug)]
struct Capture<R> {
    reader: Reader<R>,
    /// Its next record.
    next: Option<RecordLocation>,
    /// The time of its latest one, in nanoseconds.
    time: u64,
    /// What its interfaces are among all.
    interfaces: Vec<u32>,
    damage: Option<ReadError>,
}

impl<R: Read> Merged<R> {
    /// The records of all these.
    pub fn new(readers: Vec<Reader<R>>) -> Merged<R> {
        let captures = readers.into_iter().map(|reader| Capture {
            reader,
            next: None,
            time: 0,
            interfaces: Vec::new(),
            damage: None,
        });
        let mut merged = Merged {
            captures: captures.collect(),
            ahead: BinaryHeap::new(),
            interfaces: Vec::new(),
            origins: Vec::new(),
            current: None,
        };
        for index in 0..merged.captures.len() {
            merged.fetch(index);
        }
        merged
    }

    /// The next record of all, and where it was captured, which is one of [`Merged::interfaces`].
    pub fn next_record(&mut self) -> Option<(Record<'_>, &Interface)> {
        if let Some(last) = self.current.take() {
            self.fetch(last);
        }
        let Reverse((_, index)) = self.ahead.pop()?;
        self.current = Some(index);
        let capture = &mut self.captures[index];
        let place = capture.next.take()?;
        let interface = capture.interfaces[place.interface as usize];
        let record = Record { interface, ..place.record(&capture.reader.window) };
        Some((record, &self.interfaces[interface as usize]))
    }

    fn fetch(&mut self, index: usize) {
        let capture = &mut self.captures[index];
        match capture.reader.locate_next() {
            Ok(Some(place)) => {
                // A record without a time is taken to come at once after the one before it.
                capture.time = place.time.map_or(capture.time, crate::UnixTime::as_nanos);
                capture.next = Some(place);
                self.ahead.push(Reverse((capture.time, index)));
            }
            Ok(None) => {}
            Err(error) => capture.damage = Some(error),
        }
        let known = capture.interfaces.len();
        for (at, interface) in capture.reader.interfaces().iter().enumerate().skip(known) {
            capture.interfaces.push(self.interfaces.len() as u32);
            self.interfaces.push(interface.clone());
            self.origins.push((index, at));
        }
    }
}

impl<R> Merged<R> {
    /// The interfaces of all captures, each capture's own: enough for the records read so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }
    /// What was counted at an interface of [`Merged::interfaces`], as far as its capture was read.
    pub fn statistics(&self, interface: usize) -> Option<&Statistics> {
        let &(capture, at) = self.origins.get(interface)?;
        self.captures[capture].reader.found.statistics.get(at)?.as_ref()
    }
    /// As [`Reader::time_unit`], of all captures.
    pub fn time_unit(&self) -> u64 {
        self.captures.iter().map(|capture| capture.reader.time_unit()).max().unwrap_or(0)
    }
    /// The capture, counted from 0, that an interface belongs to.
    pub fn capture_of(&self, interface: usize) -> Option<usize> {
        self.origins.get(interface).map(|&(capture, _)| capture)
    }
    /// Where reading a capture ended before its end, counted from 0: at what.
    pub fn damage(&self, capture: usize) -> Option<&ReadError> {
        self.captures.get(capture)?.damage.as_ref()
    }
    /// How many captures there are.
    pub fn captures(&self) -> usize {
        self.captures.len()
    }
}
