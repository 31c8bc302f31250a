//! What becomes of a run when a trial fails.

use tcplab_recording::RecordingError;
use tcplab_sim::{GuestTrialError, SimError};
use tcplab_testbed::Reach;

use crate::error::LabError;

/// Counts what fails, to see whether anything can go well.
pub(crate) struct FailurePolicy {
    /// How many cases there are.
    cases: usize,
    /// The number of the first trial of each.
    block: u32,
    /// Of the first block, those that could not even begin.
    not_begun: usize,
    /// Why the first of them could not.
    first: Option<LabError>,
}

impl FailurePolicy {
    pub(crate) fn new(cases: usize, block: u32) -> FailurePolicy {
        FailurePolicy { cases, block, not_begun: 0, first: None }
    }

    /// A trial of this number failed in every attempt. The run continues without it, unless all
    /// would fail so, or not one trial of the first block could begin.
    pub(crate) fn failed(&mut self, number: u32, error: LabError) -> Result<(), LabError> {
        match error.reach() {
            Reach::All => return Err(error),
            Reach::SetUp | Reach::Case if number == self.block => self.not_begun += 1,
            _ => return Ok(()),
        }
        let first = self.first.take().unwrap_or(error);
        if self.not_begun >= self.cases {
            return Err(first);
        }
        self.first = Some(first);
        Ok(())
    }
}

impl LabError {
    /// How far what is wrong with a trial reaches.
    pub(crate) fn reach(&self) -> Reach {
        match self {
            LabError::Trial { source, .. } => source.reach(),
            LabError::Simulated { source, .. } => match source {
                SimError::Recording(_) | SimError::Stopped => Reach::All,
                SimError::Overdue { .. }
                | SimError::Connection { .. }
                | SimError::PayloadMismatch(_) => Reach::Trial,
                _ => Reach::Case,
            },
            LabError::OnGuests {
                source: GuestTrialError::Overdue { .. } | GuestTrialError::PayloadMismatch(_),
                ..
            }
            | LabError::Flawed { .. }
            | LabError::Panicked { .. }
            | LabError::Capture { .. }
            | LabError::Recording(RecordingError::Malformed { .. }) => Reach::Trial,
            _ => Reach::All,
        }
    }

    /// What is wrong with a trial, for those who know which it is, and what would help.
    pub(crate) fn reason(&self) -> String {
        let reason = match self {
            LabError::Trial { source, .. } => source.to_string(),
            LabError::Simulated { source, .. } => source.to_string(),
            LabError::OnGuests { source, .. } => source.to_string(),
            LabError::Flawed { flaws, .. } => format!("flawed: {}", flaws.join("; ")),
            LabError::Panicked { what, .. } => format!("internal error: {what}"),
            other => other.to_string(),
        };
        match self.remedy() {
            Some(remedy) => format!("{reason} ({remedy})"),
            None => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use tcplab_guests::GuestError;
    use tcplab_scenario::Stack;
    use tcplab_units::{Bytes, Instant, Span};

    use super::*;

    fn simulated(source: SimError) -> LabError {
        LabError::Simulated { case: "reno".into(), number: 1, source }
    }

    #[test]
    fn trial_of_a_kernel_that_takes_too_long_ends_no_run() {
        let on_guests = |source| {
            let (case, stacks) = ("reno".into(), [Stack::Linux, Stack::Linux].into());
            LabError::OnGuests { case, number: 1, stacks, source }
        };
        let limit = Span::from_secs(120);
        let late = |received, wanted| {
            let wanted = Bytes::new(wanted);
            on_guests(GuestTrialError::Overdue { limit, received, wanted })
        };
        for (received, wanted, arrived) in [
            (None, 800_000_000, ""),
            (Some(7), 0, ": 7 B have arrived"),
            (Some(154_691_288), 800_000_000, ": 155 MB of 800 MB have arrived"),
        ] {
            let remedy = "raise `[limits] trial` if it needs longer";
            let expected = format!("not done after 2 min{arrived}; {remedy}");
            assert_eq!(late(received, wanted).reason(), expected);
        }
        let mut failures = FailurePolicy::new(1, 1);
        assert!(failures.failed(1, late(None, 0)).is_ok());
        assert!(failures.failed(1, on_guests(GuestTrialError::Stopped)).is_err());
    }

    fn of_guest(stacks: [Stack; 2], source: GuestError) -> LabError {
        let source = GuestTrialError::Guest { endpoint: "client", source };
        LabError::OnGuests { case: "reno".into(), number: 1, stacks: stacks.into(), source }
    }

    fn ended(status: &str) -> GuestError {
        let (status, said) = (status.into(), "Kernel panic".into());
        GuestError::Ended { at: Instant::ZERO, status, said }
    }

    #[test]
    fn advice_after_a_crash_fits_the_stack() {
        let (linux, newest) = (Stack::Linux, Stack::Newest);
        let named = |name: &str| Stack::Kernel(name.into());
        for (client, server, advice) in [
            (linux.clone(), linux.clone(), "`--world kernel`"),
            (linux, named("6.12"), "`--kernel model`"),
            (newest.clone(), newest, "`--kernel model`"),
            (named("6.12"), Stack::Linux, "`stack = \"model:linux-6.12\"`"),
            (named("mine"), Stack::Linux, "`stack = \"model:linux-6.18\"`"),
        ] {
            let is_both = client == Stack::Linux && server == Stack::Linux;
            let remedy = of_guest([client, server], ended("exit status: 1")).remedy().unwrap();
            assert!(remedy.contains(advice), "{remedy}");
            assert_eq!(remedy.contains("--world kernel"), is_both, "{remedy}");
        }
    }

    #[test]
    fn troubles_of_the_machine_are_no_fault_of_a_kernel() {
        let of = |source| of_guest([Stack::Linux, Stack::Linux], source);
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(of(ended("exit status: 1")).is_of_kernel());
        for trouble in [
            of(ended("signal: 9 (SIGKILL)")),
            of(GuestError::NoPlace { wrong: "/tmp has 1 MiB free".into() }),
            of(GuestError::Setup { what: "make a pipe", source: full() }),
            LabError::OnGuests {
                case: "reno".into(),
                number: 1,
                stacks: [Stack::Linux, Stack::Linux].into(),
                source: GuestTrialError::Recording(RecordingError::File {
                    verb: "write",
                    path: "client.pcapng".into(),
                    source: full(),
                }),
            },
        ] {
            assert!(!trouble.is_of_kernel() && trouble.remedy().is_some(), "{trouble}");
        }
    }

    #[test]
    fn run_continues_unless_first_block_cannot_begin() {
        let (limit, wanted) = (Span::from_secs(1), Bytes::ZERO);
        let late = || simulated(SimError::Overdue { limit, received: 0, wanted });
        let impossible = || simulated(SimError::Load);
        let mut failures = FailurePolicy::new(2, 1);
        assert!(failures.failed(1, late()).is_ok(), "it took too long, all the same it ran");
        assert!(failures.failed(1, impossible()).is_ok(), "the other case may do");
        assert!(failures.failed(2, impossible()).is_ok(), "the first block was enough");
        let error = failures.failed(1, impossible()).unwrap_err();
        assert!(error.to_string().contains("trial 1 of case reno"), "{error}");
        assert!(FailurePolicy::new(9, 1).failed(7, simulated(SimError::Stopped)).is_err());
    }
}
