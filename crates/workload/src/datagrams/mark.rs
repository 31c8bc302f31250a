//! The head of a datagram.

use std::fmt;

/// The header of each datagram: two numbers of four bytes, big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatagramMark {
    /// The number of the request, from 1.
    pub request: u32,
    /// Which try of it, from 1; of an answer, of the try that it answers.
    pub attempt: u32,
}

impl DatagramMark {
    /// Bytes.
    pub const LEN: usize = 8;

    /// The mark of a datagram, if it is long enough to have one.
    pub fn read(datagram: &[u8]) -> Option<DatagramMark> {
        let (request, rest) = datagram.split_first_chunk()?;
        let attempt = rest.first_chunk()?;
        Some(DatagramMark {
            request: u32::from_be_bytes(*request),
            attempt: u32::from_be_bytes(*attempt),
        })
    }

    pub(super) fn write(self, out: &mut [u8]) {
        out[..4].copy_from_slice(&self.request.to_be_bytes());
        out[4..8].copy_from_slice(&self.attempt.to_be_bytes());
    }
}

impl fmt::Display for DatagramMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}, try {}", self.request, self.attempt)
    }
}
