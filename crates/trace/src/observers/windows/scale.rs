//! The window scale, inferred from data where no SYN was captured.

use tcplab_units::Offset;

use crate::fold::folded;

/// The largest shift (RFC 7323 section 2.3).
const LARGEST: u8 = 14;
/// As many flights that end exactly at the window's edge are no chance.
const CERTAIN: u8 = 3;

/// The scale, inferred from data: a flight larger than the window by some scale excludes that
/// scale; one that ends exactly at its edge supports it. It is known if no larger scale is left, or
/// if flights met the edge of only one scale repeatedly.
#[derive(Debug, Default)]
pub(crate) struct ScaleGuess {
    at_least: u8,
    met: [u8; LARGEST as usize + 1],
    last_met: Offset,
}
folded! { ScaleGuess { at_least, met, last_met } }

impl ScaleGuess {
    /// Data up to `flight` bytes above `ack`, which came with `window` in its header.
    pub(crate) fn sent(&mut self, window: u32, flight: u64, ack: Offset) {
        let window = u64::from(window);
        // What goes beyond a zero window is a probe.
        if window == 0 || flight == 0 {
            return;
        }
        while self.at_least < LARGEST && flight > window << self.at_least {
            self.at_least += 1;
        }
        let shift = flight.ilog2().saturating_sub(window.ilog2());
        if let Some(met) = self.met.get_mut(shift as usize)
            && window << shift == flight
            && ack != self.last_met
        {
            *met = met.saturating_add(1);
            self.last_met = ack;
        }
    }

    pub(crate) fn scale(&self) -> Option<u8> {
        let possible = || (self.at_least..=LARGEST).filter(|&s| self.met[usize::from(s)] > 0);
        match (possible().next(), possible().nth(1)) {
            _ if self.at_least == LARGEST => Some(LARGEST),
            (Some(met), None) if self.met[usize::from(met)] >= CERTAIN => Some(met),
            _ => None,
        }
    }
}
