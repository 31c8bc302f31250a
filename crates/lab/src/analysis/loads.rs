//! Trials whose workload is a load: thousands of connections, of which the first is looked at
//! packet by packet, and all of which the generator and the server have counted.

use tcplab_results::{Durations, Metrics, Trial};
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_trace::Trace;
use tcplab_workload::LoadReport;

use super::contents::Contents;
use super::ends::{ending, ends};
use super::findings::findings_of;
use super::metrics::named;
use crate::error::LabError;

/// What the recording of a load says, except its number, seed and place.
pub(super) fn examine(
    contents: &Contents,
    [client, server]: [&Trace; 2],
    load: &LoadReport,
) -> Result<Trial, LabError> {
    let Contents { recording, record, app, flaws, .. } = contents;
    let mut warnings = Vec::new();
    if let Some(why) = &load.impossible {
        warnings.push(format!("impossible here: {why}"));
    }
    let mut values = values(load);
    if record.has_truth() {
        values.push((metrics::LOST, recording.lost_packets()?.len() as f64));
    }
    let is_possible = load.impossible.is_none();
    Ok(Trial {
        metrics: if is_possible { named(values).collect() } else { Metrics::default() },
        findings: client.connections.first().map(findings_of).unwrap_or_default(),
        ends: ends(app, record, [client, server]),
        ending: ending(client),
        flaws: flaws.clone(),
        load: Some(Box::new(load.clone())),
        ..Trial::empty(warnings)
    })
}

/// What `METRICS` has of a load.
fn values(load: &LoadReport) -> Vec<(&'static MetricInfo, f64)> {
    let mut values = vec![
        (metrics::LOAD_RATE, load.requests_per_second),
        (metrics::LOAD_DATA_RATE, load.bits_per_second / 1e6),
        (metrics::LOAD_REQUESTS, load.requests as f64),
        (metrics::LOAD_ERRORS, load.failed() as f64),
        (metrics::LOAD_INTACT, f64::from(u8::from(load.is_intact))),
    ];
    let millis = |nanos: u64| nanos as f64 / 1e6;
    let times: [(_, _, &Durations); 3] = [
        (metrics::LOAD_CONNECT, metrics::LOAD_CONNECT_P99, &load.connect),
        (metrics::LOAD_LATENCY, metrics::LOAD_LATENCY_P99, &load.latency),
        (metrics::LOAD_RESPONSE, metrics::LOAD_RESPONSE_P99, &load.response),
    ];
    for (median, most, durations) in times {
        if durations.count > 0 {
            values.extend([(median, millis(durations.p50)), (most, millis(durations.p99))]);
        }
    }
    if load.requests > 0 && load.response.mean > 0.0 {
        let each = load.bytes as f64 * 8.0 / load.requests as f64;
        values.push((metrics::LOAD_RESPONSE_MEAN, load.response.mean / 1e6));
        values.push((metrics::LOAD_DATA_RATE_EACH, each / load.response.mean * 1e3));
    }
    if load.server.requests > 0 {
        let each = load.server.processor_s * 1e3 / load.server.requests as f64;
        values.push((metrics::LOAD_SERVER_TIME, each));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::contents::of_load;
    use tcplab_workload::ServerReport;

    #[test]
    fn load_metrics_have_listed_units() {
        let durations = Durations {
            count: 100,
            mean: 2_000_000.0,
            p50: 1_500_000,
            p99: 9_000_000,
            ..Durations::default()
        };
        let load = LoadReport {
            requests: 100,
            requests_per_second: 50.0,
            bytes: 300_000,
            bits_per_second: 1.2e6,
            connect: durations,
            response: durations,
            errors: [("reset".to_string(), 2), ("timeout".to_string(), 1)].into(),
            is_intact: true,
            server: ServerReport { requests: 200, processor_s: 0.05, ..ServerReport::default() },
            ..LoadReport::default()
        };
        let found = values(&load);
        let value = |info| found.iter().find(|(of, _)| *of == info).map(|(_, value)| *value);
        for (info, expected) in [
            (metrics::LOAD_RATE, Some(50.0)),
            (metrics::LOAD_DATA_RATE, Some(1.2)),
            // 3,000 bytes in 2 ms.
            (metrics::LOAD_DATA_RATE_EACH, Some(12.0)),
            (metrics::LOAD_CONNECT, Some(1.5)),
            (metrics::LOAD_CONNECT_P99, Some(9.0)),
            (metrics::LOAD_LATENCY, None),
            (metrics::LOAD_RESPONSE_MEAN, Some(2.0)),
            (metrics::LOAD_SERVER_TIME, Some(0.25)),
            (metrics::LOAD_ERRORS, Some(3.0)),
            (metrics::LOAD_INTACT, Some(1.0)),
        ] {
            assert_eq!(value(info), expected, "{}", info.name);
        }
        let nothing = values(&LoadReport::default());
        assert!(of_load(&load).is_none() && of_load(&LoadReport::default()).is_some());
        let impossible = LoadReport { impossible: Some("no".into()), ..LoadReport::default() };
        assert_eq!(of_load(&impossible), None, "it would be again");
        assert_eq!(nothing.len(), 5, "no times where nothing was answered: {nothing:?}");
    }
}
