//! The tables and verdicts as text.

use tcplab_results::bench::{Answer, By, CommandTimes, PathTimes, Verdict, least_runs};
use tcplab_units::{Span, rounded, visible_line};

/// Columns of a command in a table.
const COMMAND_MAX: usize = 40;

/// Commands of which one moves so many times the bytes of another do not do the same task.
const UNEQUAL: f64 = 1.25;
/// Fewer bytes of a run say nothing.
const FEW: f64 = 10_000.0;

/// What the columns of a table are, the command's first.
pub(super) fn headings(by: By) -> [&'static str; 9] {
    let (median, other) = match by {
        By::Time => ("median time", "goodput"),
        By::Goodput => ("median goodput", "time"),
    };
    let rest = ["packets", "bytes", "drops", "retransmissions"];
    let [packets, bytes, drops, retransmissions] = rest;
    ["command", median, "95 % CI", "min … max", other, packets, bytes, drops, retransmissions]
}

/// `A` for the first command.
pub(super) fn letter(command: usize) -> char {
    char::from(b'A' + command as u8)
}

/// For each path a table and the verdicts; first the commands, where tables have only their
/// beginnings.
pub(super) fn tables(all: &[PathTimes], by: By) -> String {
    let headings = headings(by);
    let mut text = legend(all);
    for path in all {
        text += &format!("{}\n", visible_line(&path.path));
        let mut rows = vec![headings.map(str::to_owned)];
        for (index, times) in path.commands.iter().enumerate() {
            let mut cells = cells(times, by);
            cells[0] = format!("{} {}", letter(index), shortened(&visible_line(&times.command)));
            rows.push(cells);
        }
        let columns = |cell: &String| cell.chars().count();
        let widths: Vec<usize> = (0..headings.len())
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
    text + &notes(all, by)
}

/// Each command in full, if one is too long for a table.
fn legend(all: &[PathTimes]) -> String {
    let commands = all.first().map(|path| &path.commands[..]).unwrap_or_default();
    let all: Vec<_> = commands.iter().map(|times| visible_line(&times.command)).collect();
    if all.iter().all(|command| shortened(command) == **command) {
        return String::new();
    }
    let line = |(index, command)| format!("{}: {command}\n", letter(index));
    all.iter().enumerate().map(line).collect::<String>() + "\n"
}

fn shortened(command: &str) -> String {
    if command.chars().count() <= COMMAND_MAX {
        return command.to_owned();
    }
    command.chars().take(COMMAND_MAX - 1).chain(['…']).collect()
}

/// A row of a table, without the command's letter.
pub(super) fn cells(times: &CommandTimes, by: By) -> [String; 9] {
    let (time, rate) = (seconds(times.median_time_seconds), goodput(times));
    let (judged, interval, range, other) = match by {
        By::Time => (
            time,
            times.median_time_low_seconds.zip(times.median_time_high_seconds).map(both(seconds)),
            Some(both(seconds)((times.min_time_seconds, times.max_time_seconds))),
            rate,
        ),
        By::Goodput => (
            rate,
            times
                .median_goodput_low_mbit_per_second
                .zip(times.median_goodput_high_mbit_per_second)
                .map(both(mbit_per_second)),
            times
                .min_goodput_mbit_per_second
                .zip(times.max_goodput_mbit_per_second)
                .map(both(mbit_per_second)),
            time,
        ),
    };
    let joined = |ends: Option<[String; 2]>, word: &str| {
        ends.map_or("–".into(), |[low, high]| format!("{low} {word} {high}"))
    };
    [
        times.command.clone(),
        judged,
        joined(interval, "to"),
        joined(range, "…"),
        other,
        rounded::figures(times.median_packets),
        rounded::figures(times.median_bytes),
        rounded::figures(times.mean_dropped_packets),
        times.mean_retransmissions.map_or("–".into(), rounded::figures),
    ]
}

/// Two values as text.
fn both(text: fn(f64) -> String) -> impl Fn((f64, f64)) -> [String; 2] {
    move |(one, other)| [text(one), text(other)]
}

fn goodput(times: &CommandTimes) -> String {
    times.median_goodput_mbit_per_second.map_or("unknown".into(), mbit_per_second)
}

fn mbit_per_second(value: f64) -> String {
    format!("{} Mbit/s", rounded::figures(value))
}

fn seconds(value: f64) -> String {
    rounded::span(Span::from_nanos((value * 1e9).round() as u64))
}

/// The failures behind a path, and its verdicts.
pub(super) fn sentences(path: &PathTimes) -> Vec<String> {
    let failures = path.commands.iter().enumerate().filter_map(|(index, times)| {
        let CommandTimes { failed_runs, timed_out_runs, runs, .. } = times;
        let late = match timed_out_runs {
            0 => String::new(),
            late => format!(", {late} of them timed out"),
        };
        let runs = rounded::counted(runs.len(), "run", "runs");
        (*failed_runs > 0)
            .then(|| format!("{} failed in {failed_runs} of {runs}{late}", letter(index)))
    });
    failures.chain(path.verdicts.iter().map(|verdict| sentence(path, verdict))).collect()
}

/// What runs that timed out leave of a ratio of times: they would have taken longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
    Unknown,
}

impl Bound {
    fn of(path: &PathTimes, verdict: &Verdict) -> Bound {
        let is_late = |command: usize| {
            path.commands.get(command).is_some_and(|times| times.timed_out_runs > 0)
        };
        match (verdict.by, is_late(0), is_late(verdict.command)) {
            (By::Goodput, ..) | (By::Time, false, false) => Bound::Exact,
            (By::Time, false, true) => Bound::AtLeast,
            (By::Time, true, false) => Bound::AtMost,
            (By::Time, true, true) => Bound::Unknown,
        }
    }

    /// The ratio.
    fn ratio(self, share: &str) -> String {
        match self {
            Bound::Exact | Bound::Unknown => share.to_owned(),
            Bound::AtLeast => format!("at least {share}"),
            Bound::AtMost => format!("at most {share}"),
        }
    }

    /// Its interval, or why it is not known.
    fn interval(self, ends: [Option<String>; 2]) -> String {
        match (self, ends) {
            (Bound::Unknown, _) => "ratio unknown: runs of both timed out".to_owned(),
            (Bound::Exact, [Some(low), Some(high)]) => format!("{low} to {high}"),
            (Bound::AtLeast, [Some(low), _]) => format!("{low} or more"),
            (Bound::AtMost, [_, Some(high)]) => format!("{high} or less"),
            _ => "no interval".to_owned(),
        }
    }
}

fn sentence(path: &PathTimes, verdict: &Verdict) -> String {
    let name = letter(verdict.command);
    let Some(p) = verdict.p_corrected else {
        return format!("{name} against A: unknown{}", unknown(path, verdict));
    };
    let bound = Bound::of(path, verdict);
    let share = verdict.ratio.map(|it| bound.ratio(&ratio(it)));
    let interval = bound.interval([verdict.ratio_low, verdict.ratio_high].map(|it| it.map(ratio)));
    let p =
        if p < 0.0001 { "p < 0.0001".into() } else { format!("p = {}", rounded::decimal(p, 4)) };
    let is_faster = verdict.answer == Answer::Faster;
    match (verdict.answer, verdict.by, share) {
        (Answer::NoDifferenceShown | Answer::Unknown, _, ratio) => {
            let ratio = ratio.map_or(String::new(), |ratio| format!("ratio {ratio}, "));
            format!("{name} against A: no difference shown ({ratio}{interval}; {p})")
        }
        (_, _, None) => {
            let what = if is_faster { "faster" } else { "slower" };
            format!("{name} is {what} than A ({interval}), {p}")
        }
        (_, By::Time, Some(ratio)) => {
            format!("{name} takes {ratio} times A's time ({interval}), {p}")
        }
        (_, By::Goodput, Some(ratio)) => {
            format!("{name} has {ratio} times A's goodput ({interval}), {p}")
        }
    }
}

/// A ratio, in three figures below 1, so that none is 0.
fn ratio(value: f64) -> String {
    let decimals = match value {
        small if small < 1.0 => rounded::decimals_of(small, 3.0),
        small if small < 10.0 => 2,
        _ => 1,
    };
    rounded::decimal(value, decimals)
}

/// Of which of the two commands the goodput or the time is not known.
fn unknown(path: &PathTimes, verdict: &Verdict) -> String {
    let both = [0, verdict.command].into_iter();
    let lacks = |command: &usize| {
        path.commands.get(*command).is_some_and(|it| match verdict.by {
            By::Time => it.has_failed_always(),
            By::Goodput => it.median_goodput_mbit_per_second.is_none(),
        })
    };
    let names: Vec<String> =
        both.filter(lacks).map(|command| letter(command).to_string()).collect();
    match (names.as_slice(), verdict.by) {
        ([], _) => String::new(),
        (names, By::Time) => format!(": all runs of {} failed", names.join(" and of ")),
        (names, By::Goodput) => format!(": a run of {} has no goodput", names.join(" and of ")),
    }
}

/// What belongs to all paths.
pub(super) fn notes(all: &[PathTimes], by: By) -> String {
    let verdicts = all.iter().flat_map(|path| &path.verdicts);
    let comparisons = verdicts.filter(|verdict| verdict.p.is_some()).count();
    let runs = all.iter().flat_map(|path| &path.commands).map(|times| times.runs.len()).min();
    let (runs, least) = (runs.unwrap_or(0), least_runs(comparisons));
    let others = match by {
        By::Time => "Goodput (known with --capture)",
        By::Goodput => "Time",
    };
    let mut text = format!(
        "{others}, packets, bytes: medians of a run; drops, retransmissions: means of a run. Ratio \
         with its 95 % CI; Mann-Whitney"
    );
    text += &match comparisons {
        0 | 1 => ".\n".to_owned(),
        _ => format!(", p corrected for {comparisons} comparisons (Holm).\n"),
    };
    if runs < least {
        text += &format!(
            "With {} each no difference can be shown for sure: use --runs {least} or more.\n",
            rounded::counted(runs, "run", "runs")
        );
    }
    if by == By::Time && all.iter().any(is_unequal) {
        text += "The commands moved different amounts of data (bytes): `--by goodput` compares \
                 rates.\n";
    }
    text
}

/// Whether the commands move different amounts of data.
fn is_unequal(path: &PathTimes) -> bool {
    let bytes = || path.commands.iter().map(|times| times.median_bytes);
    let (least, most) = (bytes().fold(f64::INFINITY, f64::min), bytes().fold(0.0, f64::max));
    least >= FEW && most >= least * UNEQUAL
}
