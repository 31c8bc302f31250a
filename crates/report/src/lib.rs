//! What a run or a trace says, for people: one self-contained HTML page, and tables for the
//! terminal.

mod calls;
mod check;
pub mod compare;
mod datagrams;
mod ends;
mod episode;
mod fidelity;
mod flows;
mod graphs;
mod interruption;
mod load;
mod matrix;
mod number;
mod outcome;
mod overview;
mod page;
mod path;
mod place;
pub mod states;
mod summary;
mod text;
pub mod trace;
mod trace_page;
mod transfer;
mod trends;
mod trial;

pub use check::check_table;
pub use fidelity::{fidelity_page, fidelity_table};
pub use page::{ReportError, render, write};
pub use text::text_table;
pub use trace_page::{ShownConnection, TracePage, write_trace};
