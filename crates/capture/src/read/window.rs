//! The stretch of a stream that is in memory.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// How much is asked of the source at once, at least.
const CHUNK: usize = 256 << 10;
/// How much is asked of it behind a jump: a few records, since the next jump may follow them. Each
/// further time it is twice as much.
const AFTER_JUMP: usize = 16 << 10;

/// A stretch of a stream: some bytes that were passed and are still lent, and the bytes ahead.
#[derive(Debug)]
pub(super) struct Window<R: ?Sized> {
    buffer: Vec<u8>,
    /// The bytes ahead; before them lies what was passed.
    ahead: Range<usize>,
    passed: u64,
    /// How much is asked of the source at once, at most.
    most: usize,
    source: R,
}

impl<R> Window<R> {
    pub(super) fn new(source: R) -> Window<R> {
        Window { buffer: Vec::new(), ahead: 0..0, passed: 0, most: usize::MAX, source }
    }
}

impl<R: ?Sized> Window<R> {
    pub(super) fn source(&self) -> &R {
        &self.source
    }
    /// How many bytes of the stream were passed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }
    /// What was read and not yet passed.
    #[inline]
    pub(super) fn ahead(&self) -> &[u8] {
        &self.buffer[self.ahead.clone()]
    }
    /// The bytes of a range that [`Window::pass`] gave, until the next call of [`Window::want`].
    #[inline]
    pub(super) fn at(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }
    /// Passes the next `len` bytes, which must be ahead, and says where they lie.
    #[inline]
    pub(super) fn pass(&mut self, len: usize) -> Range<usize> {
        assert!(len <= self.ahead.len(), "what is passed was read before");
        let passed = self.ahead.start..self.ahead.start + len;
        self.ahead.start += len;
        self.passed += len as u64;
        passed
    }
}

impl<R: Read + ?Sized> Window<R> {
    /// Reads until `len` bytes are ahead; whether there are. Memory grows only with bytes read.
    #[inline]
    pub(super) fn want(&mut self, len: usize) -> io::Result<bool> {
        if self.ahead.len() >= len { Ok(true) } else { self.fill(len) }
    }

    #[cold]
    fn fill(&mut self, len: usize) -> io::Result<bool> {
        while self.ahead.len() < len {
            self.make_room();
            let end = self.ahead.end.saturating_add(self.most).min(self.buffer.len());
            match self.source.read(&mut self.buffer[self.ahead.end..end]) {
                Ok(0) => return Ok(false),
                Ok(more) => self.ahead.end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.most = self.most.saturating_mul(2);
        }
        Ok(true)
    }

    fn make_room(&mut self) {
        if self.ahead.end < self.buffer.len() {
            return;
        }
        let kept = self.ahead.len();
        if self.buffer.len() - kept < CHUNK / 2 {
            // Fresh zeros cost nothing until they are written over; a short file fills few of them.
            let mut larger = vec![0; (self.buffer.len() * 2).max(CHUNK)];
            larger[..kept].copy_from_slice(&self.buffer[self.ahead.clone()]);
            self.buffer = larger;
        } else {
            self.buffer.copy_within(self.ahead.clone(), 0);
        }
        self.ahead = 0..kept;
    }
}

impl<R: Read + Seek + ?Sized> Window<R> {
    /// Goes to this byte of the stream, of which nothing is lent then.
    pub(super) fn jump_to(&mut self, at: u64) -> io::Result<()> {
        let near = at.checked_sub(self.passed).and_then(|len| usize::try_from(len).ok());
        if let Some(len) = near.filter(|len| *len <= self.ahead.len()) {
            self.pass(len);
            return Ok(());
        }
        self.source.seek(SeekFrom::Start(at))?;
        (self.ahead, self.passed, self.most) = (0..0, at, AFTER_JUMP);
        Ok(())
    }
}
