//! Other stations that always have something to send.

use tcplab_units::{Rng, Span};

/// What a station meets on a medium that it shares with `stations` others which always have
/// something to send.
///
/// Bianchi's model (Performance analysis of the IEEE 802.11 distributed coordination function, IEEE
/// JSAC 18(3), 2000): in each slot each other station sends with the same probability τ, whatever
/// happened before. A slot in which one does takes as long as its frame; a frame collides if any
/// other sends in its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contention {
    slot: Span,
    /// The length of a slot in which another station sends, until backoff resumes.
    busy_slot: Span,
    /// The probability that another sends in a slot, in 2⁻⁶⁴.
    busy: u64,
    /// The part of time in which another is sending, in 2⁻⁶⁴.
    busy_time: u64,
}

impl Contention {
    pub(super) fn new(
        stations: u32,
        (cw_min, cw_max): (u32, u32),
        slot: Span,
        busy_slot: Span,
    ) -> Contention {
        let busy = collision(stations, cw_min, cw_max);
        let (sending, silent) =
            (busy * busy_slot.as_nanos() as f64, (1.0 - busy) * slot.as_nanos() as f64);
        let in_units = |p: f64| (p * 2_f64.powi(64)) as u64;
        let busy_time = in_units(sending / (sending + silent));
        Contention { slot, busy_slot, busy: in_units(busy), busy_time }
    }

    /// The duration of this many backoff slots.
    pub(super) fn backoff(&self, slots: u64, rng: &mut Rng) -> Span {
        if self.busy == 0 {
            return self.slot * slots;
        }
        let busy = (0..slots).filter(|_| rng.next_u64() < self.busy).count() as u64;
        self.slot * (slots - busy) + self.busy_slot * busy
    }

    /// The mean duration of a backoff slot, in nanoseconds.
    pub(super) fn mean_slot(&self) -> f64 {
        let busy = share(self.busy);
        busy * self.busy_slot.as_nanos() as f64 + (1.0 - busy) * self.slot.as_nanos() as f64
    }

    /// How long a packet waits in the mean that comes at some moment, in nanoseconds: where another
    /// is sending, for half of that, and then for `backoff`.
    pub(super) fn mean_wait(&self, backoff: f64) -> f64 {
        share(self.busy_time) * (self.busy_slot.as_nanos() as f64 / 2.0 + backoff)
    }

    /// Whether a frame sent now collides.
    pub(super) fn collides(&self, rng: &mut Rng) -> bool {
        self.busy > 0 && rng.next_u64() < self.busy
    }

    /// For how much longer the medium is in use, found at some moment; none if it is free.
    pub(super) fn found_busy(&self, rng: &mut Rng) -> Option<Span> {
        if self.busy == 0 || rng.next_u64() >= self.busy_time {
            return None;
        }
        Some(Span::from_nanos(rng.below(self.busy_slot.as_nanos())))
    }
}

/// Of a probability in 2⁻⁶⁴.
fn share(units: u64) -> f64 {
    units as f64 / 2_f64.powi(64)
}

/// The probability that at least one of `stations` others sends in a slot: the fixed point of
/// Bianchi's equations (7) and (9), found by halving. Only additions, multiplications and
/// divisions, so the same on every machine.
pub(super) fn collision(stations: u32, cw_min: u32, cw_max: u32) -> f64 {
    if stations == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let p = low.midpoint(high);
        let silent =
            (0..stations).fold(1.0, |silent, _| silent * (1.0 - attempt(p, cw_min, cw_max)));
        // The busier the medium, the less each sends: it falls with p, and p itself rises.
        if 1.0 - silent > p { low = p } else { high = p }
    }
    low.midpoint(high)
}

/// Bianchi's τ: how likely a station sends in a slot if a share `p` of its frames collides. One
/// over the mean number of slots between attempts, the stages of the window weighted by how often
/// they are reached: p to the power of the stage, and the last for all further failures.
fn attempt(p: f64, cw_min: u32, cw_max: u32) -> f64 {
    let (mut slots, mut reached, mut window) = (0.0, 1.0, f64::from(cw_min));
    while window < f64::from(cw_max) {
        slots += reached * (1.0 - p) * (window / 2.0 + 1.0);
        reached *= p;
        window = 2.0 * window + 1.0;
    }
    1.0 / (slots + reached * (window / 2.0 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation (7) as it is printed, W being the first window and m the number of doublings.
    fn tau(p: f64, w: f64, m: i32) -> f64 {
        2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(m)))
    }

    #[test]
    fn fixed_point_solves_published_equations() {
        for stations in [1, 2, 4, 9, 19, 49] {
            let p = collision(stations, 31, 1023);
            let silent = (1.0 - tau(p, 32.0, 5)).powi(stations as i32);
            assert!((p - (1.0 - silent)).abs() < 1e-9, "{stations} others: {p}");
        }
    }
}
