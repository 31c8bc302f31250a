//! What happens in a run, for Python.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tcplab_lab::Event;

/// Progress is told this often at most: a run may have thousands of trials a second.
const OFTEN: Duration = Duration::from_millis(50);

/// An event that is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Step { kind: &'static str, step: usize, total: usize },
    Trial { index: usize, total: usize, case: String, number: u32 },
    Failed { reason: String, again: bool },
    Flawed { flaws: Vec<String>, again: bool },
    Reporting,
}

/// Passes on what is worth telling.
pub(crate) struct Teller<'a> {
    to: &'a Sender<Told>,
    last: Option<Instant>,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(to: &'a Sender<Told>) -> Teller<'a> {
        Teller { to, last: None }
    }

    pub(crate) fn tell(&mut self, event: Event<'_>) {
        let (told, is_last) = match event {
            Event::Calibrating { step, total } => step_of("calibrating", step, total),
            Event::WarmingUp { index, total } => step_of("warming-up", index, total),
            Event::Analysing { done, total } => step_of("analysing", done, total),
            Event::Started { index, total, case, number } => {
                (Told::Trial { index, total, case: case.into(), number }, index == total)
            }
            Event::Failed { reason, again } => {
                (Told::Failed { reason: reason.into(), again }, true)
            }
            Event::Flawed { flaws, again } => (Told::Flawed { flaws: flaws.to_vec(), again }, true),
            Event::Reporting => (Told::Reporting, true),
            Event::Progress(_) | Event::Stored { .. } | Event::Skipped => return,
        };
        if !is_last && self.last.is_some_and(|last| last.elapsed() < OFTEN) {
            return;
        }
        self.last = Some(Instant::now());
        // Who does not listen any more has stopped the run.
        let _ = self.to.send(told);
    }
}

fn step_of(kind: &'static str, step: usize, total: usize) -> (Told, bool) {
    (Told::Step { kind, step, total }, step == total)
}

impl Told {
    /// As a dictionary: `kind`, and what belongs to it.
    pub(crate) fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        match self {
            Told::Step { kind, step, total } => {
                told.set_item("kind", kind)?;
                told.set_item("step", step)?;
                told.set_item("total", total)?;
            }
            Told::Trial { index, total, case, number } => {
                told.set_item("kind", "trial")?;
                told.set_item("index", index)?;
                told.set_item("total", total)?;
                told.set_item("case", case)?;
                told.set_item("number", number)?;
            }
            Told::Failed { reason, again } => {
                told.set_item("kind", "failed")?;
                told.set_item("reason", reason)?;
                told.set_item("again", again)?;
            }
            Told::Flawed { flaws, again } => {
                told.set_item("kind", "flawed")?;
                told.set_item("flaws", flaws)?;
                told.set_item("again", again)?;
            }
            Told::Reporting => told.set_item("kind", "reporting")?,
        }
        Ok(told)
    }
}
