//! Marks of recovery episodes: a trial may have hundreds, so only the longest are marked.

use tcplab_results::EpisodeRow;

use crate::summary::recovery::kind_class;

/// The most marks of a trial in one place.
pub(crate) const MOST_MARKS: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Marks {
    /// The longest, in order of time.
    pub(crate) shown: Vec<Mark>,
    pub(crate) all: usize,
    /// Where the trial is shown, with its list of episodes; without it there are no links.
    pub(crate) trial: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) number: usize,
    pub(crate) class: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Marks {
    pub(crate) fn of<'r>(
        rows: impl Iterator<Item = &'r EpisodeRow>,
        trial: Option<String>,
    ) -> Marks {
        let mut rows: Vec<&EpisodeRow> = rows.collect();
        let all = rows.len();
        rows.sort_by(|one, other| other.duration_s.total_cmp(&one.duration_s));
        rows.truncate(MOST_MARKS);
        rows.sort_by_key(|row| row.number);
        Marks { shown: rows.into_iter().map(Mark::of).collect(), all, trial }
    }
}

impl Mark {
    fn of(row: &EpisodeRow) -> Mark {
        let (open, sign) = if row.repaired { ("", "") } else { (", never recovered", " ✗") };
        Mark {
            number: row.number,
            class: kind_class(&row.kind),
            title: format!("{}: {} lost{open}", row.kind, row.lost_segments),
            text: format!("{}{sign}", row.lost_segments),
        }
    }
}
