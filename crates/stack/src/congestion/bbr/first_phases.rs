//! In which phases BBR begins its cycles.

use tcplab_units::Rng;

/// The number of phases in which a cycle may begin, without the draining one (`bbr_cycle_rand`).
const COUNT: u64 = 7;

/// The phases in which a connection begins its cycles, drawn at random. A kernel in virtual time
/// is given the same ones, so that it does as the model does.
#[derive(Debug)]
pub struct FirstPhases(Rng);

impl FirstPhases {
    /// Those that `seed` draws.
    pub fn new(seed: u64) -> FirstPhases {
        FirstPhases(Rng::new(seed, "phases of BBR"))
    }

    /// The next, 0 to 6, counted backwards from the end of the cycle.
    pub fn draw(&mut self) -> u8 {
        self.0.below(COUNT) as u8
    }
}
