//! Numbers and texts as the bytes of an index, ended by a hash of all.

use std::io::{self, Read, Write};

use blake3::Hasher;

/// Bytes that are written or read at once.
const CHUNK: usize = 1 << 16;
/// The length of the hash at the end.
const HASH: u64 = 32;

/// Writes an index that is to be complete when [ended](Self::end).
#[derive(Debug)]
pub(super) struct ByteWriter<W> {
    out: W,
    buffer: Vec<u8>,
    hash: Hasher,
    written: u64,
}

impl<W: Write> ByteWriter<W> {
    pub(super) fn new(out: W) -> ByteWriter<W> {
        ByteWriter { out, buffer: Vec::with_capacity(CHUNK), hash: Hasher::new(), written: 0 }
    }

    /// How many bytes were written.
    pub(super) fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// A number in groups of seven bits, the lowest first; all but the last have the highest bit.
    #[inline]
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.buffer.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.buffer.push(number as u8);
    }

    pub(super) fn numbers(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.number(*number);
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Writes what has gathered, if that is enough.
    #[inline]
    pub(super) fn pass_on(&mut self) -> io::Result<()> {
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    /// Writes the rest and the hash.
    pub(super) fn end(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.write_all(self.hash.finalize().as_bytes())?;
        Ok(self.out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hash.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Reads an index of a known length. All that it gives counts only when it has [ended](Self::ends).
#[derive(Debug)]
pub(super) struct ByteReader<R> {
    source: R,
    /// Bytes before the hash that are not in the buffer yet.
    left: u64,
    buffer: Vec<u8>,
    at: usize,
    hash: Hasher,
}

impl<R: Read> ByteReader<R> {
    /// None if there is no room for a hash.
    pub(super) fn new(source: R, len: u64) -> Option<ByteReader<R>> {
        let left = len.checked_sub(HASH)?;
        Some(ByteReader { source, left, buffer: Vec::new(), at: 0, hash: Hasher::new() })
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Some(byte)
    }

    #[cold]
    fn fill(&mut self) -> Option<()> {
        let more = self.left.min(CHUNK as u64);
        if more == 0 {
            return None;
        }
        self.buffer.resize(more as usize, 0);
        self.source.read_exact(&mut self.buffer).ok()?;
        self.hash.update(&self.buffer);
        (self.left, self.at) = (self.left - more, 0);
        Some(())
    }

    /// A number; none if it has more than 64 bits.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            if byte < 0x80 {
                return (bits << shift >> shift == bits).then_some(number);
            }
        }
        None
    }

    /// So many bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Option<Vec<u8>> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// A text of at most so many bytes.
    pub(super) fn text(&mut self, most: usize) -> Option<String> {
        let len = usize::try_from(self.number()?).ok().filter(|len| *len <= most)?;
        String::from_utf8(self.bytes(len)?).ok()
    }

    /// Whether only the right hash is left.
    pub(super) fn ends(mut self) -> bool {
        let mut hash = [0; HASH as usize];
        let is_all = self.left == 0 && self.at == self.buffer.len();
        is_all && self.source.read_exact(&mut hash).is_ok() && self.hash.finalize() == hash
    }
}
