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
/// Alexey Kuznetzov's: eight bytes more in each record's header.
const MODIFIED: u32 = 0xa1b2_cd34;
/// Record headers of other versions, bytes: Nokia's, Alexey Kuznetzov's (also Red Hat 6.1's with
/// the usual magic number), SuSE 6.3's.
const OTHER_HEADERS: [usize; 3] = [20, 24, 28];
/// No link has longer frames, bytes: what claims more is no header.
const LONGEST_FRAME: u32 = 256 << 10;

/// How a file's numbers are to be read.
#[derive(Debug)]
pub(super) struct Layout {
    endian: Endian,
    /// Nanoseconds that one unit of the fraction of a second represents.
    unit: u64,
    /// Bytes of a record's header.
    header: usize,
    order: Lengths,
}

/// The order of the two lengths of a record.
#[derive(Debug, Clone, Copy)]
enum Lengths {
    CapturedFirst,
    /// Before version 2.3.
    OriginalFirst,
    /// In version 2.3, either: the captured length is the smaller.
    Either,
}

impl Layout {
    /// The layout of the file in `window`, if it is a pcap; passes its header.
    pub(super) fn detect<R: Read + ?Sized>(
        window: &mut Window<R>,
    ) -> Result<Option<(Layout, Interface)>, Stop> {
        let Some(magic) = window.ahead().first_chunk().copied() else { return Ok(None) };
        let numbers = [Endian::Little, Endian::Big].map(|endian| (endian, endian.u32(magic)));
        let known = numbers.into_iter().find_map(|(endian, magic)| match magic {
            MICROSECONDS => Some((endian, 1_000, RECORD_HEADER)),
            NANOSECONDS => Some((endian, 1, RECORD_HEADER)),
            MODIFIED => Some((endian, 1_000, OTHER_HEADERS[1])),
            _ => None,
        });
        let Some((endian, unit, header)) = known else { return Ok(None) };
        if !window.want(FILE_HEADER)? {
            return Err(Stop::Truncated);
        }
        let passed = window.pass(FILE_HEADER);
        let bytes = window.at(passed);
        let field = |at: usize| endian.u32_at(bytes, at).unwrap_or(0);
        let order = match (endian.u16_at(bytes, 4), endian.u16_at(bytes, 6)) {
            (Some(2), Some(0..=2)) => Lengths::OriginalFirst,
            (Some(2), Some(3)) => Lengths::Either,
            _ => Lengths::CapturedFirst,
        };
        let interface = Interface {
            // The upper half gives the length of the frame check sequence.
            link_type: field(20) as u16,
            snap_len: field(16),
            ..Interface::default()
        };
        let mut layout = Layout { endian, unit, header, order };
        let ahead = window.ahead();
        // What is ahead by now is looked at: a stream must not wait for its second record.
        if layout.fits(ahead, header) == Some(false) {
            let mut others = OTHER_HEADERS.into_iter();
            let other = others.find(|&other| layout.fits(ahead, other) == Some(true));
            layout.header = other.unwrap_or(header);
        }
        Ok(Some((layout, interface)))
    }

    /// Whether the first two records can have headers of this length; none if there is not enough
    /// of them to tell.
    fn fits(&self, bytes: &[u8], header: usize) -> Option<bool> {
        let mut at = 0;
        for _ in 0..2 {
            let words = bytes.get(at..).and_then(|rest| rest.first_chunk());
            let [_, fraction, len, original_len] = self.words(words?);
            // Some writers' fractions are a second and more; of other headers it is another field.
            let is_sound = u64::from(fraction) * self.unit < 2_000_000_000
                && original_len <= LONGEST_FRAME
                && len <= original_len;
            if !is_sound {
                return Some(false);
            }
            at += header + len as usize;
        }
        Some(true)
    }

    /// Seconds, their fraction, the captured and the original length.
    #[inline]
    fn words(&self, bytes: &[u8; RECORD_HEADER]) -> [u32; 4] {
        let (words, _) = bytes.as_chunks::<4>();
        let [seconds, fraction, len, original_len] =
            [words[0], words[1], words[2], words[3]].map(|word| self.endian.u32(word));
        let is_swapped = match self.order {
            Lengths::CapturedFirst => false,
            Lengths::OriginalFirst => true,
            Lengths::Either => len > original_len,
        };
        if is_swapped {
            [seconds, fraction, original_len, len]
        } else {
            [seconds, fraction, len, original_len]
        }
    }

    #[inline]
    pub(super) fn find_record<R: Read + ?Sized>(
        &mut self,
        window: &mut Window<R>,
    ) -> Result<Option<RecordLocation>, Stop> {
        if !window.want(self.header)? {
            return if window.ahead().is_empty() { Ok(None) } else { Err(Stop::Truncated) };
        }
        let Some(words) = window.ahead().first_chunk() else { return Err(Stop::Truncated) };
        let [seconds, fraction, len, original_len] = self.words(words);
        if len > LONGEST_BLOCK {
            return Err(Damage::Length(len).into());
        }
        let whole = self.header + len as usize;
        if !window.want(whole)? {
            return Err(Stop::Truncated);
        }
        let record = window.pass(whole);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(Some(RecordLocation {
            interface: 0,
            time: Some(UnixTime::from_nanos(nanos)),
            captured: record.start + self.header..record.end,
            original_len,
            options: record.end..record.end,
            endian: self.endian,
        }))
    }
}
