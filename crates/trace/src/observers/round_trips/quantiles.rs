//! Quantiles of times, within two per cent, in little memory.

use tcplab_units::Span;

use crate::fold::folded;

/// As many are kept as they are.
const FEW: usize = 6;
/// Classes in each doubling: 3.5 % wide, so that none is wider than 4 % with its bounds rounded.
const PER_DOUBLING: usize = 20;
/// Where the classes of a doubling begin, in 256ths: the powers of 2^(1/20).
const STARTS: [u16; PER_DOUBLING] = [
    256, 265, 274, 284, 294, 304, 315, 326, 338, 350, 362, 375, 388, 402, 416, 431, 446, 461, 478,
    495,
];
/// Times below 2^10 ns, a microsecond, are not distinguished, nor those above 2^37 ns, two minutes.
const DOUBLINGS: std::ops::Range<u32> = 10..37;
/// Classes are added by as many at least.
const STEP: usize = 8;

/// The class within its doubling, by the eight bits below the highest.
const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let (mut classes, mut class, mut bits) = ([0; 256], 0, 0);
    while bits < 256 {
        while class + 1 < PER_DOUBLING && STARTS[class + 1] as usize <= 256 + bits {
            class += 1;
        }
        classes[bits] = class as u8;
        bits += 1;
    }
    classes
}

/// The first few times as they are, then a logarithmic histogram, about 100 bytes per decade.
#[derive(Debug, Default)]
pub(crate) struct Quantiles {
    few: [u64; FEW],
    /// Filled of `few`.
    filled: u8,
    /// Each count represents 2^`scale` samples.
    scale: u8,
    /// Decides which times are counted where one count represents several.
    lot: u32,
    /// The class of the first of `counts`.
    first: u16,
    counts: Vec<u16>,
}
folded! { Quantiles { few, filled, scale, lot, first, counts } }

impl Quantiles {
    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// One more, in nanoseconds.
    pub(crate) fn add(&mut self, nanos: u64) {
        if usize::from(self.filled) < FEW {
            self.few[usize::from(self.filled)] = nanos;
            self.filled += 1;
            return;
        }
        if self.counts.is_empty() {
            for nanos in self.few {
                self.count(nanos);
            }
        }
        if self.scale == 0 || self.is_drawn() {
            self.count(nanos);
        }
    }

    /// The smallest time such that at least `part` of `of` are not longer; within 2 %.
    pub(crate) fn quantile(&self, part: u64, of: u64) -> Option<Span> {
        if self.counts.is_empty() {
            let mut few = self.few;
            let few = &mut few[..usize::from(self.filled)];
            few.sort_unstable();
            let rank = (few.len() as u64 * part).div_ceil(of).max(1);
            return few.get(rank as usize - 1).copied().map(Span::from_nanos);
        }
        let all: u64 = self.counts.iter().copied().map(u64::from).sum();
        let rank = (all * part).div_ceil(of).max(1);
        let mut below = 0;
        let at = self.counts.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        Some(middle(usize::from(self.first) + at))
    }

    fn count(&mut self, nanos: u64) {
        let class = class(nanos);
        let at = class.wrapping_sub(usize::from(self.first));
        if at >= self.counts.len() {
            self.make_room(class);
        }
        let count = &mut self.counts[class - usize::from(self.first)];
        *count += 1;
        if *count == u16::MAX {
            self.scale += 1;
            for count in &mut self.counts {
                *count = count.div_ceil(2);
            }
        }
    }

    fn make_room(&mut self, class: usize) {
        let first = usize::from(self.first);
        if self.counts.is_empty() {
            self.first = class as u16;
            self.counts.push(0);
        } else if class < first {
            let more = (first - class).max(STEP.min(first));
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first -= more as u16;
        } else {
            self.counts.resize(class - first + STEP, 0);
        }
    }

    /// Draws one of 2^`scale`: by lot, since every second one, say, is often unlike the others.
    fn is_drawn(&mut self) -> bool {
        // The constants of Numerical Recipes, section 7.1.
        self.lot = self.lot.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.lot >> (32 - u32::from(self.scale)) == 0
    }
}

fn class(nanos: u64) -> usize {
    let nanos = nanos.clamp(1 << DOUBLINGS.start, (1 << DOUBLINGS.end) - 1);
    let doubling = nanos.ilog2();
    let bits = (nanos >> (doubling - 8)) as usize & 0xff;
    (doubling - DOUBLINGS.start) as usize * PER_DOUBLING + usize::from(CLASS[bits])
}

/// The harmonic mean of the bounds of a class: in proportion as far from both.
fn middle(class: usize) -> Span {
    let shift = class / PER_DOUBLING + DOUBLINGS.start as usize - 8;
    let start = class % PER_DOUBLING;
    let low = u128::from(STARTS[start]) << shift;
    let high = u128::from(STARTS.get(start + 1).copied().unwrap_or(512)) << shift;
    Span::from_nanos((2 * low * high / (low + high)) as u64)
}
