//! What a trial takes, found out from a part of it in virtual time.

use std::time::{Duration, Instant as Now};

use tcplab_path::Direction;
use tcplab_scenario::{Case, RouteSpec, trial_seed};
use tcplab_sim::Measured;
use tcplab_units::{Instant, Span};

use crate::plan::{Plan, is_simulated};

/// What a trial in virtual time takes with its captures and their analysis, over what its packets
/// alone take: a rule of thumb. A run says better once it has begun.
const WHOLE: f64 = 4.0;
/// What a trial in virtual time takes however short it is: its files.
const FILES: f64 = 0.01;
/// What the report of a trial takes over what the trial takes in virtual time: it reads the packets
/// again and draws them. Measured: 0.13 to 0.22 in series of 7 to 21 trials.
const REPORT: f64 = 0.2;
/// What a trial on kernels in virtual time takes besides: both boot and end,
const BOOT: f64 = 0.3;
/// and for each packet. Measured: 25 to 60 µs.
const TURN: f64 = 5e-5;
/// What a trial on the kernel takes besides its transfer: namespaces, devices, analysis.
const SET_UP: f64 = 0.5;
/// What loopback moves in a second, about.
const LOOPBACK: f64 = 2e9;
/// What a packet takes in the path's log, one of cross traffic too,
const LOGGED: f64 = 210.0;
/// and with what it takes in a capture besides its data, twice.
const PACKET: f64 = 2.0 * 145.0 + LOGGED;
/// What two looks at `TCP_INFO` take.
const SAMPLE: f64 = 400.0;
/// Headers of IPv4 and TCP with timestamps; the rest of what captures keep of a packet is data.
const HEADERS: f64 = 52.0;

/// What a trial takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// Wall-clock, with its analysis.
    pub(super) seconds: f64,
    /// Seconds that its part of the report takes, where its packets are kept.
    pub(super) report: f64,
    /// Of its packets.
    pub(super) bytes: f64,
}

/// What a trial of each case takes; those that there was no time for are taken for average ones.
pub(super) fn costs(plan: &Plan, cases: &[Case], patience: Duration) -> Vec<Cost> {
    let begun = Now::now();
    let mut costs = Vec::new();
    for case in cases {
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() && !costs.is_empty() {
            break;
        }
        let share = patience / cases.len().min(8) as u32;
        costs.push(cost(plan, case, share.min(left)));
    }
    let count = costs.len() as f64;
    let mean = |of: fn(&Cost) -> f64| costs.iter().map(of).sum::<f64>() / count;
    let usual = Cost {
        seconds: mean(|cost| cost.seconds),
        report: mean(|cost| cost.report),
        bytes: mean(|cost| cost.bytes),
    };
    costs.resize(cases.len(), usual);
    costs
}

fn cost(plan: &Plan, case: &Case, patience: Duration) -> Cost {
    let simulated = is_simulated(plan.world, case);
    let amount = case.workload.amount().as_u64() as f64;
    let TrialEstimate { seconds, packets, payload, spent } =
        estimate_trial(case, trial_seed(plan.seed, 1), patience);
    let seconds = match &case.workload.load {
        Some(load) => load.length().map_or(1.0, Span::as_secs_f64),
        None if case.path.same_host => amount / LOOPBACK,
        None => seconds,
    };
    let looks = match case.sampling.interval() {
        Some(interval) => seconds / interval.as_secs_f64(),
        None => packets / 2.0,
    };
    let most = plan.snaplen_of(case).map_or(f64::MAX, f64::from) - HEADERS;
    let data = 2.0 * payload.min(packets / 2.0 * most);
    let guests = if plan.has_kernel(case) { BOOT + packets * TURN } else { 0.0 };
    let in_virtual_time = FILES + spent * WHOLE;
    let crossing = crossing(case, Span::from_secs_f64(seconds));
    Cost {
        seconds: if simulated { in_virtual_time + guests } else { SET_UP + seconds },
        report: in_virtual_time * REPORT,
        bytes: data + packets * PACKET + crossing * LOGGED + looks * SAMPLE,
    }
}

/// How many packets of cross traffic come to the paths of a trial.
fn crossing(case: &Case, lasting: Span) -> f64 {
    let paths = [Some(&case.path), case.second_path.as_ref()];
    let links = paths.into_iter().flatten().flat_map(|path| {
        Direction::BOTH.into_iter().filter_map(move |direction| path.link(direction).ok())
    });
    links.map(|link| link.cross_packets(Instant::ZERO + lasting)).sum()
}

/// A trial's course in virtual time, with nothing recorded.
struct TrialEstimate {
    /// Virtual ones.
    seconds: f64,
    packets: f64,
    /// Bytes that arrive.
    payload: f64,
    /// Real seconds that it took to find out.
    spent: f64,
}

/// Measures a trial on models; without what they do not have of a kernel, as far as is necessary.
fn measure(
    case: &Case,
    seed: u64,
    until: Span,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Option<Measured> {
    let mut measure = |case: &Case| tcplab_sim::measure(case, seed, until, is_stopped).ok();
    if let Some(measured) = measure(case) {
        return Some(measured);
    }
    let mut plain = case.clone();
    for end in [&mut plain.client, &mut plain.server] {
        (end.sysctl, end.module) = Default::default();
        end.route = RouteSpec::default();
    }
    if let Some(measured) = measure(&plain) {
        return Some(measured);
    }
    for end in [&mut plain.client, &mut plain.server] {
        (end.socket, end.accepted) = Default::default();
    }
    for flow in &mut plain.flows {
        (flow.spec.client, flow.spec.server) = Default::default();
    }
    measure(&plain)
}

/// Watches a trial from its beginning for longer and longer, until it is over or patience is; then
/// it is taken to continue as before.
fn estimate_trial(case: &Case, seed: u64, patience: Duration) -> TrialEstimate {
    let limit = case.limits.trial;
    let begun = Now::now();
    let mut watched = Span::from_millis(500).min(limit);
    loop {
        let from = Now::now();
        // A trial that takes no virtual time would not end at its limit.
        let mut is_cut = false;
        let mut is_stopped = || {
            is_cut = begun.elapsed() >= patience;
            is_cut
        };
        let Some(measured) = measure(case, seed, watched, &mut is_stopped) else {
            return TrialEstimate { seconds: 0.0, packets: 0.0, payload: 0.0, spent: 0.0 };
        };
        let spent = from.elapsed().as_secs_f64();
        let (seconds, packets) = (measured.duration.as_secs_f64(), measured.packets as f64);
        let is_over = !is_cut && (measured.duration < watched || watched >= limit);
        if is_cut || is_over || begun.elapsed().as_secs_f64() + 4.0 * spent > patience.as_secs_f64()
        {
            let more = if is_over { 1.0 } else { rest(&measured, limit) };
            return TrialEstimate {
                seconds: seconds * more,
                packets: packets * more,
                payload: measured.payload as f64 * more,
                spent: spent * more,
            };
        }
        watched = Span::from_nanos(watched.as_nanos().saturating_mul(4)).min(limit);
    }
}

/// How many times as long as it was watched a trial takes: until all has arrived, as fast as what
/// has, and until the last connection has begun.
fn rest(measured: &Measured, limit: Span) -> f64 {
    let Measured { received, wanted, least, .. } = *measured;
    let of_watched = |span: Span| span.as_secs_f64() / measured.duration.as_secs_f64().max(1e-9);
    let by_amount = if received == 0 { 1.0 } else { wanted as f64 / received as f64 };
    by_amount.max(of_watched(least)).min(of_watched(limit)).max(1.0)
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::Scenario;

    use super::*;

    /// 2 Mbit/s in packets of 250 B one way for 2 s of 3, and 12 Mbit/s of 1500 B the other.
    #[test]
    fn packets_of_cross_traffic_are_counted() {
        let text = "title = \"t\"\nworkload = { upload = \"1 MB\" }\n[path]\nrate = \"20 Mbit/s\"\n\
             forward.cross = { rate = \"2 Mbit/s\", size = \"250 B\", from = \"1 s\" }\n\
             reverse.cross = \"12 Mbit/s\"\n";
        let case = Scenario::parse(text, "t").unwrap().cases.remove(0);
        let found = crossing(&case, Span::from_secs(3));
        assert!((found - (2.0 * 1000.0 + 3.0 * 1000.0)).abs() < 1.0, "{found}");
    }

    /// Ten transfers of 20 kB begin a second apart, from 20 s on, beside one that goes on until the
    /// last is over: at 10 Mbit/s for at least 29 s.
    #[test]
    fn connections_that_begin_later_are_counted() {
        let text = "title = \"t\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = \"50 packets\"\n[workload]\ndownload = \"1 MB\"\n[flow.short]\nstart = \"20 s\"\n\
             traffic.arrivals = { every = \"1 s\", size = \"20 kB\", most = 10 }\n\
             [flow.bulk]\nbackground = true\ntraffic.bulk = \"download\"\n";
        let case = Scenario::parse(text, "t").unwrap().cases.remove(0);
        let whole = tcplab_sim::measure(&case, 1, case.limits.trial, &mut || false).unwrap();
        assert_eq!((whole.received, whole.wanted), (200_000, 200_000));
        let found = estimate_trial(&case, 1, Duration::from_secs(600));
        assert!((29.0..33.0).contains(&found.seconds), "{} s", found.seconds);
        assert_eq!(found.packets as u64, whole.packets);
        assert!((30e6..41e6).contains(&found.payload), "{} B", found.payload);
        // Of a part, before any of them has begun.
        let part = tcplab_sim::measure(&case, 1, Span::from_secs(2), &mut || false).unwrap();
        let more = rest(&part, case.limits.trial);
        assert!((found.seconds / (2.0 * more) - 1.0).abs() < 0.2, "{more} times 2 s");
    }

    #[test]
    fn settings_that_models_lack_leave_an_estimate() {
        let packets = |client: &str| {
            let text = format!(
                "title = \"t\"\npath = {{ delay = \"1 ms\" }}\nworkload = {{ upload = \"1 MB\" }}\n\
                 [client]\nstack = \"linux-6.12\"\n{client}\n"
            );
            let case = Scenario::parse(&text, "t").unwrap().cases.remove(0);
            estimate_trial(&case, 1, Duration::from_secs(60)).packets
        };
        let usual = packets("");
        assert!(usual > 700.0, "{usual}");
        for client in [
            "sysctl = { \"net.ipv4.tcp_autocorking\" = 0 }",
            "module = { \"tcp_cubic.hystart\" = 0 }",
            "route = { mtu = \"1400 B\" }",
            "socket = { congestion = \"htcp\" }",
        ] {
            assert!((packets(client) / usual - 1.0).abs() < 0.1, "{client}: {}", packets(client));
        }
    }
}
