//! Independent random loss.

use tcplab_units::{Instant, Probability, Rng};

use crate::Cause;
use crate::element::{Behaviour, Outbox, Transit};

/// Each packet is lost with the same probability, whatever became of those before it.
#[derive(Debug)]
pub(crate) struct Loss {
    probability: Probability,
    rng: Rng,
}

impl Loss {
    pub(crate) fn new(probability: Probability, rng: Rng) -> Loss {
        Loss { probability, rng }
    }
}

impl Behaviour for Loss {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        if self.probability.happens(&mut self.rng) {
            out.drop(now, packet, Cause::Loss);
        } else {
            out.pass(packet);
        }
    }
}
