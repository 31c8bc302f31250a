//! The run's tables as files: for spreadsheets, notebooks, other programs.

mod comparisons;
mod flows;
mod row;
mod run_json;

use std::io::{self, Write};

use serde_json::value::{RawValue, to_raw_value};
use tcplab_results::{
    EndRow, EpisodeRow, Failure, InterruptionRow, MetricValue, OptionRow, Run, Trial,
};
use tcplab_workload::CallRow;

use super::directory::RunDirectory;
use super::files::Draft;
use crate::error::LabError;

pub(crate) use row::row;

/// Writes `trials.csv` (a row per trial, with how it went), `metrics.csv` (a row per trial and
/// metric, with what is wrong with the trial), `episodes.csv` (a row per recovery episode),
/// `interruptions.csv` (a row per interruption of the path during a transfer),
/// `calls.csv` (a row per call of an application, equal ones in a row together), `ends.csv` (a row
/// per end and metric of it), `options.csv` (a row per trial and socket option that was asked for
/// or changed), `flows.csv` (a row per flow and trial, where there are flows), `comparisons.csv`
/// and `comparisons.json` (where the scenario asks for comparisons) and, last, `run.json`
/// (everything), which makes the run a finished one. One trial after the other is in memory.
///
/// # Errors
/// When one cannot be written, or a trial cannot be read.
pub(crate) fn write_tables(directory: &RunDirectory, run: &Run) -> Result<(), LabError> {
    directory.replace_by("trials.csv", |out| trials(run, out))?;
    let has_flows = directory.scenario().cases.iter().any(|case| !case.flows.is_empty());
    let flows: (&str, String, Rows) = ("flows.csv", row(flows::COLUMNS), flows::rows);
    let tables: [(&str, String, Rows); 6] = [
        ("metrics.csv", row(METRICS), metrics),
        ("episodes.csv", row(EPISODES), episodes),
        ("interruptions.csv", row(INTERRUPTIONS), interruptions),
        ("calls.csv", row(CALLS), calls),
        ("ends.csv", row(ENDS), ends),
        ("options.csv", row(OPTIONS), options),
    ];
    let mut drafts = Vec::new();
    for (name, head, rows) in tables.into_iter().chain(has_flows.then_some(flows)) {
        let mut draft = Draft::begin(directory.path(), name)?;
        draft.write(|out| out.write_all(head.as_bytes()))?;
        drafts.push((draft, rows));
    }
    // One trial after the other is in memory: it goes to all tables.
    let mut each = |case: &str, known: &Trial| -> Result<Box<RawValue>, LabError> {
        let trial = directory.whole(known)?;
        for (draft, rows) in &mut drafts {
            draft.write(|out| out.write_all(rows(case, &trial).as_bytes()))?;
        }
        Ok(to_raw_value(&*trial).expect("plain data has a JSON form"))
    };
    let file = run_json::draft(directory, run, &mut each)?;
    for (draft, _) in drafts {
        draft.commit()?;
    }
    comparisons::write(directory, run)?;
    file.commit().map(drop)
}

/// Makes the rows of a trial of the case of this name.
type Rows = fn(&str, &Trial) -> String;

const TRIALS: [&str; 7] = ["case", "trial", "seed", "outcome", "put_aside", "packets", "reason"];

/// How each trial went, those that failed among them.
fn trials(run: &Run, out: &mut impl Write) -> io::Result<()> {
    out.write_all(row(TRIALS).as_bytes())?;
    for case in &run.cases {
        let good = case.trials.iter().map(|trial| (trial.number, Ok(trial)));
        let failed = case.failures.iter().map(|failure| (failure.number, Err(failure)));
        let mut all: Vec<_> = good.chain(failed).collect();
        all.sort_by_key(|(number, _)| *number);
        for (number, how) in all {
            let (seed, outcome, aside, has_packets, reason) = match how {
                Ok(Trial { seed, flaws, put_aside, has_packets, .. }) => {
                    let outcome = if flaws.is_empty() { "good" } else { "flawed" };
                    (seed, outcome, *put_aside, *has_packets, &flaws.join("; "))
                }
                Err(Failure { seed, attempts, reason, .. }) => {
                    (seed, "failed", attempts - 1, true, reason)
                }
            };
            let (number, seed) = (number.to_string(), seed.to_string());
            let (aside, packets) = (aside.to_string(), has_packets.to_string());
            let line = row([&case.name, &number, &seed, outcome, &aside, &packets, reason]);
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

const METRICS: [&str; 7] = ["case", "trial", "seed", "metric", "unit", "value", "flaws"];

fn metrics(case: &str, trial: &Trial) -> String {
    let of = |metric: MetricValue<'_>| {
        row([
            case,
            &trial.number.to_string(),
            &trial.seed.to_string(),
            metric.name,
            metric.unit,
            &metric.value.to_string(),
            &trial.flaws.join("; "),
        ])
    };
    trial.metrics.iter().map(of).collect()
}

const EPISODES: [&str; 15] = [
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
];

fn episodes(case: &str, trial: &Trial) -> String {
    let of = |episode: &EpisodeRow| {
        row([
            case,
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
        ])
    };
    trial.episodes.iter().map(of).collect()
}

const INTERRUPTIONS: [&str; 7] =
    ["case", "trial", "interruption", "start_s", "lasting_s", "recovery_s", "lost_bytes"];

fn interruptions(case: &str, trial: &Trial) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let of = |interruption: &InterruptionRow| {
        row([
            case,
            &trial.number.to_string(),
            &interruption.number.to_string(),
            &interruption.start_s.to_string(),
            &interruption.lasting_s.to_string(),
            &number(interruption.recovery_s),
            &number(interruption.lost_bytes),
        ])
    };
    trial.interruptions.iter().map(of).collect()
}

const OPTIONS: [&str; 12] = [
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
];

fn options(case: &str, trial: &Trial) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let of = |OptionRow { socket, record }: &OptionRow| {
        row([
            case,
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
        ])
    };
    trial.options.iter().map(of).collect()
}

const CALLS: [&str; 15] = [
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
];

fn calls(case: &str, trial: &Trial) -> String {
    let of = |(end, call): (&EndRow, &CallRow)| {
        row([
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
        ])
    };
    let calls = trial.ends.iter().flat_map(|end| end.calls.iter().map(move |call| (end, call)));
    calls.map(of).collect()
}

const ENDS: [&str; 6] = ["case", "trial", "end", "metric", "unit", "value"];

fn ends(case: &str, trial: &Trial) -> String {
    let mut table = String::new();
    for end in &trial.ends {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(row(["plain", "a,b", "say \"hi\""]), "plain,\"a,b\",\"say \"\"hi\"\"\"\n");
    }
}
