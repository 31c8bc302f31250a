//! `--export-csv`, `--export-json` and `--export-markdown`.

use anyhow::Result;
use serde_json::json;
use tcplab_plot::number_cell;
use tcplab_quantities::BENCH_DOCUMENT;
use tcplab_results::bench::{By, PathTimes};
use tcplab_units::{csv_field, visible_line};

use super::shown::{cells, headings, letter, notes, sentences};
use crate::arguments::BenchArguments;
use crate::output::in_document;

/// A row for each run.
pub(super) fn csv(all: &[PathTimes]) -> String {
    let mut text = "path,command,block,path_seed,time_seconds,exit_code,packets,bytes,\
                    dropped_packets,retransmissions,goodput_mbit_per_second,is_timed_out\n"
        .to_owned();
    for path in all {
        for times in &path.commands {
            for run in &times.runs {
                let goodput = run.goodput_mbit_per_second.map(number_cell);
                let retransmissions = run.retransmissions.map(|count| count.to_string());
                text += &format!(
                    "{},{},{},{},{},{},{},{},{},{},{},{}\n",
                    csv_field(&path.path),
                    csv_field(&times.command),
                    run.block,
                    run.path_seed,
                    run.time_seconds,
                    run.exit_code,
                    run.packets,
                    run.bytes,
                    run.dropped_packets,
                    retransmissions.unwrap_or_default(),
                    goodput.unwrap_or_default(),
                    run.is_timed_out
                );
            }
        }
    }
    text
}

/// The whole bench.
pub(super) fn json(
    arguments: &BenchArguments,
    all: &[PathTimes],
    warnings: &[String],
) -> Result<String> {
    let BenchArguments { commands, runs, warmup, seed, far_command, congestion, .. } = arguments;
    let timeout = arguments.timeout.map(tcplab_units::Span::as_secs_f64);
    let value = json!({
        "tcplab": env!("CARGO_PKG_VERSION"), "commands": commands, "runs": runs,
        "warmup_runs": warmup, "seed": seed, "far_command": far_command,
        "congestion_control": congestion, "timeout_seconds": timeout,
        "by": By::from(arguments.by), "paths": all,
        "warnings": warnings,
    });
    in_document(&BENCH_DOCUMENT, &value)
}

/// The tables and verdicts.
pub(super) fn markdown(all: &[PathTimes], by: By) -> String {
    let headings = headings(by);
    let mut text = String::new();
    for path in all {
        text += &format!("### {}\n\n", plain(&path.path));
        text += &format!(
            "| | {} |\n|---|---|{}\n",
            headings.join(" | "),
            "---:|".repeat(headings.len() - 1)
        );
        for (index, times) in path.commands.iter().enumerate() {
            let [command, rest @ ..] = cells(times, by);
            let row = rest.join(" | ");
            text += &format!("| {} | {} | {row} |\n", letter(index), plain(&command));
        }
        text.push('\n');
        for sentence in sentences(path) {
            text += &format!("- {sentence}\n");
        }
        text.push('\n');
    }
    text + &notes(all, by)
}

/// A foreign text, of which Markdown and HTML must take nothing for their own.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in visible_line(text).chars() {
        match character {
            '&' => plain += "&amp;",
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            _ if character.is_ascii_punctuation() => plain.extend(['\\', character]),
            _ => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use tcplab_results::bench::{CommandRun, CommandTimes, judged, times};

    use super::super::shown::tables;
    use super::*;

    /// The time that a run has, seconds.
    const LIMIT: f64 = 1.0;

    fn all(by: By) -> Vec<PathTimes> {
        let of = |command: &str, scale: f64| {
            let is_late = |index: u32| command.starts_with('=') && index == 0;
            let time = |index: u32| scale * (1.0 + f64::from(index) / 100.0);
            let run = |index: u32| CommandRun {
                block: index + 1,
                path_seed: 7 + u64::from(index),
                time_seconds: if is_late(index) { LIMIT } else { time(index) },
                exit_code: u8::from(is_late(index)),
                packets: 40,
                bytes: 40_000,
                dropped_packets: u64::from(index),
                retransmissions: (!command.starts_with("get\u{1b}")).then_some(2),
                goodput_mbit_per_second: command.starts_with("get <").then_some(4.25),
                is_timed_out: is_late(index),
            };
            times(command, (0..6).map(run).collect()).unwrap()
        };
        let commands = vec![of("get <a>|b", 0.2), of("=x, y", 0.1), of("get\u{1b}[2J", 0.2)];
        judged(vec![("dsl-25".into(), commands)], by)
    }

    #[test]
    fn tables_are_printed() {
        insta::assert_snapshot!(tables(&all(By::Time), By::Time));
    }

    /// They may differ behind what a table has room for.
    #[test]
    fn long_commands_are_printed_in_full_once() {
        let mut all = all(By::Time);
        let long = |ending: &str| format!("curl -so /dev/null http://$TCPLAB_FAR:8000/{ending}");
        all[0].commands[0].command = long("old");
        all[0].commands[1].command = long("new");
        let text = tables(&all, By::Time);
        let legend: Vec<&str> = text.lines().take(4).collect();
        let [old, new] =
            [("A", "old"), ("B", "new")].map(|(it, end)| format!("{it}: {}", long(end)));
        assert_eq!(legend, [&*old, &*new, "C: get\\x1b[2J", ""]);
        assert!(text.contains("\n  A curl -so /dev/null http://$TCPLAB_FAR:8… "), "{text}");
    }

    #[test]
    fn tables_by_goodput_are_printed() {
        let mut all = all(By::Time);
        let mut commands = std::mem::take(&mut all[0].commands);
        // The second moves five times as much, in half the time.
        for (command, amount) in commands.iter_mut().zip([2.0, 10.0]) {
            for run in &mut command.runs {
                run.goodput_mbit_per_second = Some(amount / run.time_seconds);
                run.bytes = (amount * 1e6) as u64;
            }
            *command = times(&command.command, command.runs.clone()).unwrap();
        }
        let by_time = judged(vec![("lte".into(), commands.clone())], By::Time);
        assert!(tables(&by_time, By::Time).contains("`--by goodput` compares rates"));
        let by_goodput = judged(vec![("lte".into(), commands)], By::Goodput);
        insta::assert_snapshot!(tables(&by_goodput, By::Goodput));
        assert!(markdown(&by_goodput, By::Goodput).contains("| median goodput | 95 % CI |"));
    }

    #[test]
    fn few_runs_say_so() {
        let mut few = all(By::Time);
        few[0].commands[1].runs.truncate(3);
        assert!(tables(&few, By::Time).contains("With 3 runs each no difference can be shown"));
    }

    /// 2 × 0.5⁵ is more than 5 %.
    #[test]
    fn median_of_fewer_than_six_runs_has_no_interval() {
        let shown = |runs: usize| {
            let mut all = all(By::Time);
            for command in &mut all[0].commands {
                command.runs.truncate(runs);
                *command = times(&command.command, command.runs.clone()).unwrap();
            }
            let low = all[0].commands[0].median_time_low_seconds;
            (low, tables(&all, By::Time).lines().nth(2).unwrap().to_owned())
        };
        let (low, row) = shown(5);
        assert!(low.is_none() && row.contains("  –  200 ms … "), "{row}");
        let (low, row) = shown(6);
        assert!(low.is_some() && row.contains("200 ms to 210 ms"), "{row}");
    }

    #[test]
    fn ratio_near_nothing_is_not_none() {
        let mut all = all(By::Time);
        let mut commands = std::mem::take(&mut all[0].commands);
        commands.truncate(2);
        for (command, scale) in commands.iter_mut().zip([0.6, 0.0015]) {
            for (index, run) in command.runs.iter_mut().enumerate() {
                run.time_seconds = scale * (1.0 + index as f64 / 100.0);
                (run.is_timed_out, run.exit_code) = (false, 0);
            }
            *command = times(&command.command, command.runs.clone()).unwrap();
        }
        let said = |commands: &[CommandTimes]| {
            let judged = judged(vec![("dsl-25".into(), commands.to_vec())], By::Time);
            sentences(&judged[0]).pop().unwrap()
        };
        let verdict = "B takes 0.00250 times A's time (0.00243 to 0.00257), p = 0.0022";
        assert_eq!(said(&commands), verdict);
        // Of none that does its task.
        for run in &mut commands[1].runs {
            run.exit_code = 1;
        }
        commands[1].failed_runs = 6;
        assert_eq!(said(&commands), "B against A: unknown: all runs of B failed");
    }

    /// A run that timed out would have taken longer: the ratio is a bound, or unknown.
    #[test]
    fn ratio_with_timed_out_runs_is_a_bound() {
        let verdicts = |late: [bool; 2]| {
            let mut all = all(By::Time);
            let mut commands = std::mem::take(&mut all[0].commands);
            commands.truncate(2);
            for ((command, scale), is_late) in commands.iter_mut().zip([0.2, 0.1]).zip(late) {
                for (index, run) in command.runs.iter_mut().enumerate() {
                    let time = scale * (1.0 + index as f64 / 100.0);
                    run.time_seconds = if is_late { LIMIT } else { time };
                    run.is_timed_out = is_late;
                }
                *command = times(&command.command, command.runs.clone()).unwrap();
            }
            let judged = judged(vec![("dsl-25".into(), commands)], By::Time);
            sentences(&judged[0]).pop().unwrap()
        };
        for (late, said) in [
            ([false, false], "B takes 0.500 times A's time (0.486 to 0.515), p = 0.0022"),
            ([false, true], "B takes at least 4.88 times A's time (4.76 or more), p = 0.0022"),
            ([true, false], "B takes at most 0.102 times A's time (0.105 or less), p = 0.0022"),
            (
                [true, true],
                "B against A: no difference shown (ratio unknown: runs of both timed out; p = \
                 1.0000)",
            ),
        ] {
            assert_eq!(verdicts(late), said);
        }
    }

    #[test]
    fn markdown_has_tables_and_verdicts() {
        insta::assert_snapshot!(markdown(&all(By::Time), By::Time));
    }

    #[test]
    fn csv_has_a_row_for_each_run() {
        let text = csv(&all(By::Time));
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 1 + 18);
        assert_eq!(rows[1], "dsl-25,get <a>|b,1,7,0.2,0,40,40000,0,2,4.25,false");
        assert_eq!(rows[7], "dsl-25,\"'=x, y\",1,7,1,1,40,40000,0,2,,true");
    }
}
