//! Commands run against one another behind paths: what their runs say together, by time or by
//! goodput.

use serde::{Deserialize, Serialize};
use tcplab_stats::{Shift, holm, least_values, median_interval, rank_sum};

/// How often an interval is to hold the truth; a verdict may err as often as this leaves.
const CONFIDENCE: f64 = 0.95;
/// The chance of even one wrong verdict among all.
const ALPHA: f64 = 1.0 - CONFIDENCE;

/// One run of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandRun {
    /// The block it belongs to, from 1: each command runs once in a block behind each path.
    pub block: u32,
    /// Seed of the path's randomness: that of all runs of the block.
    pub path_seed: u64,
    /// From the command's start to its end.
    pub time_seconds: f64,
    /// Its exit code.
    pub exit_code: u8,
    /// Packets that came to the path, in both directions.
    pub packets: u64,
    /// Their bytes of IP.
    pub bytes: u64,
    /// Those that the path dropped.
    pub dropped_packets: u64,
    /// TCP segments that the kernels of both ends retransmitted, SYNs among them; none where the
    /// kernel does not count them.
    pub retransmissions: Option<u64>,
    /// Acknowledged data of both directions over the time from the first data to the last
    /// acknowledgement, as the capture of the near end shows; none without one, or where it has too
    /// little data.
    pub goodput_mbit_per_second: Option<f64>,
    /// Whether the command was ended after the time that it had; its time is then that.
    pub is_timed_out: bool,
}

/// The runs of a command behind a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandTimes {
    /// What `sh` ran.
    pub command: String,
    /// Median of the times.
    pub median_time_seconds: f64,
    /// Its 95 % confidence interval; none of fewer than six runs.
    pub median_time_low_seconds: Option<f64>,
    /// The interval's upper end.
    pub median_time_high_seconds: Option<f64>,
    /// The shortest time.
    pub min_time_seconds: f64,
    /// The longest.
    pub max_time_seconds: f64,
    /// Standard deviation of the times; none of a single run.
    pub standard_deviation_seconds: Option<f64>,
    /// Median of the packets of a run.
    pub median_packets: f64,
    /// Median of the bytes of a run.
    pub median_bytes: f64,
    /// Mean of the dropped packets of a run: most have few.
    pub mean_dropped_packets: f64,
    /// Mean of the retransmissions of a run, where they are known of all.
    pub mean_retransmissions: Option<f64>,
    /// Median of the goodput of a run, where it is known of all, as all that follows of it.
    pub median_goodput_mbit_per_second: Option<f64>,
    /// Its 95 % confidence interval; none of fewer than six runs.
    pub median_goodput_low_mbit_per_second: Option<f64>,
    /// The interval's upper end.
    pub median_goodput_high_mbit_per_second: Option<f64>,
    /// The lowest goodput.
    pub min_goodput_mbit_per_second: Option<f64>,
    /// The highest.
    pub max_goodput_mbit_per_second: Option<f64>,
    /// Standard deviation of the goodput; none of a single run.
    pub standard_deviation_goodput_mbit_per_second: Option<f64>,
    /// Runs with another exit code than 0.
    pub failed_runs: usize,
    /// Those of them that were ended after the time that they had.
    pub timed_out_runs: usize,
    /// Every run, in the order of blocks.
    pub runs: Vec<CommandRun>,
}

impl CommandTimes {
    /// Whether all runs failed, and not all by taking longer than they had: how long that takes is
    /// no time of the task.
    pub fn has_failed_always(&self) -> bool {
        self.failed_runs == self.runs.len() && self.timed_out_runs < self.runs.len()
    }
}

/// What commands are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The time of a run: the less the better.
    Time,
    /// The goodput of a run: the more the better.
    Goodput,
}

impl By {
    /// The logarithms of the values of all runs of a command; none where one is not known, or of
    /// times where all failed. Runs that timed out would have taken longer, nobody knows which the
    /// longest: all count `late`.
    fn logarithms(self, of: &CommandTimes, late: f64) -> Option<Vec<f64>> {
        if self == By::Time && of.has_failed_always() {
            return None;
        }
        let value = |run: &CommandRun| match self {
            By::Time if run.is_timed_out => Some(late),
            By::Time => Some(run.time_seconds),
            By::Goodput => run.goodput_mbit_per_second.filter(|&rate| rate > 0.0),
        };
        of.runs.iter().map(|run| Some(value(run)?.ln())).collect()
    }
}

/// What is shown of a command against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It takes less time, or has more goodput.
    Faster,
    /// It takes more time, or has less goodput.
    Slower,
    /// No difference shown.
    NoDifferenceShown,
    /// The goodput of a run of either is not known; or by time, all runs of either failed.
    Unknown,
}

/// A command against the first, behind one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The place of the command among all, from 0.
    pub command: usize,
    /// What of its runs is compared.
    pub by: By,
    /// That as a share of the first's (Hodges and Lehmann, of logarithms); none where it is not
    /// known of a run, as all that follows, or where runs of both timed out. Where runs of one did,
    /// a bound.
    pub ratio: Option<f64>,
    /// Its 95 % confidence interval, of this comparison alone; none of fewer than 4 runs each, or
    /// where runs of the first timed out.
    pub ratio_low: Option<f64>,
    /// The interval's upper end; none where runs of the other timed out.
    pub ratio_high: Option<f64>,
    /// Of the test of Mann and Whitney.
    pub p: Option<f64>,
    /// Corrected for all comparisons of the bench (Holm).
    pub p_corrected: Option<f64>,
    /// What that says.
    pub answer: Answer,
}

/// Commands behind a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathTimes {
    /// The path in one line.
    pub path: String,
    /// The commands in the order given.
    pub commands: Vec<CommandTimes>,
    /// All but the first, each against it.
    pub verdicts: Vec<Verdict>,
}

/// The times of a command; none where it did not run.
pub fn times(command: &str, runs: Vec<CommandRun>) -> Option<CommandTimes> {
    let of = |value: fn(&CommandRun) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
    let seconds = of(|run| run.time_seconds);
    let summary = tcplab_stats::Summary::of(&seconds)?;
    let interval = median_interval(&seconds);
    let rates = of_all(&runs, |run| run.goodput_mbit_per_second);
    let goodput = tcplab_stats::Summary::of(&rates);
    let goodput_interval = median_interval(&rates);
    Some(CommandTimes {
        command: command.to_owned(),
        median_time_seconds: summary.median,
        median_time_low_seconds: interval.map(|it| it.low),
        median_time_high_seconds: interval.map(|it| it.high),
        min_time_seconds: summary.min,
        max_time_seconds: summary.max,
        standard_deviation_seconds: summary.standard_deviation,
        median_packets: tcplab_stats::median(&of(|run| run.packets as f64))?,
        median_bytes: tcplab_stats::median(&of(|run| run.bytes as f64))?,
        mean_dropped_packets: tcplab_stats::mean(&of(|run| run.dropped_packets as f64))?,
        mean_retransmissions: tcplab_stats::mean(&of_all(&runs, |run| {
            run.retransmissions.map(|count| count as f64)
        })),
        median_goodput_mbit_per_second: goodput.as_ref().map(|it| it.median),
        median_goodput_low_mbit_per_second: goodput_interval.map(|it| it.low),
        median_goodput_high_mbit_per_second: goodput_interval.map(|it| it.high),
        min_goodput_mbit_per_second: goodput.as_ref().map(|it| it.min),
        max_goodput_mbit_per_second: goodput.as_ref().map(|it| it.max),
        standard_deviation_goodput_mbit_per_second: goodput
            .as_ref()
            .and_then(|it| it.standard_deviation),
        timed_out_runs: runs.iter().filter(|run| run.is_timed_out).count(),
        failed_runs: runs.iter().filter(|run| run.exit_code != 0).count(),
        runs,
    })
}

/// The values of all runs; nothing where one has none.
fn of_all(runs: &[CommandRun], value: fn(&CommandRun) -> Option<f64>) -> Vec<f64> {
    runs.iter().map(value).collect::<Option<Vec<f64>>>().unwrap_or_default()
}

/// Compares the commands behind each path with the first; the verdicts of all paths are one family.
/// Times must be above zero.
pub fn judged(paths: Vec<(String, Vec<CommandTimes>)>, by: By) -> Vec<PathTimes> {
    let mut all: Vec<PathTimes> = paths
        .into_iter()
        .map(|(path, commands)| PathTimes { path, verdicts: compared(&commands, by), commands })
        .collect();
    let verdicts = all.iter_mut().flat_map(|it| &mut it.verdicts);
    let (mut verdicts, family): (Vec<&mut Verdict>, Vec<f64>) =
        verdicts.filter_map(|verdict| verdict.p.map(|p| (verdict, p))).unzip();
    for (verdict, corrected) in verdicts.iter_mut().zip(holm(&family)) {
        verdict.p_corrected = Some(corrected);
        if corrected > ALPHA {
            verdict.answer = Answer::NoDifferenceShown;
        }
    }
    all
}

/// The fewest runs of each command with which `comparisons` can all show a difference.
pub fn least_runs(comparisons: usize) -> usize {
    least_values(ALPHA / comparisons.max(1) as f64)
}

/// With the answer that there is if the difference is significant.
fn compared(commands: &[CommandTimes], by: By) -> Vec<Verdict> {
    let times = commands.iter().flat_map(|of| &of.runs).map(|run| run.time_seconds);
    let late = times.fold(0.0, f64::max);
    let first = commands.first().and_then(|of| by.logarithms(of, late));
    let has_late = |of: &CommandTimes| by == By::Time && of.timed_out_runs > 0;
    let first_is_late = commands.first().is_some_and(has_late);
    let others = commands.iter().enumerate().skip(1);
    let verdict = |(command, of): (usize, &CommandTimes)| {
        let unknown = Verdict {
            command,
            by,
            ratio: None,
            ratio_low: None,
            ratio_high: None,
            p: None,
            p_corrected: None,
            answer: Answer::Unknown,
        };
        let both = first.as_ref().zip(by.logarithms(of, late)).and_then(|(first, own)| {
            Some((Shift::between(&own, first, CONFIDENCE)?, rank_sum(&own, first)?))
        });
        let Some((shift, test)) = both else { return unknown };
        let (is_less, is_late) = (test.effect < 0.0, has_late(of));
        let known = |is_known: bool, value: f64| is_known.then_some(value.exp());
        Verdict {
            ratio: known(!first_is_late || !is_late, shift.estimate),
            ratio_low: shift.interval.and_then(|it| known(!first_is_late, it.low)),
            ratio_high: shift.interval.and_then(|it| known(!is_late, it.high)),
            p: Some(test.p),
            answer: match by {
                By::Time if is_less => Answer::Faster,
                By::Goodput if !is_less => Answer::Faster,
                By::Time | By::Goodput => Answer::Slower,
            },
            ..unknown
        }
    };
    others.map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str, seconds: &[f64]) -> CommandTimes {
        let run = |(index, seconds): (usize, &f64)| CommandRun {
            block: index as u32 + 1,
            path_seed: index as u64,
            time_seconds: *seconds,
            exit_code: u8::from(index == 2) * 7,
            packets: 10 + index as u64,
            bytes: 1000,
            dropped_packets: u64::from(index == 0),
            retransmissions: Some(2 * index as u64),
            goodput_mbit_per_second: Some(2.0 + index as f64),
            is_timed_out: false,
        };
        times(command, seconds.iter().enumerate().map(run).collect()).unwrap()
    }

    #[test]
    fn times_are_summed_up() {
        let mut runs = of("a", &[3.0, 1.0, 2.0, 10.0]).runs;
        runs[2].is_timed_out = true;
        let times = super::times("a", runs).unwrap();
        assert_eq!(
            (times.median_time_seconds, times.min_time_seconds, times.max_time_seconds),
            (2.5, 1.0, 10.0)
        );
        assert_eq!((times.median_packets, times.median_bytes), (11.5, 1000.0));
        assert_eq!((times.mean_dropped_packets, times.failed_runs), (0.25, 1));
        assert_eq!((times.mean_retransmissions, times.timed_out_runs), (Some(3.0), 1));
        assert_eq!(times.median_goodput_mbit_per_second, Some(3.5));
        assert_eq!(times.min_goodput_mbit_per_second, Some(2.0));
        assert_eq!(times.max_goodput_mbit_per_second, Some(5.0));
        let mut runs = times.runs.clone();
        runs[1].retransmissions = None;
        runs[2].goodput_mbit_per_second = None;
        let unknown = super::times("a", runs).unwrap();
        assert_eq!(unknown.mean_retransmissions, None);
        assert_eq!(unknown.median_goodput_mbit_per_second, None);
        assert_eq!((times.median_time_low_seconds, times.median_time_high_seconds), (None, None));
        // Six runs have their extremes, seven too, ten the second and the ninth.
        let ends = |runs: u32| {
            let times = of("a", &(1..=runs).map(f64::from).collect::<Vec<f64>>());
            let goodput = times.median_goodput_low_mbit_per_second;
            (times.median_time_low_seconds, times.median_time_high_seconds, goodput)
        };
        assert_eq!(ends(7), (Some(1.0), Some(7.0), Some(2.0)));
        assert_eq!(ends(10), (Some(2.0), Some(9.0), Some(3.0)));
        assert_eq!(super::times("a", Vec::new()), None);
    }

    /// Every value doubled, with no overlap: the ratio is 2 and the exact test of 5 against 5 gives
    /// 2 / 252.
    #[test]
    fn twice_the_time_is_slower() {
        let first = [1.0, 1.01, 1.02, 1.03, 1.04];
        let commands = vec![of("a", &first), of("b", &first.map(|it| it * 2.0)), of("c", &first)];
        let judged = judged(vec![("lte".into(), commands)], By::Time);
        let [b, c] = &judged[0].verdicts[..] else { panic!("{judged:?}") };
        let is = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-9;
        assert!(is(b.ratio, 2.0) && is(b.p, 2.0 / 252.0), "{b:?}");
        assert!(is(b.p_corrected, 4.0 / 252.0), "two comparisons: {b:?}");
        assert_eq!((b.command, b.answer), (1, Answer::Slower));
        assert!(b.ratio_low < Some(2.0) && b.ratio_low > Some(1.9), "{b:?}");
        assert_eq!((c.command, c.answer), (2, Answer::NoDifferenceShown));
        assert!(is(c.ratio, 1.0) && c.p > Some(0.9), "{c:?}");
    }

    /// How late a run was ended says nothing: all that timed out took as long, longer than the
    /// others.
    #[test]
    fn runs_that_timed_out_are_equal() {
        let late = |command: &str, seconds: &[f64], limit: f64| {
            let mut runs = of(command, seconds).runs;
            for run in &mut runs {
                run.is_timed_out = run.time_seconds >= limit;
            }
            times(command, runs).unwrap()
        };
        let verdict = |a: &[f64], b: &[f64], limit: f64| {
            let both = vec![late("a", a, limit), late("b", b, limit)];
            judged(vec![("lte".into(), both)], By::Time)[0].verdicts[0].clone()
        };
        let (early, later) = ([2.0, 2.001, 2.002, 2.003, 2.001], [2.02, 2.021, 2.022, 2.023, 2.02]);
        let all = verdict(&early, &later, 2.0);
        assert_eq!((all.answer, all.p), (Answer::NoDifferenceShown, Some(1.0)));
        assert_eq!((all.ratio, all.ratio_low, all.ratio_high), (None, None, None));
        // Of one command none, one of the other: 2 / 252, and one end of the interval is not known.
        let quick = [1.0, 1.01, 1.02, 1.03, 1.04];
        let slower = verdict(&quick, &later, 2.0);
        assert_eq!((slower.answer, slower.ratio_high), (Answer::Slower, None));
        assert!(slower.ratio_low > Some(1.0) && slower.ratio > Some(1.9), "{slower:?}");
        let faster = verdict(&later, &quick, 2.0);
        assert_eq!((faster.answer, faster.ratio_low), (Answer::Faster, None));
        assert!(faster.ratio_high < Some(1.0) && faster.p == slower.p, "{faster:?}");
        // Runs of both timed out, but fewer of the one: 2 × 5 / 252 ties counted.
        let some = verdict(&[1.0, 1.01, 1.02, 1.03, 2.0], &later, 2.0);
        assert_eq!((some.answer, some.ratio), (Answer::Slower, None), "{some:?}");
    }

    /// A command that moves twice as much in 1.5 times the time is slower, and has more goodput.
    #[test]
    fn more_goodput_is_faster_whatever_the_time() {
        let first = [1.0, 1.01, 1.02, 1.03];
        let a = of("a", &first);
        let rates = |of: &CommandTimes, scale: f64| {
            let mut runs = of.runs.clone();
            for run in &mut runs {
                run.goodput_mbit_per_second = Some(scale / run.time_seconds);
            }
            times(&of.command, runs).unwrap()
        };
        let (a, b) = (rates(&a, 8.0), rates(&of("b", &first.map(|it| it * 1.5)), 16.0));
        let mut c = b.clone();
        c.runs[1].goodput_mbit_per_second = None;
        let answers = |by: By| {
            let all = judged(vec![("lte".into(), vec![a.clone(), b.clone(), c.clone()])], by);
            all[0].verdicts.iter().map(|it| (it.answer, it.ratio)).collect::<Vec<_>>()
        };
        let [(answer, ratio), (unknown, none)] = answers(By::Goodput)[..] else { panic!() };
        // What is not known is no member of the family: 2 / 70.
        assert_eq!((answer, unknown, none), (Answer::Faster, Answer::Unknown, None));
        assert!((ratio.unwrap() - 2.0 / 1.5).abs() < 1e-9, "{ratio:?}");
        // Two comparisons of four runs show nothing.
        assert_eq!(answers(By::Time)[0].0, Answer::NoDifferenceShown);
        assert!((answers(By::Time)[0].1.unwrap() - 1.5).abs() < 1e-9);
        // Of the first it is needed for all.
        let all = judged(vec![("lte".into(), vec![c, a, b])], By::Goodput);
        assert!(all[0].verdicts.iter().all(|it| it.answer == Answer::Unknown && it.p.is_none()));
    }

    /// How soon a command fails is no time; that it took longer than it had is a bound of one.
    #[test]
    fn command_that_always_fails_has_no_verdict_by_time() {
        let first = [2.0, 2.1, 2.2, 2.3];
        let answer = |codes: [u8; 4], late: usize, by: By| {
            let mut runs = of("b", &[0.1, 0.2, 0.1, 0.2]).runs;
            for (index, (run, code)) in runs.iter_mut().zip(codes).enumerate() {
                run.exit_code = code;
                run.is_timed_out = index < late;
                run.time_seconds = if run.is_timed_out { 5.0 } else { run.time_seconds };
                run.goodput_mbit_per_second = Some(20.0 + index as f64);
            }
            let commands = vec![of("a", &first), times("b", runs).unwrap()];
            judged(vec![("lte".into(), commands)], by)[0].verdicts[0].answer
        };
        assert_eq!(answer([1; 4], 0, By::Time), Answer::Unknown);
        assert_eq!(answer([1; 4], 3, By::Time), Answer::Unknown);
        assert_eq!(answer([124; 4], 4, By::Time), Answer::Slower);
        assert_eq!(answer([1, 1, 1, 0], 0, By::Time), Answer::Faster);
        assert_eq!(answer([1; 4], 0, By::Goodput), Answer::Faster);
    }

    /// All paths are one family: what one comparison shows, four may not.
    #[test]
    fn verdicts_of_all_paths_are_corrected_together() {
        let commands = || vec![of("a", &[2.0, 2.1, 2.2, 2.3]), of("b", &[1.0, 1.1, 1.2, 1.3])];
        let alone = judged(vec![("lte".into(), commands())], By::Time);
        assert_eq!(alone[0].verdicts[0].answer, Answer::Faster);
        let both =
            judged(vec![("lte".into(), commands()), ("dsl-25".into(), commands())], By::Time);
        let corrected = both[0].verdicts[0].p_corrected.unwrap();
        assert!((corrected - 4.0 / 70.0).abs() < 1e-12, "{both:?}");
        assert_eq!(both[1].verdicts[0].answer, Answer::NoDifferenceShown);
        assert_eq!((least_runs(1), least_runs(2)), (4, 5));
    }
}
