//! The older format: a header, then records.

use std::io::Read;

use super::error::{Damage, Stop};
use super::location::RecordLocation;
use super::window::Window;
use crate::block::{Endian, LONGEST_BLOCK};
use crate::{Interface, UnixTime};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// How a file's numbers are to be read.
#[derive(Debug)]
pub(super) struct Layout {
    endian: Endian,
    /// Nanoseconds that one unit of the fraction of a second represents.
    unit: u64,
}

impl Layout {
    /// The layout of the file in `window`, if it is a pcap; passes its header.
    pub(super) fn detect<R: Read>(
        window: &mut Window<R>,
    ) -> Result<Option<(Layout, Interface)>, Stop> {
        let Some(magic) = window.ahead().first_chunk().copied() else { return Ok(None) };
        let (endian, unit) = match (Endian::Little.u32(magic), Endian::Big.u32(magic)) {
            (MICROSECONDS, _) => (Endian::Little, 1_000),
            (NANOSECONDS, _) => (Endian::Little, 1),
            (_, MICROSECONDS) => (Endian::Big, 1_000),
            (_, NANOSECONDS) => (Endian::Big, 1),
            _ => return Ok(None),
        };
        if !window.want(FILE_HEADER)? {
            return Err(Stop::Truncated);
        }
        let header = window.pass(FILE_HEADER);
        let header = window.at(header);
        let field = |at: usize| endian.u32_at(header, at).unwrap_or(0);
        let interface = Interface {
            // The upper half gives the length of the frame check sequence.
            link_type: field(20) as u16,
            snap_len: field(16),
            ..Interface::default()
        };
        Ok(Some((Layout { endian, unit }, interface)))
    }

    #[inline]
    pub(super) fn find_record<R: Read>(
        &mut self,
        window: &mut Window<R>,
    ) -> Result<Option<RecordLocation>, Stop> {
        if !window.want(RECORD_HEADER)? {
            return if window.ahead().is_empty() { Ok(None) } else { Err(Stop::Truncated) };
        }
        let (words, _) = window.ahead().as_chunks::<4>();
        let [seconds, fraction, len, original_len, ..] = *words else {
            return Err(Stop::Truncated);
        };
        let [seconds, fraction, len, original_len] =
            [seconds, fraction, len, original_len].map(|word| self.endian.u32(word));
        if len > LONGEST_BLOCK {
            return Err(Damage::Length(len).into());
        }
        let whole = RECORD_HEADER + len as usize;
        if !window.want(whole)? {
            return Err(Stop::Truncated);
        }
        let record = window.pass(whole);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(Some(RecordLocation {
            interface: 0,
            time: Some(UnixTime::from_nanos(nanos)),
            captured: record.start + RECORD_HEADER..record.end,
            original_len,
            options: record.end..record.end,
            endian: self.endian,
        }))
    }
}
