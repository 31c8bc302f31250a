//! The pages of a run: one file, or a folder.

mod body;
mod failures;
mod file;
mod folder;
mod gathered;
mod head;
mod links;
mod marks;
mod matrix;
mod overview;
mod paths;
mod recordings;
mod verdicts;

pub use file::{render, write};
pub use folder::{ONE_FILE, write_folder};
pub use links::{SCRIPT_FILE, STYLE_FILE, link_to_script, link_to_style};
pub use recordings::Recordings;
