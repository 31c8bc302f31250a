//! Latency over time as a figure and as a table.

use tcplab_load::SeriesPoint;
use tcplab_plot::{Chart, Figure, Series, Table, View, chart, number_cell, stacked};
use tcplab_report::figure_file;
use tcplab_units::{Instant, visible_line};

use super::measured::Measured;

/// Classes of the style sheet, a colour and a dash each.
const LINES: [&str; 6] = ["flow-1", "flow-2", "flow-3", "flow-4", "flow-5", "flow-6"];

type Value = fn(&SeriesPoint) -> Option<f64>;

/// The series of all hosts, one after the other.
pub(super) fn csv_of(hosts: &[Measured]) -> String {
    let columns = [
        "host",
        "at_unix_seconds",
        "at_seconds",
        "sent",
        "lost",
        "lost_there",
        "lost_back",
        "rtt_min_ms",
        "rtt_mean_ms",
        "rtt_max_ms",
        "there_mean_ms",
        "back_mean_ms",
        "upload_bits_per_second",
        "download_bits_per_second",
    ];
    let rows = hosts.iter().flat_map(|host| {
        let began = host.began_by_server() as f64 / 1e9;
        host.series.iter().map(move |point| {
            let number = |value: Option<f64>| value.map_or_else(String::new, number_cell);
            vec![
                host.name.clone(),
                format!("{:.3}", began + point.at_seconds),
                number_cell(point.at_seconds),
                point.sent.to_string(),
                point.lost.to_string(),
                point.lost_there.to_string(),
                point.lost_back.to_string(),
                number(point.rtt_min_ms),
                number(point.rtt_mean_ms),
                number(point.rtt_max_ms),
                number(point.there_mean_ms),
                number(point.back_mean_ms),
                number(point.upload_bits_per_second.map(f64::round)),
                number(point.download_bits_per_second.map(f64::round)),
            ]
        })
    });
    Table::new(&columns, rows).csv()
}

/// The figure, with a line for each host: each way, RTT, loss. Times are those of the server's
/// clock, from the first probe of all.
pub(super) fn svg_of(hosts: &[Measured]) -> String {
    let began = hosts.iter().map(Measured::began_by_server).min().unwrap_or_default();
    let drawing = Drawing { hosts, began, until: until(hosts, began) };
    let lost: Value = |it| share(it.lost, it);
    let by_way: [(&str, Value); 3] = [
        ("there", |it| share(it.lost_there, it)),
        ("back", |it| share(it.lost_back, it)),
        // Where the server did not count.
        ("way not known", |it| share(it.lost.saturating_sub(it.lost_there + it.lost_back), it)),
    ];
    let rates: [Value; 2] = [
        |it| it.upload_bits_per_second.map(|it| it / 1e6),
        |it| it.download_bits_per_second.map(|it| it / 1e6),
    ];
    let there: Value = |it| it.there_mean_ms;
    let back: Value = |it| it.back_mean_ms;
    let mut figures = match hosts {
        [_] => vec![drawing.chart("Latency, mean", "ms", &[("there", there), ("back", back)])],
        _ => vec![
            drawing.chart("Latency there, mean", "ms", &[("", there)]),
            drawing.chart("Latency back, mean", "ms", &[("", back)]),
        ],
    };
    figures.extend([
        drawing.chart("RTT", "ms", &[("mean", |it| it.rtt_mean_ms), ("max", |it| it.rtt_max_ms)]),
        match hosts {
            [host] => {
                let is_known = host.series.iter().all(|it| it.lost == it.lost_there + it.lost_back);
                drawing.chart("Lost probes", "%", &by_way[..if is_known { 2 } else { 3 }])
            }
            _ => drawing.chart("Lost probes", "%", &[("", lost)]),
        },
    ]);
    let points = || hosts.iter().flat_map(|host| &host.series);
    let named = ["upload", "download"].into_iter().zip(rates);
    let carried: Vec<(&str, Value)> =
        named.filter(|(_, rate)| points().any(|point| rate(point).is_some())).collect();
    if !carried.is_empty() {
        figures.push(drawing.chart("Throughput", "Mbit/s", &carried));
    }
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let title = format!("Latency: {}", visible_line(&names.join(", ")));
    figure_file(&stacked(&title, &figures))
}

/// A share of the probes of a point, per cent.
fn share(count: u64, point: &SeriesPoint) -> Option<f64> {
    (point.sent > 0).then(|| count as f64 * 100.0 / point.sent as f64)
}

/// When the last point is over, seconds after `began`.
fn until(hosts: &[Measured], began: i64) -> f64 {
    let ends = hosts.iter().filter(|host| !host.series.is_empty());
    let ends = ends.map(|host| seconds_after(host, began) + host.end_seconds());
    ends.fold(0.0, f64::max).max(0.1)
}

fn seconds_after(host: &Measured, began: i64) -> f64 {
    host.began_by_server().saturating_sub(began) as f64 / 1e9
}

struct Drawing<'a> {
    hosts: &'a [Measured],
    began: i64,
    until: f64,
}

impl Drawing<'_> {
    fn chart(&self, title: &str, unit: &str, values: &[(&str, Value)]) -> Figure {
        let lines = self.hosts.iter().flat_map(|host| values.iter().map(move |it| (host, it)));
        let series: Vec<Series> = lines
            .zip(LINES.iter().cycle())
            .map(|((host, (what, value)), class)| Series {
                class,
                label: self.label(host, what),
                points: self.points(host, *value, unit == "%"),
                steps: unit == "%",
            })
            .collect();
        let view = View { from: instant(0.0), until: instant(self.until), bands: &[] };
        chart(&Chart { title, unit, right: None, series: &series, at_most: None }, &view)
    }

    fn label(&self, host: &Measured, what: &str) -> String {
        let name = visible_line(&host.name);
        match (self.hosts.len(), what) {
            (_, "") => name.into_owned(),
            (1, _) => what.into(),
            _ => format!("{name}, {what}"),
        }
    }

    /// In steps, the last value holds until its point is over.
    fn points(&self, host: &Measured, value: Value, in_steps: bool) -> Vec<(Instant, Option<f64>)> {
        let later = seconds_after(host, self.began);
        let finite = |point| value(point).filter(|it: &f64| it.is_finite());
        let points = host.series.iter().map(|it| (it.at_seconds, finite(it)));
        let last = host.series.last().filter(|_| in_steps);
        let end = last.map(|it| (host.end_seconds(), finite(it)));
        points.chain(end).map(|(at, value)| (instant(later + at), value)).collect()
    }
}

fn instant(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use tcplab_load::Clock;

    use super::*;

    fn host(name: &str, began_unix_ns: i64, offset_ns: i64) -> Measured {
        let point = |at_seconds: f64, lost: u64| SeriesPoint {
            at_seconds,
            sent: 10,
            lost,
            rtt_min_ms: Some(4.0),
            rtt_mean_ms: Some(5.0),
            rtt_max_ms: Some(9.5),
            there_mean_ms: Some(2.0),
            back_mean_ms: Some(3.0),
            upload_bits_per_second: (lost > 0).then_some(1e6),
            ..SeriesPoint::default()
        };
        let clock = Some(Clock { offset_ns, ..Clock::same() });
        let series = vec![point(0.0, 0), point(1.0, 5)];
        Measured { name: name.into(), began_unix_ns, clock, series, ..Measured::default() }
    }

    #[test]
    fn hosts_are_aligned_by_the_servers_clock() {
        // The second host's clock is 100 s behind; it began 2 s later.
        let hosts = [host("a", 500_000_000_000, 0), host("b", 402_000_000_000, 100_000_000_000)];
        let rows: Vec<String> = csv_of(&hosts).lines().map(str::to_owned).collect();
        assert_eq!(rows.len(), 5, "{rows:?}");
        assert!(rows[1].starts_with("a,500.000,0,10,0,0,0,4,5,9.5,2,3,,"), "{}", rows[1]);
        assert!(rows[4].starts_with("b,503.000,1,10,5,0,0,4,5,9.5,2,3,1000000,"), "{}", rows[4]);
        // Each point takes a second.
        assert!((until(&hosts, 500_000_000_000) - 4.0).abs() < 1e-9);
        let drawing = Drawing { hosts: &hosts, began: 500_000_000_000, until: 4.0 };
        let ends = |in_steps| drawing.points(&hosts[1], |it| Some(it.lost as f64), in_steps);
        assert_eq!(ends(true).last(), Some(&(instant(4.0), Some(5.0))));
        assert_eq!(ends(false).last(), Some(&(instant(3.0), Some(5.0))));
    }

    #[test]
    fn figure_names_each_host_and_escapes_it() {
        let svg = svg_of(&[host("<a>", 0, 0), host("b", 0, 0)]);
        assert!(svg.contains("&lt;a&gt;, mean") && svg.contains("b, max"), "{svg}");
        assert!(svg.contains("Lost probes") && !svg.contains("<a>"), "{svg}");
        assert!(svg.contains("Throughput") && svg.contains("b, upload"), "{svg}");
        assert!(!svg.contains("download"), "{svg}");
    }
}
