//! The flags of `tcplab clean`.

use std::path::PathBuf;

use clap::Args;
use tcplab_units::{Bytes, Span};

use super::{JsonArguments, RUNS};

const AFTER: &str = "\
Examples:
  tcplab clean                                   list the runs below ./runs with their sizes
  tcplab clean --captures                        remove captures, keep results and reports
  tcplab clean --captures --larger-than 100MB --dry-run
                                                 show what that would remove of large runs
  tcplab clean --runs --older-than '30 days' --yes
                                                 remove old runs, ask nothing
  tcplab clean --captures runs/my/20261122T...   remove the captures of one run

What --captures removes, and \"captures etc.\" counts: client.pcapng and server.pcapng of each trial,
with samples.csv and path.jsonl, which belong to their packets. Without them `tcplab trace`,
`states`, `replay`, the figures of a trial and a report that is written anew have no packets to
show: they say so, and name the command that runs a trial again. Tables, comparisons, claims and the
report that was written stay.

Exit codes: 0 success, 2 a run could not be removed, or DIR is no run and has none.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct CleanArguments {
    /// A run directory, or a directory with runs
    #[arg(value_name = "DIR", default_value = RUNS)]
    pub(crate) place: PathBuf,
    /// Remove captures, samples and the path's log of runs; keep results, tables and reports
    #[arg(long)]
    pub(crate) captures: bool,
    /// Remove whole runs
    #[arg(long, conflicts_with = "captures")]
    pub(crate) runs: bool,
    /// Only runs that were started this long ago, such as `12h` or `30 days`
    #[arg(long, value_name = "DURATION", value_parser = age)]
    pub(crate) older_than: Option<Span>,
    /// Only runs that would free more than this, such as `100MB`
    #[arg(long, value_name = "BYTES")]
    pub(crate) larger_than: Option<Bytes>,
    /// Show what would be removed; remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

/// Days are no unit of experiments, but one of runs.
fn age(text: &str) -> Result<Span, String> {
    const DAY: u64 = 24 * 3_600_000_000_000;
    let days = ["days", "day", "d"].into_iter().find_map(|unit| text.strip_suffix(unit));
    if let Some(days) = days.and_then(|days| days.trim().parse::<u32>().ok()) {
        return Ok(Span::from_nanos(u64::from(days).saturating_mul(DAY)));
    }
    text.parse().map_err(|error| format!("{error}, or days such as `30 days`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_in_days_or_usual_units() {
        for (text, hours) in [("30 days", 720), ("1d", 24), ("1 day", 24), ("12h", 12)] {
            assert_eq!(age(text), Ok(Span::from_secs(hours * 3600)), "{text}");
        }
        for text in ["30", "-1 days", "x days", "days"] {
            assert!(age(text).unwrap_err().contains("30 days"), "{text}");
        }
        assert!(age("4294967295 days").is_ok());
    }
}
