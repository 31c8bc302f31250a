//! The bytes that an application writes.

use std::ops::Range;
use std::sync::Arc;

use crate::payload::Payload;
use crate::shared_payload::SharedPayload;

/// The bytes to write.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) source: Source,
    /// The block that a call is given a part of; used again if nobody else has it.
    block: Arc<[u8]>,
    /// What the socket has not taken of that part.
    left: Range<usize>,
    /// What a call was given and did not take: the next call begins with it.
    spare: Vec<u8>,
}

/// Where the bytes come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Zeros,
    Drawn(Payload),
    /// The world may share the blocks.
    Shared(SharedPayload),
}

impl Output {
    /// What `payload` gives.
    pub(super) fn new(payload: Payload) -> Output {
        let source = Source::Drawn(payload);
        Output { source, block: Arc::new([]), left: 0..0, spare: Vec::new() }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.left.is_empty()
    }

    /// What the socket has not taken.
    pub(super) fn left(&self) -> &[u8] {
        &self.block[self.left.clone()]
    }

    /// The same as a part of its block, if that may be shared.
    pub(super) fn shared(&self) -> Option<(&Arc<[u8]>, Range<usize>)> {
        matches!(self.source, Source::Shared(_)).then(|| (&self.block, self.left.clone()))
    }

    /// The socket took the first `count` bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.left.start += count;
    }

    /// The next `size` bytes.
    pub(super) fn draw(&mut self, size: usize) {
        if self.spare.is_empty()
            && let Source::Shared(payload) = &mut self.source
            && let Some((block, part)) = payload.take_whole(size)
        {
            (self.block, self.left) = (block, part);
            return;
        }
        if Arc::get_mut(&mut self.block).is_none_or(|block| block.len() < size) {
            self.block = vec![0; size].into();
        }
        self.left = 0..size;
        let block = Arc::get_mut(&mut self.block).expect("nobody else has it");
        let old = self.spare.len().min(size);
        block[..old].copy_from_slice(&self.spare[..old]);
        self.spare.drain(..old);
        match &mut self.source {
            Source::Zeros => {}
            Source::Drawn(payload) => payload.fill(&mut block[old..size]),
            Source::Shared(payload) => payload.fill(&mut block[old..size]),
        }
    }

    /// What the socket did not take is for the next call.
    pub(super) fn give_up(&mut self) {
        self.spare.splice(..0, self.block[self.left.clone()].iter().copied());
        self.left = 0..0;
    }
}
