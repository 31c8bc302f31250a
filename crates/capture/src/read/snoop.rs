//! Sun's snoop (RFC 1761).

use std::io::Read;

use super::error::{Damage, Stop};
use super::interfaces::Interfaces;
use super::location::RecordLocation;
use super::window::Window;
use crate::block::{Endian, LONGEST_BLOCK};
use crate::{Interface, Statistics, UnixTime};

const MAGIC: &[u8] = b"snoop\0\0\0";
const FILE_HEADER: usize = 16;
const RECORD_HEADER: usize = 24;

/// Passes the header of the file that begins in `window`, if it is of this format.
pub(super) fn detect<R: Read + ?Sized>(
    window: &mut Window<R>,
    found: &mut Interfaces,
) -> Result<bool, Stop> {
    if !window.ahead().starts_with(&MAGIC[..4]) || !window.want(FILE_HEADER)? {
        return Ok(false);
    }
    let Some(header) = window.ahead().first_chunk::<FILE_HEADER>() else { return Ok(false) };
    if !header.starts_with(MAGIC) {
        return Ok(false);
    }
    let link_type = match Endian::Big.u32_at(header, 12).unwrap_or(0) {
        // IEEE 802.3 and Ethernet.
        0 | 4 => 1,
        // Token Ring.
        2 => 6,
        // FDDI.
        8 => 10,
        // What pcap has no number for has one that is not understood.
        other => u16::try_from(other).map_or(u16::MAX, |it| it.saturating_add(0x8000)),
    };
    window.pass(FILE_HEADER);
    found.add(Interface { link_type, ..Interface::default() });
    Ok(true)
}

pub(super) fn find_record<R: Read + ?Sized>(
    window: &mut Window<R>,
    found: &mut Interfaces,
) -> Result<Option<RecordLocation>, Stop> {
    if !window.want(RECORD_HEADER)? {
        return if window.ahead().is_empty() { Ok(None) } else { Err(Stop::Truncated) };
    }
    let (words, _) = window.ahead().as_chunks::<4>();
    let [original_len, len, whole, drops, seconds, micros, ..] = *words else {
        return Err(Stop::Truncated);
    };
    let [original_len, len, whole, drops, seconds, micros] =
        [original_len, len, whole, drops, seconds, micros].map(|word| Endian::Big.u32(word));
    if whole > LONGEST_BLOCK {
        return Err(Damage::Length(whole).into());
    }
    let whole = whole as usize;
    if whole < RECORD_HEADER || whole - RECORD_HEADER < len as usize {
        return Err(Damage::Overfull.into());
    }
    if !window.want(whole)? {
        return Err(Stop::Truncated);
    }
    if drops > 0 {
        let dropped = Some(u64::from(drops));
        found.statistics[0] = Some(Statistics { dropped, ..Statistics::default() });
    }
    let record = window.pass(whole);
    let captured = record.start + RECORD_HEADER..record.start + RECORD_HEADER + len as usize;
    let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(micros) * 1_000;
    Ok(Some(RecordLocation {
        interface: 0,
        time: Some(UnixTime::from_nanos(nanos)),
        captured,
        original_len,
        options: record.end..record.end,
        endian: Endian::Big,
    }))
}
