//! A copy of a capture with words added to some of its packets.

use std::io::{self, Read, Write};

use crate::Damage;
use crate::block::{BYTE_ORDER_MAGIC, Endian, LONGEST_BLOCK, kind, option, padded};
use crate::{Packet, PcapngWriter, ReadError, Reader, Section};

/// What was copied.
#[derive(Debug)]
pub struct Annotated {
    /// Packets in the copy.
    pub packets: u64,
    /// Those that got a comment.
    pub annotated: u64,
    /// Those without one, although requested: simple packet blocks hold no options.
    pub voiceless: u64,
    /// Why the copy ends before the original does, if it does.
    pub broken: Option<ReadError>,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// There is nothing to copy.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The copy cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Copies a capture as pcapng and adds to each packet what `comment` says of it, by its number,
/// from 1. The source need not be buffered; `out` should be.
///
/// Copies every block of a pcapng as it is; packets keep their options and comments, the new
/// comment follows. Other formats become a pcapng with nanoseconds. If the original is truncated or
/// damaged, the copy holds what precedes ([`Annotated::broken`]).
///
/// # Errors
/// If `source` is no capture, or `out` cannot be written.
pub fn annotate<R: Read, W: Write>(
    mut source: R,
    mut out: W,
    mut comment: impl FnMut(u64) -> Option<String>,
) -> Result<Annotated, AnnotateError> {
    let mut start = [0; 4];
    let len =
        fill(&mut source, &mut start).map_err(|source| ReadError::Io { records: 0, source })?;
    let source = (&start[..len]).chain(source);
    let copied = if Endian::Little.u32_at(&start[..len], 0) == Some(kind::SECTION) {
        Blocks { source, out: &mut out, comment: &mut comment, copied: EMPTY, at: 0 }.copy()?
    } else {
        convert(Reader::new(source)?, &mut out, &mut comment)?
    };
    out.flush()?;
    Ok(copied)
}

const EMPTY: Annotated = Annotated { packets: 0, annotated: 0, voiceless: 0, broken: None };

/// Any other format into a pcapng. Some, such as ERF, show an interface only with its first record.
fn convert<R: Read, W: Write>(
    mut reader: Reader<R>,
    out: &mut W,
    comment: &mut impl FnMut(u64) -> Option<String>,
) -> Result<Annotated, AnnotateError> {
    let mut writer = PcapngWriter::new(out, &Section::default())?;
    let mut known = 0;
    for interface in reader.interfaces() {
        known = writer.add_interface(interface)? + 1;
    }
    let mut copied = EMPTY;
    loop {
        let (record, interfaces) = match reader.next_with_interfaces() {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(error) => {
                copied.broken = Some(error);
                break;
            }
        };
        for interface in &interfaces[known as usize..] {
            known = writer.add_interface(interface)? + 1;
        }
        copied.packets += 1;
        let text = comment(copied.packets);
        copied.annotated += u64::from(text.is_some());
        writer.write_packet(&Packet {
            interface: record.interface,
            time: record.time.unwrap_or_default(),
            captured: record.captured,
            original_len: record.original_len,
            direction: None,
            comments: text.as_deref().as_slice(),
        })?;
    }
    Ok(copied)
}

/// A pcapng, block by block.
struct Blocks<'a, R, W, C> {
    source: R,
    out: &'a mut W,
    comment: &'a mut C,
    copied: Annotated,
    /// Where the block begins.
    at: u64,
}

/// Type and length of a block, before its body; and the length after it.
const BEFORE: usize = 8;
const AFTER: usize = 4;

impl<R: Read, W: Write, C: FnMut(u64) -> Option<String>> Blocks<'_, R, W, C> {
    fn copy(mut self) -> Result<Annotated, AnnotateError> {
        let mut endian = Endian::Little;
        let mut block = Vec::new();
        loop {
            match self.next_block(&mut block, &mut endian) {
                Ok(true) => {}
                Ok(false) => break,
                // Without a section there is no capture, and an empty file would be none either.
                Err(error) if self.at == 0 => return Err(error.into()),
                Err(error) => {
                    self.copied.broken = Some(error);
                    break;
                }
            }
            self.at += block.len() as u64;
            let kind = endian.u32_at(&block, 0).unwrap_or_default();
            let is_packet =
                [kind::ENHANCED_PACKET, kind::SIMPLE_PACKET, kind::OBSOLETE_PACKET].contains(&kind);
            if is_packet {
                self.packet(&mut block, kind, endian);
            }
            self.out.write_all(&block)?;
        }
        Ok(self.copied)
    }

    /// Adds to a packet's block what there is to say.
    fn packet(&mut self, block: &mut Vec<u8>, kind: u32, endian: Endian) {
        self.copied.packets += 1;
        let Some(text) = (self.comment)(self.copied.packets) else { return };
        let added = kind != kind::SIMPLE_PACKET && add_comment(block, endian, &text);
        self.copied.annotated += u64::from(added);
        self.copied.voiceless += u64::from(!added);
    }

    /// The next block, whole; whether there is one.
    fn next_block(&mut self, block: &mut Vec<u8>, endian: &mut Endian) -> Result<bool, ReadError> {
        let (records, at) = (self.copied.packets, self.at);
        let damaged = |damage| ReadError::Damaged { records, at, damage };
        let unreadable = |source| ReadError::Io { records, source };
        // The first four bytes of a section's body show its byte order.
        block.resize(BEFORE + 4, 0);
        match fill(&mut self.source, block).map_err(unreadable)? {
            0 => return Ok(false),
            short if short < block.len() => return Err(ReadError::Truncated { records }),
            _ => {}
        }
        if endian.u32_at(block, 0) == Some(kind::SECTION) {
            let found = [Endian::Little, Endian::Big]
                .into_iter()
                .find(|endian| endian.u32_at(block, BEFORE) == Some(BYTE_ORDER_MAGIC));
            *endian = found.ok_or_else(|| damaged(Damage::ByteOrder))?;
        }
        let len = endian.u32_at(block, 4).unwrap_or_default();
        if !((BEFORE + AFTER) as u32..=LONGEST_BLOCK).contains(&len) || !len.is_multiple_of(4) {
            return Err(damaged(Damage::Length(len)));
        }
        let rest = u64::from(len) - block.len() as u64;
        // Memory grows with what has come, never with what was only announced.
        let more = self.source.by_ref().take(rest).read_to_end(block).map_err(unreadable)?;
        if (more as u64) < rest {
            return Err(ReadError::Truncated { records });
        }
        let last = endian.u32_at(block, block.len() - AFTER).unwrap_or_default();
        if last != len {
            return Err(damaged(Damage::Lengths { first: len, last }));
        }
        Ok(true)
    }
}

/// Puts a comment behind the options of a packet's block; whether the block makes sense.
fn add_comment(block: &mut Vec<u8>, endian: Endian, text: &str) -> bool {
    // Both kinds with options have as much before the packet: interface, time, two lengths.
    let captured = endian.u32_at(block, BEFORE + 12).unwrap_or(u32::MAX) as usize;
    let end = block.len() - AFTER;
    let options = BEFORE + 20 + padded(captured.min(LONGEST_BLOCK as usize));
    if options > end {
        return false;
    }
    let (place, closed) = end_of_options(&block[options..end], endian);
    let mut most = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(most) {
        most -= 1;
    }
    let text = &text.as_bytes()[..most];
    let mut added = Vec::with_capacity(text.len() + 12);
    added.extend_from_slice(&endian.bytes_of_u16(option::COMMENT));
    added.extend_from_slice(&endian.bytes_of_u16(text.len() as u16));
    added.extend_from_slice(text);
    added.resize(padded(added.len()), 0);
    if !closed {
        added.extend_from_slice(&[0; 4]); // the end of the options
    }
    let place = options + place;
    // Bytes after the options that are no option are dropped only where no end mark separates them.
    let tail = if closed { place..place } else { place..end };
    block.splice(tail, added);
    let len = endian.bytes_of_u32(block.len() as u32);
    let end = block.len() - AFTER;
    block[4..8].copy_from_slice(&len);
    block[end..].copy_from_slice(&len);
    true
}

/// Where the last of `options` ends, and whether a mark of the end stands there.
fn end_of_options(options: &[u8], endian: Endian) -> (usize, bool) {
    let mut at = 0;
    loop {
        let (Some(code), Some(len)) = (endian.u16_at(options, at), endian.u16_at(options, at + 2))
        else {
            return (at, false);
        };
        if code == option::END {
            return (at, true);
        }
        let next = at + 4 + padded(usize::from(len));
        if next > options.len() {
            return (at, false);
        }
        at = next;
    }
}

/// Reads until `buffer` is full or nothing more comes; how much came.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match source.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests;
