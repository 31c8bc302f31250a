//! Lists of packets to be sent: the same for the kernel's queueing disciplines and for the path.

use tcplab_units::Rng;

/// A packet to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// In ns: since the first was sent, or, of one that was sent, since the Unix epoch.
    pub(crate) at: u64,
    /// Of the IP packet, in bytes.
    pub(crate) size: usize,
    /// Which flow it belongs to; each has a port of its own.
    pub(crate) flow: u16,
    /// Whether it may be marked (ECT).
    pub(crate) is_ect: bool,
}

/// So many packets of one size, at even distances in ns.
pub(crate) fn regular(count: usize, every: u64, size: usize) -> Vec<Arrival> {
    (0..count as u64)
        .map(|index| Arrival { at: index * every, size, flow: 0, is_ect: false })
        .collect()
}

/// A Poisson process with this mean distance in ns; sizes are drawn evenly from `sizes`.
pub(crate) fn poisson(seed: u64, count: usize, mean: f64, sizes: &[usize]) -> Vec<Arrival> {
    let mut rng = Rng::new(seed, "arrivals");
    let mut at = 0.0;
    let arrivals = (0..count).map(|_| {
        at += -rng.open_unit().ln() * mean;
        let size = sizes[rng.below(sizes.len() as u64) as usize];
        Arrival { at: at as u64, size, flow: 0, is_ect: false }
    });
    arrivals.collect()
}

/// Bursts at even distances in ns, each of so many packets at once.
pub(crate) fn bursts(count: usize, every: u64, length: usize, size: usize) -> Vec<Arrival> {
    let at = |index| (index / length) as u64 * every;
    (0..count).map(|index| Arrival { at: at(index), size, flow: 0, is_ect: false }).collect()
}

/// Several lists as one, each a flow of its own.
pub(crate) fn together(flows: &[Vec<Arrival>]) -> Vec<Arrival> {
    let numbered = flows.iter().zip(0..).flat_map(|(flow, number)| {
        flow.iter().map(move |arrival| Arrival { flow: number, ..*arrival })
    });
    let mut all: Vec<Arrival> = numbered.collect();
    all.sort_by_key(|arrival| (arrival.at, arrival.flow));
    all
}

/// The same packets, all of which may be marked.
pub(crate) fn ect(mut arrivals: Vec<Arrival>) -> Vec<Arrival> {
    for arrival in &mut arrivals {
        arrival.is_ect = true;
    }
    arrivals
}
