//! What a session wants to send.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A part of a file that is to be sent.
#[derive(Debug, Clone)]
pub struct FilePart {
    file: Arc<OwnedFd>,
    offset: u64,
    left: u64,
}

impl FilePart {
    /// The first `length` bytes of `file`.
    pub fn new(file: Arc<OwnedFd>, length: u64) -> FilePart {
        FilePart { file, offset: 0, left: length }
    }

    /// Where the next byte lies.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes that are still to be sent.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// `count` bytes more were sent.
    pub(crate) fn advance(&mut self, count: u64) {
        self.offset += count;
        self.left = self.left.saturating_sub(count);
    }
}

impl AsFd for FilePart {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What follows once all output is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum After {
    /// The conversation continues.
    #[default]
    Continue,
    /// The connection is closed: the client has said that it sends no more.
    Close,
    /// The connection is closed in one direction, and later input is discarded until a timeout: a
    /// full close would send an RST, and the client could lose unread data (RFC 9112, section 9.6).
    Linger,
}

/// What a session wants to send and has not: bytes, then perhaps a part of a file, then perhaps the
/// end. It is full when there is enough to keep the connection busy: a session then waits, and so
/// does its client.
#[derive(Debug, Default)]
pub struct Output {
    bytes: Cow<'static, [u8]>,
    sent: usize,
    file: Option<FilePart>,
    after: After,
    requests: u64,
    refusals: u64,
}

impl Output {
    /// Enough bytes. A session may exceed it by one answer's head and small body.
    pub const FULL: usize = 64 << 10;

    /// Whether a session has to wait.
    pub fn is_full(&self) -> bool {
        self.file.is_some() || self.pending().len() >= Output::FULL || self.after != After::Continue
    }

    /// Bytes that may still be added.
    pub fn room(&self) -> usize {
        if self.is_full() { 0 } else { Output::FULL - self.pending().len() }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.to_mut().extend_from_slice(bytes);
    }

    /// Adds static bytes, which are not copied if no other output is pending.
    pub fn push_lasting(&mut self, bytes: &'static [u8]) {
        if self.pending().is_empty() {
            (self.bytes, self.sent) = (Cow::Borrowed(bytes), 0);
        } else {
            self.push(bytes);
        }
    }

    /// Room for that many bytes, so that adding them moves nothing.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.to_mut().reserve(bytes);
    }

    /// Adds a part of a file, after which nothing can be added before it is sent.
    pub fn push_file(&mut self, part: FilePart) {
        self.file = Some(part).filter(|part| part.left > 0);
    }

    /// Ends the output; `after` follows once all is sent.
    pub fn end(&mut self, after: After) {
        self.after = after;
    }

    /// A request was understood; for the statistics.
    pub fn count_request(&mut self) {
        self.requests += 1;
    }

    /// A request was refused; for the statistics.
    pub fn count_refusal(&mut self) {
        self.refusals += 1;
    }

    /// Bytes that are to be sent, before the file.
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// The file that is to be sent once the bytes are.
    pub fn file(&self) -> Option<&FilePart> {
        self.file.as_ref()
    }

    /// What follows once all is sent.
    pub fn after(&self) -> After {
        self.after
    }

    /// Whether all is sent.
    pub fn is_empty(&self) -> bool {
        self.pending().is_empty() && self.file.is_none()
    }

    /// `count` pending bytes were sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.bytes.len() {
            // An idle connection holds no memory for what it once sent.
            self.bytes = Cow::default();
            self.sent = 0;
        }
    }

    /// `count` bytes of the file were sent.
    pub(crate) fn file_sent(&mut self, count: u64) {
        if let Some(file) = &mut self.file {
            file.advance(count);
        }
        self.file = self.file.take().filter(|file| file.left > 0);
    }

    /// Takes all pending bytes; they count as sent.
    pub(crate) fn take_pending(&mut self) -> Cow<'static, [u8]> {
        let sent = std::mem::take(&mut self.sent);
        match std::mem::take(&mut self.bytes) {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[sent..]),
            Cow::Owned(mut bytes) => {
                bytes.drain(..sent);
                Cow::Owned(bytes)
            }
        }
    }

    /// Requests and refusals counted since the last time.
    pub(crate) fn take_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.requests), std::mem::take(&mut self.refusals))
    }
}
