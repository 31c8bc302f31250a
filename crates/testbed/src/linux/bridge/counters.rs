//! What the bridge counts while it runs, for other threads to read.

use std::sync::atomic::{AtomicU64, Ordering};

use tcplab_path::{Cause, Direction};

/// Live counters of a bridge. Only its thread writes, so a plain store does.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    directions: [DirectionCounters; 2],
    /// Frames lost outside the path, by the devices.
    pub(crate) device_drops: Counter,
    /// Frames that are missing in a capture.
    pub(crate) capture_drops: Counter,
    /// Verdicts that are missing in the ground truth.
    pub(crate) verdict_drops: Counter,
}

/// One direction of the path.
#[derive(Debug, Default)]
pub(crate) struct DirectionCounters {
    /// Packets that an endpoint sent into it.
    pub(crate) packets_in: Counter,
    /// Their bytes of IP.
    pub(crate) bytes_in: Counter,
    /// Packets handed to an endpoint.
    pub(crate) packets_out: Counter,
    /// Their bytes of IP.
    pub(crate) bytes_out: Counter,
    /// Packets that the path dropped.
    pub(crate) dropped: Counter,
    /// Of these, those for each cause, by its place in [`CAUSES`].
    dropped_for: [Counter; CAUSES.len()],
    /// Packets handed to an endpoint that the path made itself.
    pub(crate) made_out: Counter,
    /// Packets dropped that the path made itself.
    pub(crate) made_dropped: Counter,
}

/// The names of all causes ([`Cause::name`]), the common ones first.
const CAUSES: [&str; 11] = [
    "queue-full",
    "loss",
    "interruption",
    "aqm",
    "policed",
    "rule",
    "event",
    "too-big",
    "forgotten",
    "blackhole",
    "retries-exhausted",
];

impl DirectionCounters {
    /// How many packets the path dropped, by cause; causes with none are left out.
    pub(crate) fn dropped_for(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let each = CAUSES.into_iter().zip(self.dropped_for.iter().map(Counter::value));
        each.filter(|(_, packets)| *packets > 0)
    }

    /// To be called by one thread only.
    pub(super) fn drop_for(&self, cause: Cause) {
        self.dropped.add(1);
        let name = cause.name();
        if let Some(index) = CAUSES.iter().position(|known| *known == name) {
            self.dropped_for[index].add(1);
        }
    }
}

impl Counters {
    /// Those of one direction.
    pub(crate) fn direction(&self, direction: Direction) -> &DirectionCounters {
        &self.directions[direction as usize]
    }
}

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Its value.
    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// To be called by one thread only.
    pub(super) fn add(&self, more: u64) {
        self.0.store(self.value() + more, Ordering::Relaxed);
    }

    /// To be called by one thread only.
    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tcplab_path::Discipline;
    use tcplab_units::{Bytes, Instant, Span};

    use super::*;

    #[test]
    fn each_cause_has_its_counter() {
        let way = DirectionCounters::default();
        let (packets, bytes) = (1, Bytes::new(1500));
        let (from, to) = (Instant::ZERO, Instant::ZERO);
        let causes = [
            Cause::QueueFull { packets, bytes },
            Cause::Loss,
            Cause::Interruption { number: 1, from, to },
            Cause::Aqm { discipline: Discipline::Codel, waited: Span::ZERO, packets },
            Cause::Policed,
            Cause::Rule { number: 1, nth: 1 },
            Cause::Event { number: 1, nth: 1 },
            Cause::TooBig { limit: bytes },
            Cause::Forgotten,
            Cause::Blackhole,
            Cause::RetriesExhausted { attempts: 7 },
        ];
        for cause in causes {
            way.drop_for(cause);
        }
        way.drop_for(Cause::Loss);
        let expected: Vec<(&str, u64)> =
            causes.map(|cause| (cause.name(), 1 + u64::from(cause == Cause::Loss))).to_vec();
        assert_eq!(way.dropped_for().collect::<Vec<_>>(), expected);
        assert_eq!(way.dropped.value(), 12);
    }
}
