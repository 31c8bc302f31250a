//! What a trial with a connection is measured by.

use tcplab_recording::{AppLog, Sample};
use tcplab_results::Metric;
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_trace::{EpisodeKind, Flow, Limit};
use tcplab_units::{Bytes, Endpoint, Rate, Span};
use tcplab_workload::{AppReport, Exchange};

use super::ideal::Ideal;
use super::sender::sending_end;
use super::sizes::Size;

/// Where a transfer's values come from.
pub(crate) struct Sources<'a> {
    pub(crate) app: &'a AppLog,
    pub(crate) size: Size,
    /// The direction of the payload, as captured beside its sender.
    pub(crate) flow: &'a Flow,
    pub(crate) samples: &'a [Sample],
    /// The packets of it that the path dropped, where the path has a log.
    pub(crate) lost: Option<usize>,
    pub(crate) ideal: Option<Ideal>,
}

/// States in `TCP_INFO` (Linux, `net/tcp_states.h`).
pub(crate) const ESTABLISHED: u64 = 1;
const FIN_WAIT_1: u64 = 4;
const CLOSE_WAIT: u64 = 8;
const LAST_ACK: u64 = 9;
const CLOSING: u64 = 11;

impl Sources<'_> {
    /// The values that `METRICS` names; a metric that cannot be had is left out.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let Sources { app, flow, lost, .. } = self;
        let causes = &flow.causes;
        let fast = causes.by_duplicate_acks.count
            + causes.by_sack.count
            + causes.by_rack.count
            + causes.by_icmp.count;
        let timeouts: u64 = flow.episodes.iter().map(|episode| episode.timeouts).sum();
        let counts = [
            (metrics::RETRANSMISSIONS, flow.totals.retransmissions),
            (metrics::RETRANSMISSIONS_FAST, fast),
            (metrics::RETRANSMISSIONS_PROBE, causes.tail_loss_probes.count),
            (metrics::RETRANSMISSIONS_TIMEOUT, causes.timeouts.count + causes.after_timeout.count),
            (metrics::RETRANSMISSIONS_REPEATED, causes.lost_retransmissions.count),
            (metrics::RETRANSMISSIONS_SPURIOUS, causes.spurious.sent.count),
            (metrics::RETRANSMITTED, flow.totals.retransmitted.as_u64()),
            (metrics::TIMEOUTS, timeouts),
            (metrics::EPISODES, flow.episodes.len() as u64),
            (metrics::MAX_IN_FLIGHT, flow.totals.max_in_flight.as_u64()),
        ];
        // Over the same time as goodput, so that both and efficiency agree.
        let span = time_of_rates(app, self.size);
        let throughput = span.and_then(|span| Rate::mbit_f64_of(flow.totals.data, span));
        let values = [
            (metrics::LOST, lost.map(|lost| lost as f64)),
            (metrics::MAX_WINDOW, flow.totals.max_window.map(|window| window.as_u64() as f64)),
            (metrics::THROUGHPUT, throughput),
            (metrics::EFFICIENCY, flow.transfer.efficiency),
            (metrics::MEAN_RTT, tcplab_stats::mean(&self.smoothed_round_trips())),
            (metrics::CPU_PER_BYTE, self.processor_time_per_byte()),
        ];
        let all = of_applications(app, self.size)
            .into_iter()
            .chain(counts.map(|(name, count)| (name, count as f64)))
            .chain(values.into_iter().filter_map(|(name, value)| Some((name, value?))))
            .chain(round_trips(flow))
            .chain(limits(flow))
            .chain(types(flow))
            .chain(self.against_the_ideal());
        named(all).collect()
    }

    /// Of the sender while data may be outstanding: a program that closes at once leaves what the
    /// send buffer holds, much of a short transfer, to the states after its FIN.
    fn smoothed_round_trips(&self) -> Vec<f64> {
        let sender = sending_end(self.app);
        let may_send = [ESTABLISHED, FIN_WAIT_1, CLOSE_WAIT, LAST_ACK, CLOSING];
        self.samples
            .iter()
            .filter(|sample| sample.endpoint == sender && may_send.contains(&sample.state))
            .map(|sample| sample.rtt_us as f64 / 1e3)
            .collect()
    }

    fn processor_time_per_byte(&self) -> Option<f64> {
        let [client, server] = [self.app.client.processor?, self.app.server.processor?];
        let payload = sender_and_receiver(self.app).1.bytes.as_u64();
        (payload > 0).then(|| (client + server).as_nanos() as f64 / payload as f64)
    }

    /// The metrics of RFC 6349 section 4 that take a yardstick.
    fn against_the_ideal(&self) -> Vec<(&'static MetricInfo, f64)> {
        let Some(ideal) = &self.ideal else { return Vec::new() };
        let base = ideal.base_rtt.as_millis_f64();
        let trips = &self.flow.round_trips;
        // The mean over time is not that over ACKs, of which few come while the delay is long.
        let idle = if ideal.is_steady { Some(ideal.base_rtt) } else { trips.min };
        let idle = idle.map(Span::as_millis_f64).filter(|idle| *idle > 0.0);
        let mean = trips.mean_of_data.map(Span::as_millis_f64);
        let buffer_delay = mean.zip(idle).map(|(mean, idle)| (mean - idle) / idle * 100.0);
        let receiver = sender_and_receiver(self.app).1;
        let ideal_time = ideal.time(receiver.bytes).map(Span::as_secs_f64);
        let ratio = transfer(self.app, self.size).zip(ideal_time.filter(|ideal| *ideal > 0.0));
        let values = [
            (metrics::BASE_RTT, Some(base)),
            (metrics::BUFFER_DELAY, buffer_delay),
            (metrics::IDEAL_TIME, ideal_time),
            (metrics::TRANSFER_TIME_RATIO, ratio.map(|(time, ideal)| time.as_secs_f64() / ideal)),
        ];
        values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Those of round trips, milliseconds.
fn round_trips(flow: &Flow) -> impl Iterator<Item = (&'static MetricInfo, f64)> {
    let trips = &flow.round_trips;
    let spans = [
        (metrics::RTT_MIN, trips.min),
        (metrics::RTT_MEAN, trips.mean),
        (metrics::RTT_MEDIAN, trips.median),
        (metrics::RTT_P95, trips.p95),
        (metrics::RTT_MAX, trips.max),
    ];
    spans.into_iter().filter_map(|(name, span)| Some((name, span?.as_millis_f64())))
}

/// What bounded the rate for which share of the time, per cent; nothing of no time.
fn limits(flow: &Flow) -> impl Iterator<Item = (&'static MetricInfo, f64)> {
    let of = |limit| match limit {
        Limit::Application => metrics::LIMIT_APPLICATION,
        Limit::ReceiveWindow => metrics::LIMIT_RECEIVE_WINDOW,
        Limit::SendBuffer => metrics::LIMIT_SEND_BUFFER,
        Limit::SlowStart => metrics::LIMIT_SLOW_START,
        Limit::Congestion => metrics::LIMIT_CONGESTION_WINDOW,
        Limit::Path => metrics::LIMIT_PATH,
        Limit::Timeout => metrics::LIMIT_TIMEOUT,
    };
    let shares = flow.shares;
    Limit::ALL
        .into_iter()
        .filter(move |_| shares.total() > Span::ZERO)
        .map(move |limit| (of(limit), shares.share(limit) * 100.0))
}

/// Of the recovery episodes, how many were of each type, per cent; nothing of no episode.
fn types(flow: &Flow) -> impl Iterator<Item = (&'static MetricInfo, f64)> {
    let all = flow.episodes.len();
    let types = [
        (metrics::EPISODE_SHARE_WITHOUT, EpisodeKind::WithoutTimeLag),
        (metrics::EPISODE_SHARE_WITH, EpisodeKind::WithTimeLag),
        (metrics::EPISODE_SHARE_INTERMITTENT, EpisodeKind::Intermittent),
    ];
    types.into_iter().filter(move |_| all > 0).map(move |(name, kind)| {
        let count = flow.episodes.iter().filter(|episode| episode.kind == kind).count();
        (name, count as f64 / all as f64 * 100.0)
    })
}

/// Those that the applications report.
pub(crate) fn of_applications(app: &AppLog, size: Size) -> Vec<(&'static MetricInfo, f64)> {
    let (sender, receiver) = sender_and_receiver(app);
    let span = time_of_rates(app, size);
    let goodput = span.and_then(|span| Rate::mbit_f64_of(receiver.bytes, span));
    // Of no bytes it says nothing.
    let has_moved = sender.bytes + receiver.bytes > Bytes::ZERO;
    let intact = has_moved.then(|| f64::from(u8::from(receiver.has_all_of(sender))));
    let mut values: Vec<(&'static MetricInfo, f64)> = [
        (metrics::TRANSFER_TIME, transfer(app, size).map(Span::as_secs_f64)),
        (metrics::GOODPUT, goodput),
        (metrics::PAYLOAD_INTACT, intact),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect();
    let answered = |it: &Exchange| Some(it.answered?.since(it.asked).as_millis_f64());
    let times: Vec<f64> = app.client.exchanges.iter().filter_map(answered).collect();
    values.extend(responses(&times));
    values
}

/// Those of response times in milliseconds; nothing of none.
pub(crate) fn responses(times: &[f64]) -> impl Iterator<Item = (&'static MetricInfo, f64)> {
    let quantile = |p| tcplab_stats::quantile(times, p);
    let values = [
        (metrics::MEAN_RESPONSE, tcplab_stats::mean(times)),
        (metrics::MEDIAN_RESPONSE, quantile(0.5)),
        (metrics::P95_RESPONSE, quantile(0.95)),
        (metrics::P99_RESPONSE, quantile(0.99)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

fn sender_and_receiver(app: &AppLog) -> (&AppReport, &AppReport) {
    match sending_end(app) {
        Endpoint::Client => (&app.client, &app.server),
        Endpoint::Server => (&app.server, &app.client),
    }
}

/// From the client's call of connect() to the receiver's last byte; none of a transfer that did not
/// arrive whole, which would be the quicker the earlier it broke off. What was not written did not
/// arrive, either.
fn transfer(app: &AppLog, size: Size) -> Option<Span> {
    let (sender, receiver) = sender_and_receiver(app);
    let is_written = match size {
        Size::Of(amount) => sender.bytes == amount,
        Size::Open => receiver.finished.is_some(),
    };
    time_to_last_byte(app).filter(|_| is_written && receiver.has_all_of(sender))
}

/// The time of goodput and throughput: that of the transfer; of one without a size, until its last
/// byte.
fn time_of_rates(app: &AppLog, size: Size) -> Option<Span> {
    match size {
        Size::Of(_) => transfer(app, size),
        Size::Open => time_to_last_byte(app),
    }
}

fn time_to_last_byte(app: &AppLog) -> Option<Span> {
    let receiver = sender_and_receiver(app).1;
    app.client.started.zip(receiver.last_byte).map(|(from, to)| to.since(from))
}

/// Values with their units.
pub(crate) fn named(
    values: impl IntoIterator<Item = (&'static MetricInfo, f64)>,
) -> impl Iterator<Item = Metric> {
    values.into_iter().map(|(info, value)| Metric::of(info, value))
}
