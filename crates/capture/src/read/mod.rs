//! Reading captures.

mod erf;
mod error;
mod interfaces;
mod location;
mod merged;
mod netmon;
mod pcap;
mod pcapng;
mod snoop;
mod window;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use crate::{Interface, Record, Statistics};
use error::Stop;
pub use error::{Damage, ReadError};
use interfaces::Interfaces;
use location::RecordLocation;
pub use merged::Merged;
use window::Window;

/// Reads a capture, record by record: pcapng or pcap in either byte order and all their variants,
/// snoop, Network Monitor, ERF.
///
/// ```
/// # fn count(file: &[u8]) -> Result<u64, tcplab_capture::ReadError> {
/// let mut reader = tcplab_capture::Reader::new(file)?;
/// let mut bytes = 0;
/// while let Some(record) = reader.next_record()? {
///     bytes += u64::from(record.original_len);
/// }
/// # Ok(bytes) }
/// ```
#[derive(Debug)]
pub struct Reader<R: ?Sized> {
    format: Format,
    found: Interfaces,
    records: u64,
    ended: bool,
    window: Window<R>,
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Layout),
    Pcapng(pcapng::Section),
    Snoop,
    NetMon(netmon::Layout),
    Erf(erf::Links),
}

impl<R: ?Sized> Reader<R> {
    /// The longest unit in which one of the [interfaces](Reader::interfaces) so far counts time,
    /// nanoseconds; 0 if the format does not say so for each.
    pub fn time_unit(&self) -> u64 {
        match &self.format {
            Format::Pcapng(section) => section.time_unit,
            Format::Pcap(_) | Format::Snoop | Format::NetMon(_) | Format::Erf(_) => 0,
        }
    }
}

impl Reader<File> {
    /// Opens the capture at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is not a capture.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader<File>, ReadError> {
        let path = path.as_ref();
        let file = File::open(path)
            .map_err(|source| ReadError::Open { path: path.to_path_buf(), source })?;
        Reader::new(file)
    }
}

impl<R: Read> Reader<R> {
    /// Reads from `source`, which needs no buffering of its own.
    ///
    /// # Errors
    /// If `source` cannot be read, or what it gives does not begin as a capture does.
    pub fn new(source: R) -> Result<Reader<R>, ReadError> {
        let mut window = Window::new(source);
        let mut found = Interfaces::default();
        match Format::detect(&mut window, &mut found) {
            Ok(Some(format)) => Ok(Reader { format, found, records: 0, ended: false, window }),
            Ok(None) => Err(ReadError::not_a_capture(window.ahead())),
            Err(stop) => Err(stop.after(0, window.passed())),
        }
    }
}

impl<R: Read + ?Sized> Reader<R> {
    /// The next record; `None` at the end, and after an error.
    ///
    /// # Errors
    /// If the file is cut off or damaged here, or cannot be read on. All records given before are
    /// good.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        match self.locate_next()? {
            Some(location) => Ok(Some(location.record(&self.window))),
            None => Ok(None),
        }
    }

    /// The next record, and the interfaces known with it.
    pub(crate) fn next_with_interfaces(
        &mut self,
    ) -> Result<Option<(Record<'_>, &[Interface])>, ReadError> {
        let Some(location) = self.locate_next()? else { return Ok(None) };
        Ok(Some((location.record(&self.window), &self.found.interfaces)))
    }

    /// Where the next record lies, until the one after it is asked for.
    #[inline]
    fn locate_next(&mut self) -> Result<Option<RecordLocation>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let found = match &mut self.format {
            Format::Pcap(layout) => layout.find_record(&mut self.window),
            Format::Pcapng(section) => section.find_record(&mut self.window, &mut self.found),
            Format::Snoop => snoop::find_record(&mut self.window, &mut self.found),
            Format::NetMon(layout) => layout.find_record(&mut self.window),
            Format::Erf(links) => links.find_record(&mut self.window, &mut self.found),
        };
        match found {
            Ok(Some(location)) => {
                self.records += 1;
                Ok(Some(location))
            }
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(stop) => Err(self.stopped(stop)),
        }
    }

    #[cold]
    fn stopped(&mut self, stop: Stop) -> ReadError {
        self.ended = true;
        stop.after(self.records, self.window.passed())
    }

    /// The interfaces described so far, always enough for the records read so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.found.interfaces
    }
    /// The counts of each [interface](Reader::interfaces), usually known at the end.
    pub fn statistics(&self) -> &[Option<Statistics>] {
        &self.found.statistics
    }
    /// What it reads from.
    pub fn source(&self) -> &R {
        self.window.source()
    }
    /// How many records were read.
    pub fn records(&self) -> u64 {
        self.records
    }
    /// The byte of the stream behind the last record, where what leads to the next one begins.
    #[inline]
    pub fn position(&self) -> u64 {
        self.window.passed()
    }
    /// How many descriptions were read on which the meaning of later records depends; `None` if it
    /// depends on more, so that the reader cannot [jump](Reader::jump_to).
    pub fn descriptions(&self) -> Option<usize> {
        match &self.format {
            Format::Pcap(_) => Some(1),
            Format::Pcapng(section) => Some(section.sections + self.found.interfaces.len()),
            Format::Snoop | Format::NetMon(_) | Format::Erf(_) => None,
        }
    }
}

impl<R: Read + Seek + ?Sized> Reader<R> {
    /// Goes to an earlier [position](Reader::position) of this file: the next record is the one
    /// that followed it, if as many [descriptions](Reader::descriptions) were read by now as
    /// there. What else lies between is not read, such as statistics.
    ///
    /// # Errors
    /// If the source cannot be moved.
    pub fn jump_to(&mut self, position: u64) -> io::Result<()> {
        self.window.jump_to(position)
    }
}

impl Format {
    fn detect<R: Read + ?Sized>(
        window: &mut Window<R>,
        found: &mut Interfaces,
    ) -> Result<Option<Format>, Stop> {
        if !window.want(4)? {
            return Ok(None);
        }
        if let Some(section) = pcapng::Section::detect(window)? {
            return Ok(Some(Format::Pcapng(section)));
        }
        if let Some((layout, interface)) = pcap::Layout::detect(window)? {
            found.add(interface);
            return Ok(Some(Format::Pcap(layout)));
        }
        if snoop::detect(window, found)? {
            return Ok(Some(Format::Snoop));
        }
        if let Some(layout) = netmon::Layout::detect(window, found)? {
            return Ok(Some(Format::NetMon(layout)));
        }
        Ok(erf::detect(window)?.map(Format::Erf))
    }
}
