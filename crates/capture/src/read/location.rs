//! Where a record lies in what was read.

use std::ops::Range;

use super::window::Window;
use crate::block::{Endian, Options};
use crate::{Record, UnixTime};

/// Where in the window a record lies, and what was read of it.
#[derive(Debug)]
pub(super) struct RecordLocation {
    pub(super) interface: u32,
    pub(super) time: Option<UnixTime>,
    pub(super) captured: Range<usize>,
    pub(super) original_len: u32,
    pub(super) options: Range<usize>,
    pub(super) endian: Endian,
}

impl RecordLocation {
    #[inline]
    pub(super) fn record<R: ?Sized>(self, window: &Window<R>) -> Record<'_> {
        Record {
            interface: self.interface,
            time: self.time,
            captured: window.at(self.captured),
            original_len: self.original_len,
            options: Options { bytes: window.at(self.options), endian: self.endian },
        }
    }
}
