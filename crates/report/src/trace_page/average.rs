//! The data of a graph of throughput, for a reader who averages it over another span.

use tcplab_plot::{View, delivered_amounts, sent_amounts};
use tcplab_trace::Flow;
use tcplab_units::{Instant, Span};

use super::shown::GraphChoice;
use crate::html::pack::pack;

/// The most amounts of a layer on a page.
const MOST: usize = 1 << 14;

pub(crate) struct AverageView {
    /// Seconds.
    pub(crate) span: String,
    pub(crate) shortest: String,
    pub(crate) longest: String,
    /// Packed JSON: for each layer, microseconds since the amount before (the left edge, for the
    /// first) and bytes, in turn.
    pub(crate) data: String,
}

impl AverageView {
    pub(crate) fn new(flow: &Flow, view: &View<'_>, span: Span) -> AverageView {
        let layers = [("sent", sent_amounts(flow)), ("goodput", delivered_amounts(flow))];
        let layers = layers.map(|(class, amounts)| {
            let numbers = written(&joined(&amounts, view.from));
            format!("\"{class}\":[{numbers}]")
        });
        AverageView {
            span: seconds(span),
            shortest: seconds(GraphChoice::SHORTEST_AVERAGE),
            longest: seconds(GraphChoice::LONGEST_AVERAGE),
            data: pack(format!("{{{}}}", layers.join(",")).as_bytes()),
        }
    }
}

fn seconds(span: Span) -> String {
    span.as_secs_f64().to_string()
}

/// Amounts by microseconds since `from`: those of a microsecond together, or if that are too many,
/// of 2, 5, 10 microseconds and so on.
fn joined(amounts: &[(Instant, u64)], from: Instant) -> Vec<(u64, u64)> {
    let data = amounts.iter().filter(|(_, bytes)| *bytes > 0);
    let mut all: Vec<(u64, u64)> =
        data.map(|(at, bytes)| (at.since(from).as_nanos() / 1_000, *bytes)).collect();
    all.sort_unstable();
    let mut widths = (0..17).flat_map(|power| [1, 2, 5].map(|n| n * 10_u64.pow(power)));
    loop {
        let Some(width) = widths.next() else { return all };
        for (at, _) in &mut all {
            *at -= *at % width;
        }
        all = all
            .chunk_by(|one, next| one.0 == next.0)
            .map(|same| (same[0].0, same.iter().map(|(_, bytes)| bytes).sum()))
            .collect();
        if all.len() <= MOST {
            return all;
        }
    }
}

fn written(amounts: &[(u64, u64)]) -> String {
    let mut before = 0;
    let pair = |(at, bytes): &(u64, u64)| {
        let since = at - before;
        before = *at;
        format!("{since},{bytes}")
    };
    amounts.iter().map(pair).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_joined_and_none_is_lost() {
        let amounts: Vec<(Instant, u64)> =
            (0..100_000).map(|n| (Instant::from_nanos(5_000 + n * 1_500), n % 3)).collect();
        let joined = joined(&amounts, Instant::from_nanos(5_000));
        assert!(joined.len() <= MOST && joined.len() > MOST / 4, "{}", joined.len());
        let bytes = |all: &mut dyn Iterator<Item = u64>| all.sum::<u64>();
        assert_eq!(
            bytes(&mut joined.iter().map(|(_, bytes)| *bytes)),
            bytes(&mut amounts.iter().map(|(_, bytes)| *bytes)),
        );
        let exact = [(Instant::from_nanos(7_000), 10), (Instant::from_nanos(9_999), 4)];
        assert_eq!(written(&super::joined(&exact, Instant::from_nanos(5_000))), "2,10,2,4");
    }
}
