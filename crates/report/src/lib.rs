//! What a run or a trace says, for people: one self-contained HTML page, and tables for the
//! terminal.

mod absent;
mod by_level;
mod check;
mod claims_junit;
mod coloured;
pub mod compare;
mod compared;
mod fidelity;
mod figures;
mod grid;
mod html;
mod looks;
mod page;
mod plain_svg;
mod several;
pub mod states;
mod summary;
mod terminal;
mod title;
pub mod trace;
mod trace_page;
mod trial;
mod unscaled_svg;

pub use by_level::{MetricFigure, MetricFigures};
pub use check::check_table;
pub use claims_junit::claims_junit;
pub use coloured::coloured;
pub use fidelity::{fidelity_page, fidelity_table};
pub use figures::{RunFigure, figure_file, figure_pgf, queue_figures, run_figures, trial_figures};
pub use html::assets::{STYLES, dump_module};
pub use html::error::ReportError;
pub use looks::{AxisRange, AxisWish, FigureLooks, LooksError};
pub use page::{
    ONE_FILE, Recordings, SCRIPT_FILE, STYLE_FILE, link_to_script, link_to_style, render, write,
    write_folder,
};
pub use several::{
    CommonFigure, CommonFigures, KeptRuns, LabelError, LabelledRun, RUNS_MOST, Relative, TooMany,
    check_labels, labelled, run_called,
};
pub use summary::question::question_and_answer;
pub use terminal::{asked, claims, text_table};
pub use trace_page::{
    CaptureSums, GraphChoice, Rank, ShownConnection, TracePage, page_frames, write_trace,
};
pub use trial::queues::queue_notes;
