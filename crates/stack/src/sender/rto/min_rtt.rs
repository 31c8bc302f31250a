//! The RTT minimum of the last minutes.

/// How long the minimum is remembered (`tcp_min_rtt_wlen`), µs.
const REMEMBERED: u64 = 300_000_000;

/// A windowed minimum in three samples (Kathleen Nichols' filter, `win_minmax.c`).
#[derive(Debug, Default)]
pub(super) struct MinRtt {
    /// The best of the whole window, and of its later parts: when, and what.
    best: [Option<(u64, u64)>; 3],
}

impl MinRtt {
    /// The minimum, µs.
    pub(super) fn value(&self) -> Option<u64> {
        self.best[0].map(|(_, value)| value)
    }

    pub(super) fn take(&mut self, now: u64, value: u64) {
        let sample = (now, value);
        let [Some(first), Some(second), Some(third)] = self.best else {
            self.best = [Some(sample); 3];
            return;
        };
        if value <= first.1 || now - third.0 > REMEMBERED {
            self.best = [Some(sample); 3];
            return;
        }
        let mut best = [first, second, third];
        if value <= second.1 {
            best = [first, sample, sample];
        } else if value <= third.1 {
            best[2] = sample;
        }
        let age = now - best[0].0;
        if age > REMEMBERED {
            best = [best[1], best[2], sample];
            if now - best[0].0 > REMEMBERED {
                best = [best[1], best[2], sample];
            }
        } else if best[1].0 == best[0].0 && age > REMEMBERED / 4 {
            best = [best[0], sample, sample];
        } else if best[2].0 == best[1].0 && age > REMEMBERED / 2 {
            best[2] = sample;
        }
        self.best = best.map(Some);
    }
}
