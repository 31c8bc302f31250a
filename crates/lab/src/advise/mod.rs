//! Settings for a path and a purpose: what is known, what follows from it, and how to find
//! out whether it holds.

mod advice;
mod buffers;
mod congestion;
mod ends;
mod experiment;
mod gain;
mod losses;
mod model;
mod of_run;
mod reaction;
mod rules;
mod seen;
mod situation;
mod subject;
mod unknown;
mod window;
mod words;

pub use advice::{Advice, Change, Expected};
pub use buffers::{BufferSearch, Buffers};
pub use congestion::Congestion;
pub use ends::Ends;
pub use experiment::Experiment;
pub use gain::{Effect, Gain};
pub use losses::Losses;
pub use of_run::{Choice, choose, incomparable};
pub use reaction::Reactions;
pub use rules::advise;
pub use seen::{Busiest, Observed};
pub use situation::{Goal, Lacking, Situation};
pub use subject::Subject;
pub use unknown::unknown;
pub use words::{amount, span};

#[cfg(test)]
mod tests;
