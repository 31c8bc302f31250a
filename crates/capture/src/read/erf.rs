//! Endace's extensible record format (ERF): records without a header of the file.

use std::io::Read;

use super::error::{Damage, Stop};
use super::interfaces::Interfaces;
use super::location::RecordLocation;
use super::window::Window;
use crate::block::Endian;
use crate::{Interface, UnixTime};

const RECORD_HEADER: usize = 16;
/// Extension headers follow, eight bytes each, as long as this bit is set.
const EXTENDED: u8 = 0x80;
/// A record about the file, perhaps without a time.
const PROVENANCE: u8 = 27;
/// A record of nothing.
const PADDING: u8 = 48;
/// So many sound records in a row are no other format.
const ENOUGH: usize = 3;

/// The links of interfaces found so far: type and number.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<(u8, u8)>);

/// Whether a file of this format begins in `window`: it has no mark, so its first records must be
/// sound.
pub(super) fn detect<R: Read + ?Sized>(window: &mut Window<R>) -> Result<Option<Links>, Stop> {
    window.want(RECORD_HEADER)?;
    // What is ahead by now is looked at: a stream must not wait for its third record.
    let (bytes, mut at, mut last) = (window.ahead(), 0, 0);
    for _ in 0..ENOUGH {
        let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else {
            return Ok((at > 0 && at == bytes.len()).then(Links::default));
        };
        let header = Header::of(header);
        // After the year 2000, in order, of a known type, and as long as what it holds.
        let is_sound = (header.seconds > 946_684_800 || header.kind == PROVENANCE)
            && header.seconds >= last
            && ((1..=27).contains(&header.kind) || at > 0 && header.kind == PADDING)
            && usize::from(header.length) >= RECORD_HEADER
            && header.flags & 0x20 == 0;
        if !is_sound {
            return Ok(None);
        }
        last = header.seconds;
        at += usize::from(header.length);
    }
    Ok(Some(Links::default()))
}

/// The first bytes of a record.
struct Header {
    seconds: u32,
    fraction: u32,
    kind: u8,
    is_extended: bool,
    flags: u8,
    /// Bytes of the whole record.
    length: u16,
    /// Bytes of the frame on the wire.
    original_len: u16,
}

impl Header {
    fn of(bytes: &[u8; RECORD_HEADER]) -> Header {
        let word = |at: usize| Endian::Little.u32_at(bytes, at).unwrap_or(0);
        Header {
            fraction: word(0),
            seconds: word(4),
            kind: bytes[8] & !EXTENDED,
            is_extended: bytes[8] & EXTENDED != 0,
            flags: bytes[9],
            length: u16::from_be_bytes([bytes[10], bytes[11]]),
            original_len: u16::from_be_bytes([bytes[14], bytes[15]]),
        }
    }

    /// The number of the link for captures, and the bytes before the frame; none for records
    /// without a frame.
    fn link(&self) -> Option<(u16, usize)> {
        match self.kind {
            // Ethernet, also coloured and hashed: an offset and padding come first.
            2 | 11 | 16 | 20 => Some((1, 2)),
            // HDLC of packet over SONET.
            1 | 10 | 15 | 19 => Some((50, 0)),
            22 => Some((228, 0)),
            23 => Some((229, 0)),
            _ => None,
        }
    }
}

impl Links {
    pub(super) fn find_record<R: Read + ?Sized>(
        &mut self,
        window: &mut Window<R>,
        found: &mut Interfaces,
    ) -> Result<Option<RecordLocation>, Stop> {
        loop {
            if !window.want(RECORD_HEADER)? {
                return if window.ahead().is_empty() { Ok(None) } else { Err(Stop::Truncated) };
            }
            let Some(header) = window.ahead().first_chunk() else { return Err(Stop::Truncated) };
            let header = Header::of(header);
            let whole = usize::from(header.length);
            if whole < RECORD_HEADER {
                return Err(Damage::Length(u32::from(header.length)).into());
            }
            if !window.want(whole)? {
                return Err(Stop::Truncated);
            }
            let record = window.pass(whole);
            let Some((link_type, before)) = header.link() else { continue };
            let bytes = window.at(record.clone());
            let mut begin = RECORD_HEADER;
            let mut more = header.is_extended;
            while more {
                more = bytes.get(begin).is_some_and(|first| first & EXTENDED != 0);
                begin += 8;
            }
            let begin = begin + before;
            if begin > whole {
                return Err(Damage::Overfull.into());
            }
            let end = whole.min(begin + usize::from(header.original_len));
            let nanos = u64::from(header.seconds) * 1_000_000_000
                + ((u64::from(header.fraction) * 1_000_000_000) >> 32);
            return Ok(Some(RecordLocation {
                interface: self.interface(header.kind, header.flags & 3, link_type, found),
                time: Some(UnixTime::from_nanos(nanos)),
                captured: record.start + begin..record.start + end,
                original_len: u32::from(header.original_len),
                options: record.end..record.end,
                endian: Endian::Little,
            }));
        }
    }

    /// The index of the interface, which is described when its first record comes.
    fn interface(&mut self, kind: u8, number: u8, link_type: u16, found: &mut Interfaces) -> u32 {
        let known = self.0.iter().position(|&it| it == (kind, number));
        let index = known.unwrap_or_else(|| {
            self.0.push((kind, number));
            let name = Some(format!("port {number}"));
            found.add(Interface { name, link_type, ..Interface::default() });
            self.0.len() - 1
        });
        index as u32
    }
}
