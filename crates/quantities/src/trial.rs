//! Runs and trials.

use crate::quantity::quantities;

quantities! {
    CASE = "case", None, "case", "The case's name";
    TRIAL = "trial", None, "trial", "The trial's number in its case, from 1";
    SEED = "seed", None, "seed", "The trial's seed";
    WORLD = "world", None, "world", "Where it ran: kernel or sim";
    OUTCOME = "outcome", None, "outcome", "How the trial went: good, with warnings, or failed";
    WARNINGS = "warnings", None, "warnings", "What is doubtful about the trial; empty if nothing";
}
