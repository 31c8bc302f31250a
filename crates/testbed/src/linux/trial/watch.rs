//! When a trial is over, and how it ended.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use tcplab_units::{Bytes, Instant, Span};

use crate::TrialError;
use crate::bridge::BridgeState;
use crate::endpoint::Outcome;
use crate::flows::{Flows, QUIET};
use crate::launch::Message;
use crate::message::say;
use crate::trial_request::Progress;
use crate::trial_state::TrialState;

/// How often progress is reported to the caller.
const REPORT_INTERVAL: Span = Span::from_millis(200);
/// Within this, the second end reports how it fared when the first has failed.
const SOON: Duration = Duration::from_millis(100);
/// Within this, an end reports what it was waiting for when the time was over.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Decides when the trial is over, and knows how it ended.
pub(crate) struct Watch<'a> {
    limit: Span,
    shared: &'a TrialState,
    incoming: [Receiver<Result<Outcome, TrialError>>; 2],
    outcomes: [Option<Result<Outcome, TrialError>>; 2],
    reported: Instant,
    quiet_since: Option<Instant>,
    /// The client is done, the server is not, and nothing moves: since when.
    alone_since: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        limit: Span,
        shared: &'a TrialState,
        incoming: [Receiver<Result<Outcome, TrialError>>; 2],
    ) -> Watch<'a> {
        let (reported, quiet_since, alone_since) = (Instant::ZERO, None, None);
        let outcomes = [None, None];
        Watch { limit, shared, incoming, outcomes, reported, quiet_since, alone_since }
    }

    pub(crate) fn over(&mut self, state: &BridgeState, recorder_failed: bool) -> bool {
        let BridgeState { now, on_path } = *state;
        if now.since(self.reported) >= REPORT_INTERVAL {
            self.reported = now;
            let received = Bytes::new(self.shared.received());
            say(&Message::Progress(Progress { at: now, received }));
        }
        for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
            match incoming.try_recv() {
                Ok(result) => *outcome = Some(result),
                Err(TryRecvError::Disconnected) if outcome.is_none() => {
                    *outcome = Some(Err(TrialError::panicked()));
                }
                Err(_) => {}
            }
        }
        let failed = self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_))));
        if recorder_failed || failed || now.since(Instant::ZERO) > self.limit {
            return true;
        }
        self.alone_since = match self.outcomes {
            [Some(_), None] if on_path == 0 => self.alone_since.or(Some(now)),
            _ => None,
        };
        if self.alone_since.is_some_and(|since| now.since(since) >= QUIET) {
            self.shared.rest();
        }
        // The trial does not wait for flows in the background.
        let farewell = self.shared.flows.as_ref().and_then(Flows::farewell);
        if farewell.is_none() && (self.outcomes.iter().any(Option::is_none) || on_path > 0) {
            self.quiet_since = None;
            return false;
        }
        let since = *self.quiet_since.get_or_insert(now);
        now.since(since) >= farewell.unwrap_or(QUIET)
    }

    /// What the endpoints leave, or why they failed.
    pub(crate) fn outcomes(mut self) -> Result<[Outcome; 2], TrialError> {
        let waits = |outcomes: &[Option<_>; 2]| outcomes.iter().any(Option::is_none);
        let failed = self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_))));
        // If the recorder failed, the time is not over, and its error is the one reported.
        if waits(&self.outcomes) && !failed && self.shared.run_out() {
            for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
                *outcome = outcome.take().or_else(|| incoming.recv_timeout(AT_ONCE).ok());
            }
        }
        // An end whose option or thread is refused closes its connection; the other end notices
        // that and may fail first.
        if self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_)))) {
            for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
                *outcome = outcome.take().or_else(|| incoming.recv_timeout(SOON).ok());
            }
        }
        let is_cause = |outcome: &Option<_>| {
            use TrialError::{Process, SocketOption};
            matches!(outcome, Some(Err(SocketOption { .. } | Process { .. })))
        };
        if is_cause(&self.outcomes[1]) && !is_cause(&self.outcomes[0]) {
            self.outcomes.swap(0, 1);
        }
        match self.outcomes {
            [Some(client), Some(server)] => Ok([client?, server?]),
            [Some(Err(error)), _] | [_, Some(Err(error))] => Err(error),
            _ => Err(TrialError::TimeLimit { limit: self.limit, received: self.shared.received() }),
        }
    }
}
