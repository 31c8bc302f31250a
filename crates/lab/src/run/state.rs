//! A run under way.

use std::sync::atomic::AtomicBool;

use tcplab_scenario::TrialId;

use super::event::Event;
use super::failures::FailurePolicy;
use crate::store::RunDirectory;

/// A run under way.
pub(crate) struct RunState<'a> {
    pub(crate) run: &'a RunDirectory,
    pub(crate) stop: &'a AtomicBool,
    /// The failed trials.
    pub(crate) failures: FailurePolicy,
    /// The number of trials reported so far.
    begun: usize,
}

impl<'a> RunState<'a> {
    pub(crate) fn new(run: &'a RunDirectory, stop: &'a AtomicBool) -> RunState<'a> {
        let failures = FailurePolicy::new(run.scenario().cases.len(), run.plan().first);
        RunState { run, stop, failures, begun: 0 }
    }

    pub(crate) fn cases(&self) -> usize {
        self.run.scenario().cases.len()
    }

    /// Reports that a trial begins, or that it is the next to be reported.
    pub(crate) fn begins(&mut self, id: TrialId, on_event: &mut impl FnMut(Event<'_>)) {
        self.begun += 1;
        let total = self.cases() * self.run.plan().numbers().count();
        let case = &self.run.scenario().cases[id.case].name;
        on_event(Event::Started { index: self.begun, total, case, number: id.number });
    }
}
