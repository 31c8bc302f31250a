//! The run's tables as files: for spreadsheets, notebooks, other programs.

use crate::directory::to_json;
use crate::{EndRow, LabError, OptionRow, Run, RunDirectory, Trial};

/// Writes `metrics.csv` (a row per trial and metric, with what is wrong with the trial),
/// `episodes.csv` (a row per recovery episode), `interruptions.csv` (a row per interruption of the
/// path during a transfer), `calls.csv` (a row per call of an application,
/// equal ones in a row together), `ends.csv` (a row per end and metric of it), `options.csv` (a row
/// per trial and socket option that was asked for or changed) and, last, `run.json` (everything),
/// which makes the run a finished one.
///
/// # Errors
/// When one cannot be written.
pub fn write_tables(directory: &RunDirectory, run: &Run) -> Result<(), LabError> {
    directory.replace("metrics.csv", metrics(run).as_bytes())?;
    directory.replace("episodes.csv", episodes(run).as_bytes())?;
    directory.replace("interruptions.csv", interruptions(run).as_bytes())?;
    directory.replace("calls.csv", calls(run).as_bytes())?;
    directory.replace("ends.csv", ends(run).as_bytes())?;
    directory.replace("options.csv", options(run).as_bytes())?;
    directory.replace(crate::directory::RUN, &to_json(run))?;
    Ok(())
}

fn metrics(run: &Run) -> String {
    let mut table = row(["case", "trial", "seed", "metric", "unit", "value", "flaws"]);
    for case in &run.cases {
        for trial in &case.trials {
            for metric in &trial.metrics {
                table += &row([
                    &case.name,
                    &trial.number.to_string(),
                    &trial.seed.to_string(),
                    &metric.name,
                    &metric.unit,
                    &metric.value.to_string(),
                    &trial.flaws.join("; "),
                ]);
            }
        }
    }
    table
}

fn episodes(run: &Run) -> String {
    let mut table = row([
        "case",
        "trial",
        "episode",
        "type",
        "evidence",
        "interruption",
        "start_s",
        "duration_s",
        "silence_s",
        "lost_segments",
        "truth_lost_segments",
        "retransmissions",
        "retransmitted_bytes",
        "timeouts",
        "repaired",
    ]);
    for case in &run.cases {
        for trial in &case.trials {
            for episode in &trial.episodes {
                table += &row([
                    &case.name,
                    &trial.number.to_string(),
                    &episode.number.to_string(),
                    &episode.kind,
                    &episode.evidence,
                    &episode.interruption.map(|n| n.to_string()).unwrap_or_default(),
                    &episode.start_s.to_string(),
                    &episode.duration_s.to_string(),
                    &episode.silence_s.to_string(),
                    &episode.lost_segments.to_string(),
                    &episode.truth_lost.map(|n| n.to_string()).unwrap_or_default(),
                    &episode.retransmissions.to_string(),
                    &episode.retransmitted_bytes.to_string(),
                    &episode.timeouts.to_string(),
                    &episode.repaired.to_string(),
                ]);
            }
        }
    }
    table
}

fn interruptions(run: &Run) -> String {
    let mut table =
        row(["case", "trial", "interruption", "start_s", "lasting_s", "recovery_s", "lost_bytes"]);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for case in &run.cases {
        for trial in &case.trials {
            for interruption in &trial.interruptions {
                table += &row([
                    &case.name,
                    &trial.number.to_string(),
                    &interruption.number.to_string(),
                    &interruption.start_s.to_string(),
                    &interruption.lasting_s.to_string(),
                    &number(interruption.recovery_s),
                    &number(interruption.lost_bytes),
                ]);
            }
        }
    }
    table
}

fn options(run: &Run) -> String {
    let mut table = row([
        "case",
        "trial",
        "socket",
        "key",
        "option",
        "requested",
        "before",
        "set",
        "connected",
        "effective",
        "outcome",
        "because",
    ]);
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    for case in &run.cases {
        for trial in &case.trials {
            for OptionRow { socket, record } in &trial.options {
                table += &row([
                    &case.name,
                    &trial.number.to_string(),
                    socket,
                    &record.name,
                    &record.option,
                    &text(&record.requested),
                    &text(&record.before),
                    &text(&record.set),
                    &text(&record.connected),
                    &record.effective,
                    record.outcome.name(),
                    &text(&record.because),
                ]);
            }
        }
    }
    table
}

fn calls(run: &Run) -> String {
    let mut table = row([
        "case",
        "trial",
        "end",
        "connection",
        "call",
        "asked",
        "result",
        "count",
        "bytes",
        "began_s",
        "ended_s",
        "took_s",
        "longest_s",
        "scattered",
        "about",
    ]);
    for (case, trial, end) in all_ends(run) {
        for call in &end.calls {
            table += &row([
                case,
                &trial.number.to_string(),
                end.end.name(),
                &(call.connection + 1).to_string(),
                &call.call,
                &call.asked,
                &call.result,
                &call.count.to_string(),
                &call.bytes.as_u64().to_string(),
                &call.began.as_secs_f64().to_string(),
                &call.ended.as_secs_f64().to_string(),
                &call.took.as_secs_f64().to_string(),
                &call.longest.as_secs_f64().to_string(),
                &call.scattered.to_string(),
                &call.about,
            ]);
        }
    }
    table
}

fn ends(run: &Run) -> String {
    let mut table = row(["case", "trial", "end", "metric", "unit", "value"]);
    for (case, trial, end) in all_ends(run) {
        let mut add = |name: &str, unit: &str, value: f64| {
            let (number, value) = (trial.number.to_string(), value.to_string());
            table += &row([case, &number, end.end.name(), name, unit, &value]);
        };
        for metric in &end.metrics {
            add(&metric.name, &metric.unit, metric.value);
        }
        for time in &end.response_times_ms {
            add("response.time", "ms", *time);
        }
        for tries in &end.request_tries {
            add("request.tries", "", *tries as f64);
        }
    }
    table
}

fn all_ends(run: &Run) -> impl Iterator<Item = (&str, &Trial, &EndRow)> {
    run.cases.iter().flat_map(|case| {
        case.trials.iter().flat_map(move |trial| {
            trial.ends.iter().map(move |end| (case.name.as_str(), trial, end))
        })
    })
}

/// A row of RFC 4180 with Unix line ends.
pub(crate) fn row<const N: usize>(fields: [&str; N]) -> String {
    let quoted = fields.map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    });
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(row(["plain", "a,b", "say \"hi\""]), "plain,\"a,b\",\"say \"\"hi\"\"\"\n");
    }
}
