//! Scripts parsed, and run against a stack of few rules.

mod fake;
mod kernel;
mod model;
mod parse;
mod run;
