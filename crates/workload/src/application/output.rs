//! The bytes that an application writes.

use crate::payload::Payload;

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
