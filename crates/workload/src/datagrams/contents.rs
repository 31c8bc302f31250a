//! The bytes of datagrams.

use super::mark::DatagramMark;
use super::spec::Datagrams;
use crate::payload::Payload;

/// Makes the datagrams of both directions; either end knows all of them, to check what arrived
/// is what was sent.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    seed: u64,
    request: usize,
    /// None: the request comes back as it is.
    response: Option<usize>,
}

impl Contents {
    pub(super) fn new(spec: &Datagrams, seed: u64) -> Contents {
        Contents {
            seed,
            request: spec.request.as_u64() as usize,
            response: spec.response.map(|size| size.as_u64() as usize),
        }
    }

    pub(super) fn request(&self, mark: DatagramMark) -> Vec<u8> {
        datagram(mark, self.request, Payload::new(self.seed_of(mark)))
    }

    pub(super) fn answer(&self, mark: DatagramMark) -> Vec<u8> {
        match self.response {
            None => self.request(mark),
            Some(size) => datagram(mark, size, Payload::answering(self.seed_of(mark))),
        }
    }

    /// Tries of one request differ in their mark only.
    fn seed_of(&self, mark: DatagramMark) -> u64 {
        self.seed.rotate_left(32).wrapping_add(mark.request.into())
    }
}

fn datagram(mark: DatagramMark, size: usize, mut payload: Payload) -> Vec<u8> {
    let mut bytes = vec![0; size];
    payload.fill(&mut bytes[DatagramMark::LEN..]);
    mark.write(&mut bytes);
    bytes
}
