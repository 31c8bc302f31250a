//! Scripts read, and held against a stack of few rules.

mod fake;
mod parse;
mod run;
