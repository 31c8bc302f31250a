//! The bytes that an application moves, each way.

use tcplab_units::{Bytes, Instant};

use crate::{Digest, Payload};

/// The bytes to write.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// Where they come from; zeros where there is nothing.
    pub(super) payload: Option<Payload>,
    /// The piece that a call is given, and how much of it the socket took.
    pub(super) piece: Vec<u8>,
    pub(super) taken: usize,
    /// What a call was given and did not take: the next call begins with it.
    spare: Vec<u8>,
}

/// What went one way.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// None where nobody looks at the bytes.
    pub(crate) digest: Option<Digest>,
    /// Of what was not urgent, where anything was.
    pub(crate) rest: Option<Digest>,
    pub(crate) bytes: Bytes,
    pub(crate) calls: u64,
    pub(crate) first: Option<Instant>,
    pub(crate) last: Option<Instant>,
}

impl Output {
    /// What `payload` gives.
    pub(super) fn new(payload: Payload) -> Output {
        Output { payload: Some(payload), piece: Vec::new(), taken: 0, spare: Vec::new() }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.taken == self.piece.len()
    }

    /// The next `size` bytes.
    pub(super) fn draw(&mut self, size: usize) {
        self.piece.resize(size, 0);
        let old = self.spare.len().min(size);
        self.piece[..old].copy_from_slice(&self.spare[..old]);
        self.spare.drain(..old);
        if let Some(payload) = &mut self.payload {
            payload.fill(&mut self.piece[old..]);
        }
        self.taken = 0;
    }

    /// What the socket did not take is for the next call.
    pub(super) fn give_up(&mut self) {
        if !self.is_taken() {
            let rest = self.piece.split_off(self.taken);
            self.spare.splice(..0, rest);
        }
        self.piece.clear();
        self.taken = 0;
    }
}

impl Stream {
    pub(crate) fn new() -> Stream {
        let digest = Some(Digest::new());
        Stream { digest, rest: None, bytes: Bytes::ZERO, calls: 0, first: None, last: None }
    }

    /// Bytes went this way; the last of them urgent where it `marks`.
    pub(crate) fn moved(&mut self, bytes: &[u8], now: Instant, marks: bool) {
        if bytes.is_empty() {
            return;
        }
        if let Some(digest) = &mut self.digest {
            if marks && self.rest.is_none() {
                self.rest = Some(digest.clone());
            }
            digest.update(bytes);
        }
        if let Some(rest) = &mut self.rest {
            rest.update(&bytes[..bytes.len() - usize::from(marks)]);
        }
        self.bytes += Bytes::from(bytes.len());
        self.calls += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    pub(crate) fn hex(&self) -> String {
        self.digest.as_ref().map(Digest::hex).unwrap_or_default()
    }
}
