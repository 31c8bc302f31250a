//! The flags of `tcplab compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_lab::compare::{Asked, Metrics, Threshold};
use tcplab_results::bench::Answer;
use tcplab_results::comparison::Outcome;

use super::JsonArguments;
use super::annotate::Annotations;

const EXAMPLES: &str = "\
Examples:
  tcplab compare runs/x/A runs/x/B                       is B better than A?
  tcplab compare runs/x/A                                as the scenario's [[compare]] says
  tcplab compare runs/x/A --by congestion                two levels of a factor in one run
  tcplab compare runs/x/A --by congestion --levels reno,cubic
  tcplab compare A B --metrics transfer_time --threshold 3%
  tcplab compare A B --markdown - --junit compare.xml    for a pull request and its checks
  tcplab compare A B --html compare.html                 with graphs of the worst cases
  tcplab compare baseline.json runs/x/B                  with results kept by run --json=FILE
  tcplab compare before.pcapng after.pcapng              what differs between two captures

Exit codes: 0 no verdict matches --fail-on, 1 one does, 2 nothing could be compared.
Method and verdicts: docs/statistics.md.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArguments {
    /// A, the baseline: a run directory, a scenario's name for its newest run, the results of a run
    /// (*.json, as `tcplab run --json=FILE` writes them), or a capture
    pub(crate) a: PathBuf,
    /// B, the variant: another of the same kind; leave it out with --by, or where the run's
    /// scenario has a `[[compare]]`
    #[arg(conflicts_with = "by")]
    pub(crate) b: Option<PathBuf>,
    /// Compare two levels of this factor within run A; the last parts of its name are enough
    #[arg(long, value_name = "FACTOR")]
    pub(crate) by: Option<String>,
    /// Compare these two levels, A first; one that has a comma in double quotes [default: the only
    /// two]
    #[arg(long, value_name = "A,B", requires = "by", conflicts_with = "b", value_parser = levels)]
    pub(crate) levels: Option<Levels>,
    /// Take all cases together: each is one pair, of the medians of its trials. For cases that
    /// differ in their conditions and have too few trials each
    #[arg(long, requires = "by", conflicts_with_all = ["b", "html"])]
    pub(crate) over_cases: bool,
    /// Compare these metrics, or `all` [default: those of the scenario's `[[compare]]`, else the
    /// key metrics]; fewer metrics need fewer trials, since all are tested together
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Smallest difference that matters (equivalence margin): a share of A's median (`3%`), of one
    /// metric (`goodput=3%`), or in its unit (`retransmissions=2`); repeat for several
    #[arg(long, value_name = "[METRIC=]AMOUNT", value_parser = threshold)]
    pub(crate) threshold: Vec<Bound>,
    /// Exit with 1 on these verdicts
    #[arg(long, value_name = "WHAT", default_value = "worse")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
    /// Write Markdown for a pull request; `-` prints it instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write JUnit XML with a test case for each metric of each case; `-` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the answer as an annotation of a pull request, to standard error
    #[arg(long, value_name = "SERVICE")]
    pub(crate) annotate: Option<Annotations>,
    /// Write an HTML page with graphs and ladders of the worst cases; `-` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print how far it is as lines of JSON instead of the table, and stop when standard input ends
    ///
    /// For programs that run tcplab: `part` with its name, and the steps that are done, of all.
    #[arg(long)]
    pub(crate) control: bool,
}

impl CompareArguments {
    pub(crate) fn asked(&self) -> Asked {
        let metrics = match &self.metrics[..] {
            [] => Metrics::Usual,
            [all] if all == "all" => Metrics::All,
            names => Metrics::Named(names.to_vec()),
        };
        let mut asked = Asked { metrics, ..Asked::default() };
        for Bound { metric, threshold } in &self.threshold {
            match metric {
                Some(metric) => {
                    asked.thresholds.insert(metric.clone(), *threshold);
                }
                None => asked.threshold = *threshold,
            }
        }
        asked
    }
}

/// Two levels of a factor, A's and B's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Levels(pub(crate) [String; 2]);

fn levels(text: &str) -> Result<Levels, String> {
    let mut is_quoted = false;
    let levels = text.split(|c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    let levels: Vec<String> = levels.map(|level| level.trim().replace('"', "")).collect();
    let levels: [String; 2] = levels.try_into().map_err(|_| {
        "expected two levels with a comma between them, such as `reno,cubic`; a level that has a \
         comma in double quotes"
            .to_owned()
    })?;
    Ok(Levels(levels))
}

/// A threshold, and the metric it is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub(crate) metric: Option<String>,
    pub(crate) threshold: Threshold,
}

fn threshold(text: &str) -> Result<Bound, String> {
    let (metric, amount) = match text.split_once('=') {
        Some((metric, amount)) => (Some(metric.trim()), amount.trim()),
        None => (None, text.trim()),
    };
    let (number, is_share) = match amount.strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (amount, false),
    };
    let number = number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    let number =
        number.ok_or_else(|| format!("`{amount}` is not an amount: write `3%`, or `METRIC=2`"))?;
    if let Some(name) = metric
        && tcplab_scenario::metric(name).is_none()
    {
        let known = tcplab_scenario::METRICS.iter().map(|metric| metric.name);
        let near = tcplab_scenario::nearest(name, known);
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        return Err(format!("unknown metric `{name}`: {near}`tcplab metrics` lists them"));
    }
    let threshold = match (is_share, metric) {
        (true, _) => Threshold::Share(number / 100.0),
        (false, Some(_)) => Threshold::Absolute(number),
        (false, None) => {
            return Err(format!(
                "`{amount}` needs a metric or a unit: write `METRIC={amount}` or `{amount}%`"
            ));
        }
    };
    Ok(Bound { metric: metric.map(str::to_owned), threshold })
}

/// What is bad enough for an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Any is worse
    Worse,
    /// Any is worse or inconclusive
    Inconclusive,
    /// Any differs, better or worse
    Different,
    /// No verdict
    Never,
}

impl FailOn {
    pub(crate) fn fails(self, outcome: Outcome) -> bool {
        match (self, outcome) {
            (FailOn::Never, _) | (_, Outcome::Equivalent { .. }) => false,
            (_, Outcome::Worse)
            | (FailOn::Inconclusive, Outcome::Inconclusive { .. })
            | (FailOn::Different, Outcome::Better | Outcome::Different) => true,
            _ => false,
        }
    }

    /// As [`FailOn::fails`], of a command of a bench against the first; not of what is unknown,
    /// which is an error.
    pub(crate) fn fails_on_answer(self, answer: Answer) -> bool {
        self.fails(match answer {
            Answer::Faster => Outcome::Better,
            Answer::Slower => Outcome::Worse,
            Answer::NoDifferenceShown => Outcome::Inconclusive { more: 1, too_few: false },
            Answer::Unknown => return false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_is_share_or_amount_of_metric() {
        let bound = |metric: Option<&str>, threshold| {
            Ok(Bound { metric: metric.map(str::to_owned), threshold })
        };
        assert_eq!(threshold("3%"), bound(None, Threshold::Share(0.03)));
        assert_eq!(threshold("goodput=2.5 %"), bound(Some("goodput"), Threshold::Share(0.025)));
        let two = bound(Some("retransmissions"), Threshold::Absolute(2.0));
        assert_eq!(threshold("retransmissions=2"), two);
        for wrong in ["2", "-3%", "goodput=", "nosuch=3%", "NaN%", "inf%", ""] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn levels_other_than_two_are_refused() {
        assert_eq!(levels("reno, cubic"), Ok(Levels(["reno", "cubic"].map(str::to_owned))));
        assert!(levels("reno").is_err() && levels("a,b,c").is_err());
        let quoted = levels(r#""lossy, with retry",clean"#);
        assert_eq!(quoted, Ok(Levels(["lossy, with retry", "clean"].map(str::to_owned))));
    }

    #[test]
    fn verdicts_of_a_bench_fail_as_those_of_a_comparison() {
        let answers = [Answer::Slower, Answer::NoDifferenceShown, Answer::Unknown, Answer::Faster];
        for (fail_on, expected) in [
            (FailOn::Worse, [true, false, false, false]),
            (FailOn::Inconclusive, [true, true, false, false]),
            (FailOn::Different, [true, false, false, true]),
            (FailOn::Never, [false; 4]),
        ] {
            assert_eq!(answers.map(|it| fail_on.fails_on_answer(it)), expected, "{fail_on:?}");
        }
    }

    #[test]
    fn equivalent_verdict_never_fails() {
        let same = Outcome::Equivalent { identical: false };
        let inconclusive = Outcome::Inconclusive { more: 3, too_few: false };
        for (fail_on, expected) in [
            (FailOn::Worse, [true, false, false, false]),
            (FailOn::Inconclusive, [true, true, false, false]),
            (FailOn::Different, [true, false, true, false]),
            (FailOn::Never, [false; 4]),
        ] {
            let found = [Outcome::Worse, inconclusive, Outcome::Better, same]
                .map(|verdict| fail_on.fails(verdict));
            assert_eq!(found, expected, "{fail_on:?}");
        }
    }
}
