//! The tables and verdicts as text.

use tcplab_results::bench::{Answer, CommandTimes, PathTimes, Verdict, least_runs};
use tcplab_units::{Span, rounded, visible_line};

/// Columns of a command in a table.
const COMMAND_MAX: usize = 40;

/// What the columns of a table are, the command's first.
pub(super) const HEADINGS: [&str; 9] = [
    "command",
    "median time",
    "95 % CI",
    "min … max",
    "goodput",
    "packets",
    "bytes",
    "drops",
    "retransmissions",
];

/// `A` for the first command.
pub(super) fn letter(command: usize) -> char {
    char::from(b'A' + command as u8)
}

/// For each path a table and the verdicts.
pub(super) fn tables(all: &[PathTimes]) -> String {
    let mut text = String::new();
    for path in all {
        text += &format!("{}\n", visible_line(&path.path));
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        for (index, times) in path.commands.iter().enumerate() {
            let mut cells = cells(times);
            cells[0] = format!("{} {}", letter(index), shortened(&visible_line(&times.command)));
            rows.push(cells);
        }
        let columns = |cell: &String| cell.chars().count();
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0))
            .collect();
        for row in rows {
            let mut line = format!("  {:1$}", row[0], widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                line += &format!("  {cell:>width$}");
            }
            text += &format!("{}\n", line.trim_end());
        }
        for sentence in sentences(path) {
            text += &format!("  {sentence}\n");
        }
        text.push('\n');
    }
    text + &notes(all)
}

fn shortened(command: &str) -> String {
    if command.chars().count() <= COMMAND_MAX {
        return command.to_owned();
    }
    command.chars().take(COMMAND_MAX - 1).chain(['…']).collect()
}

/// A row of a table, without the command's letter.
pub(super) fn cells(times: &CommandTimes) -> [String; 9] {
    let interval = times.median_time_low_seconds.zip(times.median_time_high_seconds);
    let mut retransmissions = times.mean_retransmissions.map_or("–".into(), rounded::figures);
    if times.failed_runs > 0 {
        retransmissions += &format!(" ({} of {} runs failed", times.failed_runs, times.runs.len());
        retransmissions += &match times.timed_out_runs {
            0 => ")".to_owned(),
            late => format!(", {late} of them timed out)"),
        };
    }
    [
        times.command.clone(),
        seconds(times.median_time_seconds),
        interval
            .map_or("–".into(), |(low, high)| format!("{} to {}", seconds(low), seconds(high))),
        format!("{} … {}", seconds(times.min_time_seconds), seconds(times.max_time_seconds)),
        times
            .median_goodput_mbit_per_second
            .map_or("unknown".into(), |rate| format!("{} Mbit/s", rounded::figures(rate))),
        rounded::figures(times.median_packets),
        rounded::figures(times.median_bytes),
        rounded::figures(times.mean_dropped_packets),
        retransmissions,
    ]
}

fn seconds(value: f64) -> String {
    rounded::span(Span::from_nanos((value * 1e9).round() as u64))
}

/// The verdicts of a path.
pub(super) fn sentences(path: &PathTimes) -> Vec<String> {
    path.verdicts.iter().map(sentence).collect()
}

fn sentence(verdict: &Verdict) -> String {
    let name = letter(verdict.command);
    let ratio = |value: f64| rounded::decimal(value, if value < 10.0 { 2 } else { 1 });
    let interval = match verdict.time_ratio_low.zip(verdict.time_ratio_high) {
        Some((low, high)) => format!("{} to {}", ratio(low), ratio(high)),
        None => "no interval".into(),
    };
    let p = if verdict.p_corrected < 0.0001 {
        "p < 0.0001".into()
    } else {
        format!("p = {}", rounded::decimal(verdict.p_corrected, 4))
    };
    let share = ratio(verdict.time_ratio);
    match verdict.answer {
        Answer::NoDifferenceShown => {
            format!("{name} against A: no difference shown (ratio {share}, {interval}; {p})")
        }
        Answer::Faster | Answer::Slower => {
            format!("{name} takes {share} of A's time ({interval}), {p}")
        }
    }
}

/// What belongs to all paths.
pub(super) fn notes(all: &[PathTimes]) -> String {
    let comparisons: usize = all.iter().map(|path| path.verdicts.len()).sum();
    let runs = all.iter().flat_map(|path| &path.commands).map(|times| times.runs.len()).min();
    let (runs, least) = (runs.unwrap_or(0), least_runs(comparisons));
    let mut text =
        "Goodput (known with --capture), packets, bytes: medians of a run; drops, retransmissions: \
         means of a run. Ratio with its 95 % CI; Mann-Whitney"
            .to_owned();
    text += &match comparisons {
        1 => ".\n".to_owned(),
        _ => format!(", p corrected for {comparisons} comparisons (Holm).\n"),
    };
    if runs < least {
        text += &format!(
            "With {} each no difference can be shown for sure: use --runs {least} or more.\n",
            rounded::counted(runs, "run", "runs")
        );
    }
    text
}
