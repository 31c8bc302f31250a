//! `tcplab shell --expect`: a program's traffic against what was expected of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, Error, Result, ensure};
use serde_json::{Value, json};
use tcplab_actions::{ends_of, open};
use tcplab_recording::{DirectionTraffic, Recording, Summary, Traffic};
use tcplab_trace::{
    Ack, Analyzer, CloseKind, Connection, Flow, FlowId, HandshakeKind, RoundTrips, Segment, Sink,
    Transfer,
};
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};

use crate::arguments::{Amount, Expectation, Measure};
use crate::output::counted;

/// An expectation, and what was measured or why nothing was.
pub(crate) struct Judged<'a> {
    expectation: &'a Expectation,
    measured: Result<Amount, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Unknown,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Unknown => "unknown",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Verdict::Passed => "✓",
            Verdict::Failed => "✗",
            Verdict::Unknown => self.name(),
        }
    }
}

/// Judges the expectations by what passed the path and by its recording.
pub(crate) fn judge<'a>(
    expectations: &'a [Expectation],
    summary: &Summary,
    recording: Option<&Path>,
) -> Vec<Judged<'a>> {
    if expectations.is_empty() {
        return Vec::new();
    }
    let seen = recording.context("nothing was recorded").and_then(Seen::of);
    let seen = seen.map_err(|error| format!("{error:#}"));
    let judged = |expectation: &'a Expectation| {
        let measured = measure(expectation, &summary.traffic, seen.as_ref());
        Judged { expectation, measured }
    };
    expectations.iter().map(judged).collect()
}

/// The goodput that a recording of both ends shows, as `--expect goodput` has it.
///
/// # Errors
/// Where it cannot be told: the recording is not whole, or has too little data.
pub(crate) fn goodput(recording: &Path) -> Result<Rate> {
    Seen::of(recording)?.near.goodput().map_err(Error::msg)
}

impl Judged<'_> {
    pub(crate) fn is_kept(&self) -> bool {
        self.verdict() == Verdict::Passed
    }

    fn verdict(&self) -> Verdict {
        match self.measured {
            Err(_) => Verdict::Unknown,
            Ok(measured) if self.expectation.holds(measured) => Verdict::Passed,
            Ok(_) => Verdict::Failed,
        }
    }

    /// Exact where rounded it would be the bound that it is not within.
    fn measured(&self) -> String {
        match &self.measured {
            Err(why) => format!("({why})"),
            Ok(amount) if !self.is_kept() => {
                let (rounded, bound) = (amount.rounded(), self.expectation.bound.rounded());
                if rounded == bound { amount.to_string() } else { rounded }
            }
            Ok(amount) => amount.rounded(),
        }
    }

    /// As part of a document.
    pub(crate) fn document(&self) -> Value {
        let bound = self.expectation.bound;
        let mut value = json!({
            "quantity": self.expectation.measure.name(),
            "expectation": self.expectation.to_string(),
            "verdict": self.verdict().name(),
        });
        let mut put = |key: &str, amount: Amount| {
            let number = match amount {
                Amount::Percent(share) => json!(share),
                Amount::Rate(rate) => json!(rate.bits_per_second()),
                Amount::Span(span) => json!(span.as_nanos()),
                Amount::Bytes(bytes) => json!(bytes.as_u64()),
                Amount::Count(count) => json!(count),
            };
            value[format!("{key}{}", amount.key_unit())] = number;
        };
        put("expected", bound);
        match &self.measured {
            Ok(measured) => put("measured", *measured),
            Err(why) => value["not_measured"] = json!(why),
        }
        value
    }
}

/// The table, without what was kept where that is not wanted.
pub(crate) fn lines(judged: &[Judged<'_>], is_quiet: bool) -> Vec<String> {
    let cells = |one: &Judged<'_>| {
        let Judged { expectation, .. } = one;
        [
            expectation.measure.name().to_owned(),
            expectation.range(),
            one.measured(),
            one.verdict().sign().to_owned(),
        ]
    };
    let shown = judged.iter().filter(|one| !(is_quiet && one.is_kept()));
    let mut rows: Vec<_> = shown.map(cells).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    rows.insert(0, ["quantity", "expected", "measured", ""].map(str::to_owned));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let line = |[quantity, expected, measured, sign]: &[String; 4]| {
        let [first, second, third] = widths;
        let line =
            format!("tcplab: {quantity:first$}  {expected:second$}  {measured:third$}  {sign}");
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// What was measured, in the kind of amount that was expected; else why it was not.
fn measure(
    expectation: &Expectation,
    traffic: &Traffic,
    seen: Result<&Seen, &String>,
) -> Result<Amount, String> {
    let has_share = matches!(expectation.bound, Amount::Percent(_));
    let either = |count: u64, of: u64| match (has_share, of) {
        (false, _) => Ok(Amount::Count(count)),
        (true, 0) => Err("no packet crossed the path".to_owned()),
        (true, of) => Ok(Amount::Percent(100.0 * count as f64 / of as f64)),
    };
    let seen = seen.map_err(Clone::clone);
    let connected = seen.clone().and_then(|seen| match seen.near.connections {
        0 => Err(seen.near.no_connection()),
        _ => Ok(seen),
    });
    let rtt = |of: fn(&Sent) -> Option<Span>| {
        let measured = of(&connected.clone()?.sent).map(Amount::Span);
        measured.ok_or_else(|| "no RTT could be measured".to_owned())
    };
    let Traffic { forward, reverse, .. } = traffic;
    match expectation.measure {
        Measure::Drops => {
            // Those of packets that an end sent, so that they are a share of these.
            let of = |way: &DirectionTraffic| way.dropped - way.made_dropped;
            either(of(forward) + of(reverse), forward.packets_in + reverse.packets_in)
        }
        Measure::Connections => Ok(Amount::Count(seen?.near.opened)),
        Measure::Resets => Ok(Amount::Count(seen?.near.resets)),
        Measure::Goodput => connected?.near.goodput().map(Amount::Rate),
        Measure::Bytes => Ok(Amount::Bytes(connected?.near.acked)),
        Measure::Duration => Ok(Amount::Span(connected?.near.duration())),
        Measure::Retransmissions => {
            let sent = &connected?.sent;
            either(sent.retransmissions, sent.segments)
        }
        Measure::MeanRtt => rtt(Sent::mean_rtt),
        Measure::MedianRtt => rtt(|sent| sent.median),
        Measure::P95Rtt => rtt(|sent| sent.p95),
        Measure::LeastRtt => rtt(|sent| sent.min),
        Measure::LargestRtt => rtt(|sent| sent.max),
    }
}

/// What the captures of both ends show.
struct Seen {
    near: AtNear,
    sent: Sent,
}

impl Seen {
    fn of(recording: &Path) -> Result<Seen> {
        let files = ends_of(recording).context("there is no recording of both ends")?;
        files.iter().try_for_each(|file| is_whole(file))?;
        let record = Recording::open(recording)?.record()?;
        let missing = record.world.capture_drops;
        ensure!(
            missing == 0,
            "{} missing in the captures: use a slower path",
            counted(missing, "frame")
        );
        let ends = [&record.client, &record.server].map(|end| end.address.parse().ok());
        let [at_near, at_far] = &files;
        let near_end = read(at_near, OneEnd::new(Endpoint::Client, ends))?;
        let far_end = read(at_far, OneEnd::new(Endpoint::Server, ends))?;
        let mut sent = near_end.sent;
        sent.add(&far_end.sent);
        Ok(Seen { near: near_end.all, sent })
    }
}

/// A passing recording gives the beginning of its files back to the disk: zeros are left.
fn is_whole(capture: &Path) -> Result<()> {
    let mut start = [0; 4];
    let read = File::open(capture).and_then(|mut file| file.read_exact(&mut start));
    read.context("cannot read the capture")?;
    ensure!(start != [0; 4], "too many packets to keep all headers: use --capture DIR");
    Ok(())
}

fn read(capture: &Path, sink: OneEnd) -> Result<OneEnd> {
    let mut analyzer = Analyzer::with_sink(sink);
    analyzer.read(open(capture)?);
    let (trace, mut end) = analyzer.finish_into();
    let datagrams = trace.others.iter().filter(|it| it.protocol.starts_with("UDP"));
    end.all.datagrams = datagrams.map(|it| it.packets).sum();
    Ok(end)
}

/// The capture of one end, of which data that this end sends are taken.
struct OneEnd {
    end: Endpoint,
    /// The addresses of the near end and the far one.
    ends: [Option<IpAddr>; 2],
    all: AtNear,
    sent: Sent,
}

impl OneEnd {
    fn new(end: Endpoint, ends: [Option<IpAddr>; 2]) -> OneEnd {
        OneEnd { end, ends, all: AtNear::default(), sent: Sent::default() }
    }
}

impl Sink for OneEnd {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.all.data.segment(flow, &segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.all.data.ack(flow, &ack);
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        let Connection { client, server, forward, reverse, .. } = connection;
        let [near, far] = self.ends;
        let is_client_near = near == Some(client.ip()) || near != Some(server.ip());
        let is_near_here = self.end == Endpoint::Client;
        let here = if is_near_here { near } else { far };
        let (sender, flow) =
            if is_client_near == is_near_here { (client, forward) } else { (server, reverse) };
        // In nested shells the sender may be farther away: what is seen here is no whole RTT.
        self.sent.flow(flow, here == Some(sender.ip()));
        self.all.connection(index, connection);
    }
}

/// All connections, as the near end sees them.
#[derive(Default)]
struct AtNear {
    connections: u64,
    opened: u64,
    resets: u64,
    /// The first packet and the last.
    lasting: Option<(Instant, Instant)>,
    acked: Bytes,
    data: DataTime,
    /// Packets of UDP, of which nothing is measured but drops.
    datagrams: u64,
}

impl AtNear {
    fn connection(&mut self, index: usize, connection: &Connection) {
        let Connection { first, last, handshake, life, forward, reverse, .. } = connection;
        let is_refused = handshake.kind == HandshakeKind::Refused;
        let is_reset = life
            .close
            .as_ref()
            .is_some_and(|it| matches!(it.kind, CloseKind::Reset | CloseKind::ResetAfterFin));
        let is_unopened = matches!(
            handshake.kind,
            HandshakeKind::Unanswered | HandshakeKind::Refused | HandshakeKind::HalfOpen
        );
        self.connections += 1;
        self.opened += u64::from(!is_unopened);
        self.resets += u64::from(is_reset || is_refused);
        let (from, until) = self.lasting.unwrap_or((*first, *last));
        self.lasting = Some((from.min(*first), until.max(*last)));
        self.acked += forward.transfer.acked + reverse.transfer.acked;
        self.data.forget(index);
    }

    fn no_connection(&self) -> String {
        format!("there was no TCP connection{}", self.beside())
    }

    /// That UDP passed, too, if it did.
    fn beside(&self) -> String {
        match self.datagrams {
            0 => String::new(),
            some => {
                let packets = counted(some, "packet");
                format!("; {packets} of UDP do not count: `drops` has them")
            }
        }
    }

    fn duration(&self) -> Span {
        self.lasting.map_or(Span::ZERO, |(first, last)| last.since(first))
    }

    fn goodput(&self) -> Result<Rate, String> {
        if self.connections == 0 {
            return Err(self.no_connection());
        }
        if self.acked < Transfer::LEAST {
            let beside = self.beside();
            return Err(format!("less than {} of TCP data have no rate{beside}", Transfer::LEAST));
        }
        let rate =
            self.data.first.and_then(|first| Rate::of(self.acked, self.data.last.since(first)));
        rate.ok_or_else(|| "all data came at once".to_owned())
    }
}

/// The time from the first data of any connection to the acknowledgement of the last.
#[derive(Default)]
struct DataTime {
    first: Option<Instant>,
    last: Instant,
    /// For each direction of an open connection the ends of what was sent and acknowledged.
    ends: BTreeMap<(usize, bool), (u64, u64)>,
}

impl DataTime {
    fn segment(&mut self, FlowId { connection, forward }: FlowId, segment: &Segment) {
        if segment.payload > Bytes::ZERO {
            self.first = Instant::earlier(self.first, Some(segment.at));
            self.last = self.last.max(segment.at);
            let (sent, _) = self.ends.entry((connection, forward)).or_default();
            *sent = (*sent).max(segment.range.end.as_u64() - u64::from(segment.fin));
        }
    }

    fn ack(&mut self, FlowId { connection, forward }: FlowId, ack: &Ack) {
        let Some((sent, acked)) = self.ends.get_mut(&(connection, forward)) else { return };
        // A FIN is no data.
        let until = ack.ack.as_u64().min(*sent);
        if until > *acked {
            *acked = until;
            self.last = self.last.max(ack.at);
        }
    }

    fn forget(&mut self, connection: usize) {
        self.ends.remove(&(connection, false));
        self.ends.remove(&(connection, true));
    }
}

/// What an end sent, or both: the sums, and of quantiles the largest.
#[derive(Debug, Default, Clone, PartialEq)]
struct Sent {
    segments: u64,
    retransmissions: u64,
    /// Of all samples, nanoseconds.
    rtt_sum: u128,
    rtt_samples: u64,
    min: Option<Span>,
    median: Option<Span>,
    p95: Option<Span>,
    max: Option<Span>,
}

impl Sent {
    fn flow(&mut self, flow: &Flow, is_sender_here: bool) {
        let (totals, none) = (&flow.totals, RoundTrips::default());
        let rtt = if is_sender_here { &flow.round_trips } else { &none };
        let samples = rtt.mean.map_or(0, |_| rtt.samples());
        let mean = rtt.mean.unwrap_or_default();
        self.add(&Sent {
            segments: totals.segments,
            retransmissions: totals.retransmissions,
            rtt_sum: u128::from(mean.as_nanos()) * u128::from(samples),
            rtt_samples: samples,
            min: rtt.min,
            median: rtt.median,
            p95: rtt.p95,
            max: rtt.max,
        });
    }

    fn add(&mut self, other: &Sent) {
        let largest = |one: Option<Span>, other: Option<Span>| one.max(other);
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
        self.rtt_sum += other.rtt_sum;
        self.rtt_samples += other.rtt_samples;
        self.min = self.min.into_iter().chain(other.min).min();
        self.median = largest(self.median, other.median);
        self.p95 = largest(self.p95, other.p95);
        self.max = largest(self.max, other.max);
    }

    fn mean_rtt(&self) -> Option<Span> {
        let mean = self.rtt_sum.checked_div(u128::from(self.rtt_samples))?;
        u64::try_from(mean).ok().map(Span::from_nanos)
    }
}

#[cfg(test)]
mod tests;
