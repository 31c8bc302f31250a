//! The trials of a variant that failed.

use tcplab_results::{Case, Failure, Run};
use tcplab_units::Endpoint;

use super::links::{Links, Rerun};
use super::recordings::Recordings;

/// More are only counted.
const MOST: usize = 20;

/// The failed trials of a case, as a page shows them; see `failures.html`.
pub(crate) struct Failures<'a> {
    pub(crate) shown: Vec<FailureView<'a>>,
    /// How many more there are.
    pub(crate) more: usize,
}

pub(crate) struct FailureView<'a> {
    pub(crate) failure: &'a Failure,
    /// The end that captured, and its file.
    pub(crate) captures: Vec<(&'static str, String)>,
    /// Runs the trial again, in the run's directory.
    pub(crate) command: String,
}

impl<'a> Failures<'a> {
    pub(crate) fn of(
        run: &Run,
        case: &'a Case,
        recordings: &mut impl Recordings,
        links: Links,
    ) -> Failures<'a> {
        let view = |failure: &'a Failure| {
            let capture = |end: Endpoint| {
                let file = format!("{}{}/{}.pcapng", links.up(), failure.directory, end.name());
                (end.name(), file)
            };
            let captures = recordings.ends_of_failure(failure).into_iter().map(capture).collect();
            let command = Rerun::command(run, case, failure.number);
            FailureView { failure, captures, command }
        };
        let shown = case.failures.iter().take(MOST).map(view).collect();
        Failures { shown, more: case.failures.len().saturating_sub(MOST) }
    }
}
