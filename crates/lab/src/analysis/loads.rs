//! Trials whose workload is a load: thousands of connections, of which the first is looked at
//! packet by packet, and all of which the generator and the server have counted.

use tcplab_results::{Metrics, Trial};
use tcplab_trace::Trace;
use tcplab_workload::{Durations, LoadReport};

use super::contents::Contents;
use super::ends::{ending, ends};
use super::findings::findings_of;
use super::metrics::named;
use crate::error::LabError;

/// What the recording of a load says, but for its number, seed and place.
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
        let mut lost = 0;
        for row in recording.truth_rows()? {
            lost += u32::from(row?.verdict.fate.cause().is_some());
        }
        values.push(("lost", f64::from(lost)));
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
fn values(load: &LoadReport) -> Vec<(&'static str, f64)> {
    let mut values = vec![
        ("load.rate", load.requests_per_second),
        ("load.data_rate", load.bits_per_second / 1e6),
        ("load.requests", load.requests as f64),
        ("load.errors", load.failed() as f64),
        ("load.intact", f64::from(u8::from(load.is_intact))),
    ];
    let millis = |nanos: u64| nanos as f64 / 1e6;
    let times: [(_, _, &Durations); 3] = [
        ("load.connect", "load.connect_p99", &load.connect),
        ("load.latency", "load.latency_p99", &load.latency),
        ("load.response", "load.response_p99", &load.response),
    ];
    for (median, most, durations) in times {
        if durations.count > 0 {
            values.extend([(median, millis(durations.p50)), (most, millis(durations.p99))]);
        }
    }
    if load.requests > 0 && load.response.mean > 0.0 {
        let each = load.bytes as f64 * 8.0 / load.requests as f64;
        values.push(("load.response_mean", load.response.mean / 1e6));
        values.push(("load.data_rate_each", each / load.response.mean * 1e3));
    }
    if load.server.requests > 0 {
        let each = load.server.processor_s * 1e3 / load.server.requests as f64;
        values.push(("load.server_time", each));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::contents::of_load;
    use tcplab_workload::ServerReport;

    #[test]
    fn figures_come_in_the_units_of_the_list() {
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
        let value = |name| found.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        for (name, expected) in [
            ("load.rate", Some(50.0)),
            ("load.data_rate", Some(1.2)),
            // 3,000 bytes in 2 ms.
            ("load.data_rate_each", Some(12.0)),
            ("load.connect", Some(1.5)),
            ("load.connect_p99", Some(9.0)),
            ("load.latency", None),
            ("load.response_mean", Some(2.0)),
            ("load.server_time", Some(0.25)),
            ("load.errors", Some(3.0)),
            ("load.intact", Some(1.0)),
        ] {
            assert_eq!(value(name), expected, "{name}");
            assert!(tcplab_scenario::metric(name).is_some(), "{name}");
        }
        let nothing = values(&LoadReport::default());
        assert!(of_load(&load).is_none() && of_load(&LoadReport::default()).is_some());
        let impossible = LoadReport { impossible: Some("no".into()), ..LoadReport::default() };
        assert_eq!(of_load(&impossible), None, "it would be again");
        assert_eq!(nothing.len(), 5, "no times where nothing was answered: {nothing:?}");
    }
}
