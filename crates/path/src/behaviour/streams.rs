//! Random numbers for elements.

use tcplab_units::{Rng, Span};

use crate::direction::Direction;

/// Where an element takes its randomness from: streams with names of their own, so other elements
/// can come and go without shifting its draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams {
    pub(crate) seed: u64,
    pub(crate) direction: Direction,
    pub(crate) kind: &'static str,
    /// Which of its kind it is on this link, from 1.
    pub(crate) number: usize,
}

impl Streams {
    /// The element's own stream, such as `forward/loss/1`.
    pub(crate) fn own(self) -> Rng {
        let Streams { seed, direction, kind, number } = self;
        Rng::new(seed, &format!("{direction}/{kind}/{number}"))
    }
    /// A stream that elements of both directions may share, by the whole of its name, such as
    /// `interruption/1`.
    pub(crate) fn shared(self, name: &str) -> Rng {
        Rng::new(self.seed, name)
    }
    /// Another stream of the element, such as `forward/corrupt/1/bits`.
    pub(crate) fn named(self, name: &str) -> Rng {
        let Streams { seed, direction, kind, number } = self;
        Rng::new(seed, &format!("{direction}/{kind}/{number}/{name}"))
    }
}

/// An exponentially distributed time, by one draw; at least a nanosecond, so that time advances.
pub(crate) fn exponential(mean: Span, rng: &mut Rng) -> Span {
    let nanos = mean.as_nanos() as f64 * standard_exponential(rng);
    Span::from_nanos((nanos.round() as u64).max(1))
}

/// From the exponential distribution with mean 1, by inversion of its distribution function.
pub(crate) fn standard_exponential(rng: &mut Rng) -> f64 {
    -libm::log(rng.open_unit())
}
