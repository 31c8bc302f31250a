//! Tests the path to another host with the kernel's `TCP_INFO`.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tcplab_lab::rfc6349::{Baseline, Row, Throughput, counts, row};
use tcplab_load::{BulkConfig, Direction, Window, bulk_watched};
use tcplab_testbed::{SocketState, acknowledged, socket_state};
use tcplab_units::{Bytes, Rate, Span};

use crate::arguments::Rfc6349Arguments;
use crate::control::Control;
use crate::output::print_note;
use crate::progress::unless_stopped;

/// Connections opened for the baseline RTT.
const OPENED: usize = 20;
/// The packet whose round trip they show: a SYN with the options of Linux.
const SYN: Bytes = Bytes::new(60);
/// Timeout of each.
const PATIENCE: Duration = Duration::from_secs(5);

/// The setup of transfers.
struct Transfer<'a> {
    address: SocketAddr,
    arguments: &'a Rfc6349Arguments,
    stop: &'a AtomicBool,
}

/// Steps one and two.
pub(super) fn baseline(
    address: SocketAddr,
    arguments: &Rfc6349Arguments,
    stop: &AtomicBool,
    control: Option<&mut Control>,
) -> Result<Baseline> {
    if let Some(control) = control {
        control.part(1, None, "baseline");
    }
    let mut opened = Vec::new();
    for _ in 0..OPENED {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).with_context(|| {
            format!("cannot connect to {address}: start a discard server there, such as `tcplab server --service discard`")
        })?;
        let seen = socket_state(stream.as_fd()).context("cannot read TCP_INFO")?;
        opened.push(seen.min_rtt.max(Span::from_micros(1)));
    }
    let least = opened.iter().copied().min().unwrap_or(Span::from_micros(1));
    let sum: u64 = opened.iter().map(|it| it.as_nanos()).sum();
    let mean = Span::from_nanos(sum / OPENED as u64);
    let transfer = Transfer { address, arguments, stop };
    print_note("measuring the bottleneck");
    let (measured, looks) = transfer.run(1, None)?;
    let Some(last) = looks.last() else { bail!("no data reached {address}") };
    // The delivery rate is that of the bottleneck; a burst may exceed it, so take the median.
    let rates: Vec<f64> = looks
        .iter()
        .filter_map(|look| Some(look.delivery_rate?.bits_per_second() as f64))
        .collect();
    let payload = median(rates).unwrap_or(measured.goodput * 1e6).max(measured.goodput * 1e6);
    let headers = if last.path_mtu > last.segment { last.path_mtu } else { last.segment };
    let whole = headers.as_u64() as f64 / last.segment.as_u64().max(1) as f64;
    let rate = Rate::from_bits_per_second((payload * whole) as u64);
    // A full segment takes longer than a SYN by what the bottleneck needs for the rest of it.
    let seconds = headers.saturating_sub(SYN).bits() as f64 / rate.bits_per_second().max(1) as f64;
    let rest = Span::from_secs_f64(seconds);
    Ok(Baseline {
        mtu: headers,
        segment: last.segment,
        rtt: least + rest,
        rtt_mean: mean + rest,
        rate,
        peak: None,
        asked: None,
    })
}

/// The median.
fn median(mut rates: Vec<f64>) -> Option<f64> {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// Step four.
pub(super) fn rows(
    address: SocketAddr,
    arguments: &Rfc6349Arguments,
    baseline: &Baseline,
    stop: &AtomicBool,
    mut control: Option<&mut Control>,
) -> Result<Vec<Row>> {
    let transfer = Transfer { address, arguments, stop };
    let single = baseline.windows().into_iter().map(|window| (1, window));
    let several = counts(arguments.connections).into_iter();
    let several = several.map(|count| (count, baseline.shared_window(count)));
    let all: Vec<(u64, Bytes)> = single.chain(several).collect();
    let mut rows = Vec::new();
    for (index, &(connections, window)) in all.iter().enumerate() {
        let name = format!("{connections} × window {window}");
        match &mut control {
            // The baseline was the first.
            Some(control) => control.part(index + 2, Some(all.len() + 1), &name),
            None => print_note(&name),
        }
        let bound =
            Window { size: window.as_u64() as usize, segment: baseline.segment.as_u64() as usize };
        let trials = (0..arguments.trials).map(|_| Ok(transfer.run(connections, Some(bound))?.0));
        let Some(measured) = Throughput::median(&trials.collect::<Result<Vec<_>>>()?) else {
            continue;
        };
        let row = row(baseline, connections, window, &measured);
        if let Some(control) = &mut control {
            control.tell(&json!({ "event": "measured", "rows": [&row] }));
        }
        rows.push(row);
    }
    Ok(rows)
}

impl Transfer<'_> {
    /// Limits the window by the send buffer: half of it is data, since Linux doubles `SO_SNDBUF`
    /// for its bookkeeping (socket(7)).
    fn run(
        &self,
        connections: u64,
        window: Option<Window>,
    ) -> Result<(Throughput, Vec<SocketState>)> {
        let looks: Mutex<BTreeMap<usize, Vec<SocketState>>> = Mutex::default();
        let watch = |nth: usize, socket: std::os::fd::BorrowedFd<'_>| {
            if let Ok(seen) = socket_state(socket) {
                let mut looks = looks.lock().unwrap_or_else(PoisonError::into_inner);
                looks.entry(nth).or_default().push(seen);
            }
        };
        let config = BulkConfig {
            address: self.address,
            direction: Direction::Upload,
            connections: connections as usize,
            time: self.arguments.duration.to_std(),
            window,
            congestion: self.arguments.congestion.clone(),
            acknowledged,
        };
        let outcome = bulk_watched(&config, &mut |_, _| unless_stopped(self.stop), &watch)?;
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            bail!("stopped on request");
        }
        if let Some(early) = outcome.early.first() {
            bail!("{early}");
        }
        let looks = looks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let last = looks.values().filter_map(|looks| looks.last());
        let (sent, again) = last.fold((0, 0), |(sent, again), look| {
            (sent + look.sent.as_u64(), again + look.retransmitted.as_u64())
        });
        let all: Vec<SocketState> = looks.into_values().flatten().collect();
        let round_trips: Vec<f64> = all.iter().map(|look| look.rtt.as_millis_f64()).collect();
        let measured = Throughput {
            goodput: outcome.bits_per_second / 1e6,
            efficiency: (sent - again.min(sent)) as f64 / sent.max(1) as f64 * 100.0,
            rtt: round_trips.iter().sum::<f64>() / round_trips.len().max(1) as f64,
            // On a loopback all is acknowledged at once.
            offered: all.iter().map(|look| look.in_flight).max().filter(|it| it.as_u64() > 0),
        };
        Ok((measured, all))
    }
}
