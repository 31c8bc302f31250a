//! The older format, for tools that read no other.

use std::io::{self, Write};

use crate::UnixTime;

const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Writes a pcap file with nanoseconds: one kind of link, no names, no comments.
#[derive(Debug)]
pub struct PcapWriter<W: Write> {
    out: W,
    snap_len: u32,
    record: Vec<u8>,
}

impl<W: Write> PcapWriter<W> {
    /// Begins a file of frames of `link_type` of which at most `snap_len` bytes are kept. Records
    /// are written one by one: `out` should be buffered.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: W, link_type: u16, snap_len: u32) -> io::Result<PcapWriter<W>> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&NANOSECONDS.to_le_bytes());
        header.extend_from_slice(&2_u16.to_le_bytes());
        header.extend_from_slice(&4_u16.to_le_bytes());
        header.extend_from_slice(&[0; 8]); // time zone and accuracy, which nobody fills in
        header.extend_from_slice(&snap_len.to_le_bytes());
        header.extend_from_slice(&u32::from(link_type).to_le_bytes());
        out.write_all(&header)?;
        Ok(PcapWriter { out, snap_len, record: Vec::new() })
    }

    /// Writes a frame that was `original_len` bytes long on the wire. The format holds times up to
    /// the year 2106; later ones become its last second.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_packet(
        &mut self,
        time: UnixTime,
        captured: &[u8],
        original_len: u32,
    ) -> io::Result<()> {
        let kept = &captured[..captured.len().min(self.snap_len as usize)];
        let seconds = u32::try_from(time.as_nanos() / 1_000_000_000).unwrap_or(u32::MAX);
        let nanos = (time.as_nanos() % 1_000_000_000) as u32;
        self.record.clear();
        for field in [seconds, nanos, kept.len() as u32, original_len] {
            self.record.extend_from_slice(&field.to_le_bytes());
        }
        self.record.extend_from_slice(kept);
        self.out.write_all(&self.record)
    }

    /// Flushes and gives back what was written to.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
