//! A comparison for people and for programs: a table on the terminal, Markdown for a
//! pull request, JUnit XML for test runners, and a page.

mod captures;
pub(crate) mod grid;
mod intervals;
mod junit;
mod markdown;
pub(crate) mod page;
mod parting;
#[cfg(test)]
mod tests;
mod text;

pub use crate::compared::{sentence, tally, verdict};
pub use captures::{CapturedPair, captures_markdown, captures_text};
pub(crate) use intervals::pictures;
pub use junit::junit;
pub use markdown::markdown;
pub use page::{CloseUp, captures_page, compare_page};
pub use text::compare_text;
