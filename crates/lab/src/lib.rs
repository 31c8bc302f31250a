//! From a scenario to a run directory: plan, trials, resume, tables, claims.
//! The modules, in layers; each imports only from those before it: `plan`,
//! `store`, `analysis`, `compare` and `verify`, `run`, then `advise`, `rfc6349`, `fidelity`,
//! `bisect`, `shell` and `again`.

pub mod advise;
mod again;
mod analysis;
mod bench;
pub mod bisect;
pub mod compare;
mod error;
pub mod fidelity;
mod json;
mod plan;
mod replay;
pub mod rfc6349;
mod run;
mod shell;
mod store;
pub mod verify;

pub use again::{name_of_kept, packets_again, run_again};
pub use analysis::{Ideal, load_frames, load_recording, load_trial};
pub use bench::Bench;
pub use compare::read_run;
pub use error::LabError;
pub use plan::{
    KernelChoice, KernelUsed, Overrides, Plan, Refusal, VirtualKernels, environment, kernel_image,
    kernel_refused, kernel_substitute, plan,
};
pub use replay::{Difference, Replay, replay};
pub use run::{
    CaseEstimate, Event, Remaining, RunEstimate, RunOutcome, analyse, begin, complete, consoles,
    estimate, estimate_extension, estimate_plan, finish, in_words, no_report,
};
pub use shell::{ShellError, VirtualShell, shell};
pub use store::{
    Extension, RunDirectory, RunGlance, RunSize, TrialGlance, TrialState, extend, kept_files,
    place_of_trial, run_tables, sampled_ports, trial_result, write_run_table,
};
