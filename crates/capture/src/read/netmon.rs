//! Microsoft's Network Monitor, versions 1 and 2 ("Network Monitor capture file format").
//!
//! The frames stand one behind the other from the end of the header to the frame table, which is
//! not needed to read them in this order. Times are taken for UTC; the format has local time.

use std::io::Read;

use super::error::{Damage, Stop};
use super::interfaces::Interfaces;
use super::location::RecordLocation;
use super::window::Window;
use crate::block::{Endian, LONGEST_BLOCK};
use crate::{Interface, UnixTime};

const FILE_HEADER: usize = 128;

/// How a file's records are to be read.
#[derive(Debug)]
pub(super) struct Layout {
    /// The time of the first record, nanoseconds after the beginning of 1970.
    start: u64,
    /// Version 2: wider numbers, and microseconds.
    is_second: bool,
    /// Bytes behind a frame: from version 2.1 on.
    trailer: usize,
    /// Where the frame table begins.
    end: u64,
}

impl Layout {
    /// The layout of the file that begins in `window`, if it is of this format; its header is then
    /// passed.
    pub(super) fn detect<R: Read + ?Sized>(
        window: &mut Window<R>,
        found: &mut Interfaces,
    ) -> Result<Option<Layout>, Stop> {
        let is_second = window.ahead().starts_with(b"GMBU");
        if !is_second && !window.ahead().starts_with(b"RTSS") {
            return Ok(None);
        }
        if !window.want(FILE_HEADER)? {
            return Err(Stop::Truncated);
        }
        let passed = window.pass(FILE_HEADER);
        let header = window.at(passed);
        let word = |at: usize| Endian::Little.u16_at(header, at).unwrap_or(0);
        let trailer = match (is_second, header[4]) {
            (false, _) | (true, 0) => 0,
            // The link type; the process; the time and its zone.
            (true, 1) => 2,
            (true, 2) => 6,
            (true, _) => 15,
        };
        let link_type = match word(6) {
            1 => 1,
            // Token Ring, FDDI.
            2 => 6,
            3 => 10,
            other => other.saturating_add(0x8000),
        };
        // Year, month, day of the week, day, hour, minute, second, millisecond.
        let time = [8, 10, 14, 16, 18, 20, 22].map(|at| u64::from(word(at)));
        let end = u64::from(Endian::Little.u32_at(header, 24).unwrap_or(0));
        found.add(Interface { link_type, ..Interface::default() });
        Ok(Some(Layout { start: since_1970(time), is_second, trailer, end }))
    }

    pub(super) fn find_record<R: Read + ?Sized>(
        &self,
        window: &mut Window<R>,
    ) -> Result<Option<RecordLocation>, Stop> {
        if window.passed() >= self.end {
            return Ok(None);
        }
        let header = if self.is_second { 16 } else { 8 };
        if !window.want(header)? {
            return Err(Stop::Truncated);
        }
        let (words, _) = window.ahead().as_chunks::<4>();
        let word = |at: usize| words.get(at).map_or(0, |&word| Endian::Little.u32(word));
        let (after, original_len, len) = if self.is_second {
            let micros = u64::from(word(1)) << 32 | u64::from(word(0));
            (micros.saturating_mul(1_000), word(2), word(3))
        } else {
            let lens = word(1);
            (u64::from(word(0)) * 1_000_000, lens & 0xffff, lens >> 16)
        };
        if len > LONGEST_BLOCK {
            return Err(Damage::Length(len).into());
        }
        let whole = header + len as usize + self.trailer;
        if !window.want(whole)? {
            return Err(Stop::Truncated);
        }
        let record = window.pass(whole);
        Ok(Some(RecordLocation {
            interface: 0,
            time: Some(UnixTime::from_nanos(self.start.saturating_add(after))),
            captured: record.start + header..record.end - self.trailer,
            original_len,
            options: record.end..record.end,
            endian: Endian::Little,
        }))
    }
}

/// Nanoseconds after the beginning of 1970 of year, month, day, hour, minute, second and
/// millisecond; days by the proleptic Gregorian calendar.
fn since_1970([year, month, day, hour, minute, second, milli]: [u64; 7]) -> u64 {
    // Years begin in March, so that the leap day is the last.
    let (year, month) =
        if month <= 2 { (year.saturating_sub(1), month + 9) } else { (year, month - 3) };
    let leaps = year / 4 - year / 100 + year / 400;
    let days = (year * 365 + leaps + (month * 153 + 2) / 5 + day).saturating_sub(719_469);
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    seconds.saturating_mul(1_000).saturating_add(milli).saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::since_1970;

    #[test]
    fn since_1970_known_dates() {
        for (date, seconds) in [
            ([1970, 1, 1, 0, 0, 0, 0], 0),
            ([2000, 2, 29, 12, 0, 0, 0], 951_825_600),
            ([2000, 3, 1, 0, 0, 0, 0], 951_868_800),
            ([2023, 2, 23, 16, 20, 46, 0], 1_677_169_246),
            ([2100, 3, 1, 0, 0, 0, 0], 4_107_542_400),
        ] {
            assert_eq!(since_1970(date), seconds * 1_000_000_000, "{date:?}");
        }
    }
}
