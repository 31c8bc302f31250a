//! The connections of a workload as one, where a trial has several.

use tcplab_trace::{Flow, Occurrences, RoundTrips, Totals, Transfer};
use tcplab_units::{Bytes, Instant, Rate, Span};

/// What is measured of the direction of the payload, of all connections: counts and times are
/// sums, rates those of all bytes from the first data to the last acknowledgement. Of the most in
/// flight, and of the largest window, the most of one connection. Quantiles of round trips are
/// medians of the connections': the samples themselves are not kept. It has no packets.
pub(super) fn together(flows: &[&Flow]) -> Flow {
    let mut all = Flow::default();
    for flow in flows {
        add_totals(&mut all.totals, &flow.totals);
        add_causes(&mut all, flow);
        all.episodes.extend(flow.episodes.iter().cloned());
        all.shares.add(&flow.shares);
    }
    all.round_trips = round_trips(flows);
    all.transfer = transfer(flows, &all.totals);
    all
}

/// The same of connections and their subflows on a second path. Round trips, windows and recovery
/// episodes are those of the connections' own subflows: two paths have no common ones.
pub(super) fn of_subflows(own: &[&Flow], later: &[&Flow]) -> Flow {
    let mut all = together(&[own, later].concat());
    if later.is_empty() {
        return all;
    }
    let first = match own {
        [only] => (*only).clone(),
        several => together(several),
    };
    all.round_trips = first.round_trips;
    all.episodes = first.episodes;
    all.totals.max_in_flight = first.totals.max_in_flight;
    all.totals.max_window = first.totals.max_window;
    all
}

fn add_totals(all: &mut Totals, one: &Totals) {
    all.data += one.data;
    all.retransmissions += one.retransmissions;
    all.retransmitted += one.retransmitted;
    all.max_in_flight = all.max_in_flight.max(one.max_in_flight);
    all.max_window = all.max_window.max(one.max_window);
}

fn add_causes(all: &mut Flow, one: &Flow) {
    let add = |sum: &mut Occurrences, more: &Occurrences| {
        if more.count > 0 {
            sum.count += more.count;
        }
    };
    let (all, one) = (&mut all.causes, &one.causes);
    add(&mut all.by_duplicate_acks, &one.by_duplicate_acks);
    add(&mut all.by_sack, &one.by_sack);
    add(&mut all.by_rack, &one.by_rack);
    add(&mut all.by_icmp, &one.by_icmp);
    add(&mut all.tail_loss_probes, &one.tail_loss_probes);
    add(&mut all.timeouts, &one.timeouts);
    add(&mut all.after_timeout, &one.after_timeout);
    add(&mut all.lost_retransmissions, &one.lost_retransmissions);
    add(&mut all.spurious.sent, &one.spurious.sent);
}

fn round_trips(flows: &[&Flow]) -> RoundTrips {
    let trips = || flows.iter().map(|flow| &flow.round_trips);
    let typical = |of: fn(&RoundTrips) -> Option<Span>| {
        let nanos: Vec<f64> = trips().filter_map(of).map(|span| span.as_nanos() as f64).collect();
        tcplab_stats::median(&nanos).map(|nanos| Span::from_nanos(nanos as u64))
    };
    let mean = |of: fn(&RoundTrips) -> (Option<Span>, u64)| {
        let (mut sum, mut all) = (0, 0);
        for (mean, samples) in trips().map(of) {
            sum += u128::from(mean.unwrap_or_default().as_nanos()) * u128::from(samples);
            all += u128::from(samples);
        }
        let mean = sum.checked_div(all).and_then(|nanos| u64::try_from(nanos).ok());
        mean.map(Span::from_nanos)
    };
    RoundTrips {
        min: trips().filter_map(|one| one.min).min(),
        max: trips().filter_map(|one| one.max).max(),
        mean: mean(|one| (one.mean, one.samples())),
        of_data: trips().map(|one| one.of_data).sum(),
        mean_of_data: mean(|one| (one.mean_of_data, one.of_data)),
        median: typical(|one| one.median),
        p95: typical(|one| one.p95),
        ..RoundTrips::default()
    }
}

/// Rate and efficiency, as the analyser has them of one connection.
fn transfer(flows: &[&Flow], totals: &Totals) -> Transfer {
    let times = || flows.iter().filter_map(|flow| times(flow));
    let begin = times().map(|(begin, _)| begin).min();
    let end = times().map(|(_, end)| end).max();
    let time = begin.zip(end).map(|(begin, end)| end.since(begin)).unwrap_or_default();
    let data = totals.data.as_u64() as f64;
    let again = totals.retransmitted.as_u64() as f64;
    Transfer {
        time,
        throughput: Rate::of(totals.data, time).filter(|_| totals.data >= Transfer::LEAST),
        efficiency: (data > 0.0).then(|| 100.0 * (data - again).max(0.0) / data),
        ..Transfer::default()
    }
}

/// The first data, and the acknowledgement of the last.
fn times(flow: &Flow) -> Option<(Instant, Instant)> {
    let first = flow.segments.iter().find(|segment| segment.payload > Bytes::ZERO)?.at;
    Some((first, first + flow.transfer.time))
}

#[cfg(test)]
mod tests {
    use tcplab_trace::{Episode, EpisodeKind, Evidence};

    use super::*;

    fn episode() -> Episode {
        Episode {
            kind: EpisodeKind::WithoutTimeLag,
            lost: Vec::new(),
            first_lost_sent: Instant::ZERO,
            evidence_at: Instant::ZERO,
            evidence: Evidence::Sack { frame: 1 },
            first_retransmission: None,
            repaired_at: None,
            retransmissions: 1,
            retransmitted: Bytes::ZERO,
            timeouts: 0,
            probes: 0,
            spurious: 0,
            silence: None,
            frames: (1, 2),
        }
    }

    #[test]
    fn subflows_add_what_was_sent_but_no_round_trips() {
        let flow = |data: u64, again: u64, milliseconds: u64| {
            let mut flow = Flow::default();
            flow.totals.data = Bytes::new(data);
            flow.totals.retransmissions = again;
            flow.episodes = vec![episode(); again as usize];
            flow.totals.max_in_flight = Bytes::new(data / 10);
            flow.round_trips.median = Some(Span::from_millis(milliseconds));
            flow
        };
        let (first, second) = (flow(1_000, 1, 20), flow(500, 7, 90));
        let all = of_subflows(&[&first], &[&second]);
        assert_eq!((all.totals.data, all.totals.retransmissions), (Bytes::new(1_500), 8));
        assert_eq!(all.totals.max_in_flight, Bytes::new(100));
        assert_eq!(all.round_trips, first.round_trips);
        assert_eq!(all.episodes.len(), 1, "those of the first, as in episodes.csv");
        let none = of_subflows(&[&first, &second], &[]);
        assert_eq!(none.round_trips.median, Some(Span::from_millis(55)));
    }
}
