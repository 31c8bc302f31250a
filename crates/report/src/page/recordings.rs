//! The source of data that the run itself does not hold.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::error::Error;
use tcplab_results::{Case, Failure, Trial, TrialData};
use tcplab_trace::{ConnectionNumbers, PacketBytes};
use tcplab_units::Endpoint;

use crate::html::error::ReportError;
use crate::html::packets::PacketsView;
use crate::trial::packets::page_frames;
use crate::trial::transfer::Transfer;

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

    /// The ends whose captures there are of a trial that failed.
    fn ends_of_failure(&mut self, _failure: &Failure) -> Vec<Endpoint> {
        Vec::new()
    }

    /// The packets in these frames of what was captured at one end; `connections` are those that
    /// they may belong to. By default none: then no packet can be opened.
    ///
    /// # Errors
    /// When they cannot be read.
    fn frames(
        &mut self,
        _trial: &Trial,
        _end: Endpoint,
        _frames: &BTreeSet<u64>,
        _connections: &[ConnectionNumbers],
    ) -> Result<Vec<PacketBytes>, Self::Error> {
        Ok(Vec::new())
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

/// The packets of a trial that its page opens as bytes.
pub(crate) fn packets(
    recordings: &mut impl Recordings,
    case: &Case,
    trial: &Trial,
    data: &TrialData,
) -> Result<Option<PacketsView>, ReportError> {
    let Some(transfer) = Transfer::of(data).filter(|_| trial.load.is_none()) else {
        return Ok(None);
    };
    let (end, connection) = transfer.captured;
    let (frames, numbers) = (page_frames(connection, &[]), ConnectionNumbers::new(0, connection));
    let read = recordings.frames(trial, end, &frames, &[numbers]);
    let packets = read.map_err(|source| unreadable(case, trial, source))?;
    Ok(PacketsView::of(packets.iter().filter(|packet| packet.connection.is_some())))
}

fn unreadable(
    case: &Case,
    trial: &Trial,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> ReportError {
    ReportError::Load { case: case.name.clone(), number: trial.number, source: source.into() }
}
