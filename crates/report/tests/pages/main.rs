//! The pages, as text and in a real browser.

mod browser;
mod flows;
mod page;
mod synthetic;
mod trace;
