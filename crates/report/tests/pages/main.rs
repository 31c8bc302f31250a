//! The pages, as text and in a real browser.

mod browser;
mod page;
mod synthetic;
mod trace;
