//! The source of data that the run itself does not hold.

use std::borrow::Cow;
use std::error::Error;
use tcplab_results::{Case, Trial, TrialData};

use crate::html::error::ReportError;

/// Loads what the run itself does not hold. A function that loads packets is enough where the run
/// holds the rest.
pub trait Recordings {
    /// Why something cannot be read.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// The packets and samples of a trial.
    ///
    /// # Errors
    /// When they cannot be read.
    fn packets(&mut self, trial: &Trial) -> Result<TrialData, Self::Error>;

    /// The trial with all its details, such as its episodes.
    ///
    /// # Errors
    /// When that cannot be read.
    fn whole<'t>(&mut self, trial: &'t Trial) -> Result<Cow<'t, Trial>, Self::Error> {
        Ok(Cow::Borrowed(trial))
    }
}

impl<F, E> Recordings for F
where
    F: FnMut(&Trial) -> Result<TrialData, E>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    type Error = E;

    fn packets(&mut self, trial: &Trial) -> Result<TrialData, E> {
        self(trial)
    }
}

pub(crate) fn loaded(
    recordings: &mut impl Recordings,
    case: &Case,
    trial: &Trial,
) -> Result<TrialData, ReportError> {
    recordings.packets(trial).map_err(|source| unreadable(case, trial, source))
}

pub(crate) fn whole<'t>(
    recordings: &mut impl Recordings,
    case: &Case,
    trial: &'t Trial,
) -> Result<Cow<'t, Trial>, ReportError> {
    recordings.whole(trial).map_err(|source| unreadable(case, trial, source))
}

fn unreadable(
    case: &Case,
    trial: &Trial,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> ReportError {
    ReportError::Load { case: case.name.clone(), number: trial.number, source: source.into() }
}
