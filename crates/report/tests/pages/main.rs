//! The pages, as text and in a real browser.

mod answers;
mod average;
mod browser;
mod failures;
mod flows;
mod folder;
mod page;
mod queues;
mod synthetic;
mod trace;
