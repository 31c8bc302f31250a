//! What a run or a trace says, for people: one self-contained HTML page, and tables for the
//! terminal.

mod answer;
mod asked;
mod calls;
mod check;
pub mod compare;
mod datagrams;
mod ends;
mod episode;
mod factors;
mod fidelity;
mod figure;
mod flows;
mod folder;
mod graphs;
mod interruption;
mod levels;
mod limits;
mod links;
mod load;
mod matrix;
mod measure;
mod number;
mod outcome;
mod overview;
mod pack;
mod page;
mod path;
mod place;
mod scatter;
mod stalls;
pub mod states;
mod summary;
mod text;
pub mod trace;
mod trace_page;
mod transfer;
mod trends;
mod trial;
mod verdicts;

pub use check::check_table;
pub use fidelity::{fidelity_page, fidelity_table};
pub use folder::{ONE_FILE, write_folder};
pub use page::{Recordings, ReportError, render, write};
pub use text::text_table;
pub use trace_page::{ShownConnection, TracePage, write_trace};
