//! What the head of the page keeps of each trial.

use tcplab_results::{Case, Trial, TrialData};

use super::links::Links;
use super::overview::{FirstTransfer, MOST, MOST_ALONE};
use super::paths::Paths;
use crate::summary::worlds::world;
use crate::trial::view::TrialView;
use crate::trial::warnings::warnings_of;

/// More trials with warnings are only counted.
const MOST_WARNINGS: usize = 100;

/// What the head of the page needs of trials whose packets are no longer in memory.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) transfers: Vec<FirstTransfer>,
    pub(crate) warnings: Vec<Warnings>,
    pub(crate) unwarned: usize,
    pub(crate) paths: Paths,
}

/// A trial and how the page shows it.
#[derive(Clone, Copy)]
pub(crate) struct ShownTrial<'v> {
    pub(crate) view: &'v TrialView<'v>,
    pub(crate) links: Links,
    pub(crate) is_first: bool,
    /// Whether its figures are in the page unpacked.
    pub(crate) is_plain: bool,
}

impl Gathered {
    pub(crate) fn add(&mut self, case: &Case, data: &TrialData, shown: &ShownTrial<'_>) {
        let ShownTrial { view, links, is_first, is_plain } = *shown;
        self.paths.add(&case.name, view.trial, data);
        let most = if links == Links::Within { MOST } else { MOST_ALONE };
        let enough = self.transfers.len() >= most;
        if is_first && view.trial.load.is_none() && !enough {
            self.transfers.extend(FirstTransfer::of(view, world(case), links, is_plain));
        }
        self.warn(Warnings::of(view.case, view.trial, &view.warnings, links.of(view)));
    }

    /// For a trial without graphs.
    pub(crate) fn add_warnings(&mut self, case: &Case, trial: &Trial, href: String) {
        self.warn(Warnings::of(&case.name, trial, &warnings_of(trial), href));
    }

    fn warn(&mut self, warnings: Option<Warnings>) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.extend(warnings);
        } else {
            self.unwarned += usize::from(warnings.is_some());
        }
    }
}

/// Warnings and flaws of a trial.
pub(crate) struct Warnings {
    pub(crate) case: String,
    pub(crate) number: u32,
    pub(crate) href: String,
    pub(crate) texts: Vec<String>,
}

impl Warnings {
    fn of(case: &str, trial: &Trial, texts: &[String], href: String) -> Option<Warnings> {
        let (case, texts) = (case.to_owned(), texts.to_owned());
        (!texts.is_empty()).then_some(Warnings { case, number: trial.number, href, texts })
    }
}
