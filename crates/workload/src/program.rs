//! What an application does: its steps in order.

use tcplab_units::{Bytes, Endpoint};

use crate::step::{Step, Until, Write};

/// The most steps; repetitions count once.
const STEPS_MAX: usize = 10_000;
/// Repetitions within repetitions.
const DEPTH_MAX: usize = 8;

/// The steps of one end, complete: it begins with connecting or accepting and closes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    steps: Vec<Step>,
}

impl Program {
    /// The program of these steps; the implied steps are added.
    ///
    /// # Errors
    /// When the steps cannot be done in this order, or not at this end.
    pub fn new(side: Endpoint, mut steps: Vec<Step>) -> Result<Program, ProgramError> {
        let (opening, other) = match side {
            Endpoint::Client => (Step::Connect, Step::Accept),
            Endpoint::Server => (Step::Accept, Step::Connect),
        };
        if count(&steps, &other) > 0 {
            return Err(ProgramError::OtherEnd { step: other.to_string(), side: side.name() });
        }
        let before = steps.iter().take_while(|step| matches!(step, Step::Sleep(_))).count();
        match count(&steps, &opening) {
            0 => steps.insert(0, opening),
            1 if steps.get(before) == Some(&opening) => {}
            _ => return Err(ProgramError::NotFirst(opening.to_string())),
        }
        let closed = steps.iter().position(|step| *step == Step::Close);
        match count(&steps, &Step::Vanish) {
            0 => {}
            1 if steps.last() == Some(&Step::Vanish) && closed.is_none() => {}
            _ => return Err(ProgramError::AfterVanish),
        }
        match (count(&steps, &Step::Close), closed) {
            (0, _) if steps.last() == Some(&Step::Vanish) => {}
            (0, _) => steps.push(Step::Close),
            (1, Some(at)) => {
                let late = steps[at + 1..].iter().find(|step| !matches!(step, Step::Sleep(_)));
                if let Some(late) = late {
                    return Err(ProgramError::AfterClose(late.to_string()));
                }
            }
            _ => return Err(ProgramError::CloseOnce),
        }
        if size(&steps) > STEPS_MAX || depth(&steps) > DEPTH_MAX {
            return Err(ProgramError::TooLong { steps: STEPS_MAX, depth: DEPTH_MAX });
        }
        Ok(Program { steps })
    }

    /// Its steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many steps it does, each as often as it is repeated.
    pub(crate) fn done(&self) -> u64 {
        done(&self.steps)
    }

    /// How much it writes if nothing comes in between.
    pub fn writes(&self) -> Bytes {
        written(&self.steps)
    }

    /// Whether it reads without waiting for any byte: only to see the other end close.
    pub fn reads(&self) -> bool {
        fn any(steps: &[Step]) -> bool {
            steps.iter().any(|step| match step {
                Step::Read(read) => read.until != Until::End,
                Step::Repeat { steps, .. } => any(steps),
                _ => false,
            })
        }
        any(&self.steps)
    }
}

/// How often a step is written, repetitions once.
fn count(steps: &[Step], wanted: &Step) -> usize {
    let of = |step: &Step| match step {
        Step::Repeat { steps, .. } => count(steps, wanted) * 2,
        step => usize::from(step == wanted),
    };
    steps.iter().map(of).sum()
}

fn size(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Repeat { steps, .. } => size(steps),
        _ => 1,
    };
    steps.iter().map(of).sum()
}

fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Repeat { steps, .. } => 1 + depth(steps),
        _ => 0,
    };
    steps.iter().map(of).max().unwrap_or(0)
}

fn done(steps: &[Step]) -> u64 {
    let of = |step: &Step| match step {
        Step::Repeat { times, steps } => done(steps).saturating_mul(*times),
        _ => 1,
    };
    steps.iter().map(of).fold(0, u64::saturating_add)
}

fn written(steps: &[Step]) -> Bytes {
    let of = |step: &Step| match step {
        Step::Write(Write { amount, .. }) => amount.as_u64(),
        Step::Repeat { times, steps } => written(steps).as_u64().saturating_mul(*times),
        _ => 0,
    };
    Bytes::new(steps.iter().map(of).fold(0, u64::saturating_add))
}

/// Why steps are no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum ProgramError {
    #[error("`{step}` is not a step of the {side}")]
    OtherEnd { step: String, side: &'static str },
    #[error("`{0}` must be the first step, except for `sleep`, and the only one")]
    NotFirst(String),
    #[error("`{0}` comes after `close`: the socket is closed")]
    AfterClose(String),
    #[error("`vanish` must be the last step, and without `close`")]
    AfterVanish,
    #[error("`close` is allowed once, and not in a repetition")]
    CloseOnce,
    #[error("more than {steps} steps, or repetitions nested more than {depth} deep")]
    TooLong { steps: usize, depth: usize },
}

impl ProgramError {
    /// What would be right.
    pub fn help(&self) -> &'static str {
        match self {
            ProgramError::OtherEnd { .. } => "a client connects, a server accepts",
            ProgramError::NotFirst(_) => "remove it: every program begins with it",
            ProgramError::AfterClose(_) => "move `close` to the end, or remove it",
            ProgramError::AfterVanish => "make it the last step",
            ProgramError::CloseOnce => "remove it: every program closes at its end",
            ProgramError::TooLong { .. } => {
                "use repetitions, such as { repeat = 100, steps = [\"write 1 B\"] }"
            }
        }
    }
}
