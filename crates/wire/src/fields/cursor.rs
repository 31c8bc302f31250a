//! Reads a frame from left to right and notes its fields.

use super::field::{Field, FieldLayer, Said};

/// The next field of a frame begins at `at`.
pub(super) struct Cursor<'a> {
    /// The captured bytes.
    bytes: &'a [u8],
    at: usize,
    /// Where the captured part of the layer ends.
    end: usize,
    layer: FieldLayer,
    fields: Vec<Field>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        let end = bytes.len();
        Cursor { bytes, at: 0, end, layer: FieldLayer::Link, fields: Vec::new() }
    }
    pub(super) fn into_fields(self) -> Vec<Field> {
        self.fields
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }
    /// The header that follows, up to `end` as far as that was captured.
    pub(super) fn enter(&mut self, layer: FieldLayer, end: usize) {
        self.layer = layer;
        self.end = end.clamp(self.at, self.bytes.len());
    }
    /// The bytes of the layer that are not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..self.end]
    }

    /// The next `N` bytes as one field; `None` if not all were captured.
    pub(super) fn take<const N: usize>(
        &mut self,
        name: &'static str,
        say: impl FnOnce([u8; N]) -> Said,
    ) -> Option<[u8; N]> {
        let bytes = *self.rest().first_chunk::<N>()?;
        self.push(name, (self.at, N), say(bytes));
        self.at += N;
        Some(bytes)
    }
    /// The next two bytes as a number.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        say: impl FnOnce(u16) -> Said,
    ) -> Option<u16> {
        self.take::<2>(name, |bytes| say(u16::from_be_bytes(bytes))).map(u16::from_be_bytes)
    }
    /// The next four bytes as a number.
    pub(super) fn double_word(
        &mut self,
        name: &'static str,
        say: impl FnOnce(u32) -> Said,
    ) -> Option<u32> {
        self.take::<4>(name, |bytes| say(u32::from_be_bytes(bytes))).map(u32::from_be_bytes)
    }
    /// The next `length` bytes, or those of them that were captured; no field if there are none.
    pub(super) fn block(
        &mut self,
        name: &'static str,
        length: usize,
        say: impl FnOnce(&'a [u8]) -> Said,
    ) {
        let rest = self.rest();
        let bytes = &rest[..rest.len().min(length)];
        if !bytes.is_empty() {
            self.push(name, (self.at, bytes.len()), say(bytes));
            self.at += bytes.len();
        }
    }

    /// The next `N` bytes for several fields that share them.
    pub(super) fn shared<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = *self.rest().first_chunk::<N>()?;
        self.at += N;
        Some(bytes)
    }
    /// A field in bytes that were read: its place counts from the first of the last `back` bytes.
    pub(super) fn part(
        &mut self,
        name: &'static str,
        (back, from, length): (usize, usize, usize),
        said: Said,
    ) {
        self.push(name, (self.at - back + from, length), said);
    }

    fn push(&mut self, name: &'static str, (offset, length): (usize, usize), said: Said) {
        let Said { value, meaning } = said;
        self.fields.push(Field { layer: self.layer, name, offset, length, value, meaning });
    }
}
