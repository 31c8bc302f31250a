//! The newer format.

use std::io::{self, Write};

use crate::block::{BYTE_ORDER_MAGIC, kind, option, padded};
use crate::{Direction, Interface, Statistics, UnixTime};

/// Where a file was made. Each is a line of free text, left out if `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Section<'a> {
    /// The machine.
    pub hardware: Option<&'a str>,
    /// Its operating system.
    pub os: Option<&'a str>,
    /// The program that writes.
    pub application: Option<&'a str>,
}

/// A packet to be written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packet<'a> {
    /// Where it was captured, as [`PcapngWriter::add_interface`] said.
    pub interface: u32,
    /// When.
    pub time: UnixTime,
    /// As much of the frame as is at hand; what exceeds the interface's snap length is left out.
    pub captured: &'a [u8],
    /// Length of the frame on the wire, in bytes.
    pub original_len: u32,
    /// Which way it went.
    pub direction: Option<Direction>,
    /// Comments, of each at most 65,535 bytes.
    pub comments: &'a [&'a str],
}

/// Writes a pcapng file with nanoseconds. Each block goes out in one piece, so that a file whose
/// writer is killed is at worst cut off in its last block.
#[derive(Debug)]
pub struct PcapngWriter<W: Write> {
    out: W,
    /// Most bytes kept of a frame, for each interface.
    snap_lens: Vec<usize>,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file. Blocks are written one by one: `out` should be buffered.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, section: &Section<'_>) -> io::Result<PcapngWriter<W>> {
        let mut writer = PcapngWriter { out, snap_lens: Vec::new(), block: Vec::new() };
        writer.begin(kind::SECTION);
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        writer.put(&1_u16.to_le_bytes()); // version 1.0
        writer.put(&0_u16.to_le_bytes());
        writer.put(&u64::MAX.to_le_bytes()); // the section's length is not known yet
        let options = writer.block.len();
        writer.put_text(option::SECTION_HARDWARE, section.hardware);
        writer.put_text(option::SECTION_OS, section.os);
        writer.put_text(option::SECTION_APPLICATION, section.application);
        writer.end_options(options);
        writer.end()?;
        Ok(writer)
    }

    /// Adds an interface. Returns its number, from 0, by which packets refer to it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add_interface(&mut self, interface: &Interface) -> io::Result<u32> {
        self.begin(kind::INTERFACE);
        self.put(&interface.link_type.to_le_bytes());
        self.put(&[0, 0]);
        self.put(&interface.snap_len.to_le_bytes());
        let options = self.block.len();
        self.put_text(option::INTERFACE_NAME, interface.name.as_deref());
        self.put_text(option::INTERFACE_DESCRIPTION, interface.description.as_deref());
        self.put_option(option::INTERFACE_RESOLUTION, &[NANOSECONDS]);
        self.end_options(options);
        self.end()?;
        self.snap_lens.push(match interface.snap_len {
            0 => usize::MAX,
            most => most as usize,
        });
        Ok(self.snap_lens.len() as u32 - 1)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn write_packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let most = self.snap_lens[packet.interface as usize];
        let kept = &packet.captured[..packet.captured.len().min(most)];
        let mut start = [0; PACKET_START];
        start[..4].copy_from_slice(&kind::ENHANCED_PACKET.to_le_bytes());
        start[8..12].copy_from_slice(&packet.interface.to_le_bytes());
        start[12..20].copy_from_slice(&words_of(packet.time));
        start[20..24].copy_from_slice(&(kept.len() as u32).to_le_bytes());
        start[24..].copy_from_slice(&packet.original_len.to_le_bytes());
        self.block.clear();
        self.put(&start);
        self.put_padded(kept);
        let options = self.block.len();
        for comment in packet.comments {
            self.put_text(option::COMMENT, Some(comment));
        }
        if let Some(direction) = packet.direction {
            let flags: u32 = match direction {
                Direction::Inbound => 1,
                Direction::Outbound => 2,
            };
            self.put_option(option::PACKET_FLAGS, &flags.to_le_bytes());
        }
        self.end_options(options);
        self.end()
    }

    /// Writes what was counted at an interface, usually at the end.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn write_statistics(&mut self, interface: u32, counted: &Statistics) -> io::Result<()> {
        assert!((interface as usize) < self.snap_lens.len(), "no interface {interface}");
        self.begin(kind::STATISTICS);
        self.put(&interface.to_le_bytes());
        self.put(&words_of(counted.end.or(counted.start).unwrap_or_default()));
        let options = self.block.len();
        for (code, time) in
            [(option::STATISTICS_START, counted.start), (option::STATISTICS_END, counted.end)]
        {
            if let Some(time) = time {
                self.put_option(code, &words_of(time));
            }
        }
        for (code, number) in [
            (option::STATISTICS_RECEIVED, counted.received),
            (option::STATISTICS_DROPPED, counted.dropped),
            (option::STATISTICS_DROPPED_BY_OS, counted.dropped_by_os),
        ] {
            if let Some(number) = number {
                self.put_option(code, &number.to_le_bytes());
            }
        }
        self.end_options(options);
        self.end()
    }

    /// Flushes what was written, so that the file can be read up to here.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes and gives back what was written to.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.put(&kind.to_le_bytes());
        self.put(&[0; 4]);
    }
    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }
    fn put_padded(&mut self, bytes: &[u8]) {
        self.put(bytes);
        self.block.resize(padded(self.block.len()), 0);
    }
    fn put_option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put_padded(value);
    }
    fn put_text(&mut self, code: u16, text: Option<&str>) {
        if let Some(text) = text {
            let mut most = text.len().min(usize::from(u16::MAX));
            while !text.is_char_boundary(most) {
                most -= 1;
            }
            self.put_option(code, &text.as_bytes()[..most]);
        }
    }
    /// Ends the options that began at `from`, if there are any.
    fn end_options(&mut self, from: usize) {
        if self.block.len() > from {
            self.put_option(option::END, &[]);
        }
    }
    fn end(&mut self) -> io::Result<()> {
        let len = (self.block.len() as u32 + 4).to_le_bytes();
        self.put(&len);
        self.block[4..8].copy_from_slice(&len);
        self.out.write_all(&self.block)
    }
}

/// A packet's block before the frame, bytes.
const PACKET_START: usize = 28;

/// The resolution of interfaces: 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// Upper and lower word of a time.
fn words_of(time: UnixTime) -> [u8; 8] {
    let nanos = time.as_nanos();
    let mut words = [0; 8];
    words[..4].copy_from_slice(&((nanos >> 32) as u32).to_le_bytes());
    words[4..].copy_from_slice(&(nanos as u32).to_le_bytes());
    words
}
