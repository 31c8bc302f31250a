//! The laboratory as a page: a server on this machine, which shows runs, starts them as commands,
//! and lets one watch a trial while it runs.
//!
//! The page does nothing that the command line does not: what takes time is a process of the same
//! program, whose command the page shows ([`jobs`]). A trial that runs is watched by reading the
//! recording that it leaves anyway, as it grows (`watch`): so a slow page never slows a trial.
//! Captures of the user's are read in this process, in bounded memory ([`captures`]).
//!
//! Who may ask is decided before anything else ([`guard`]): requests carry a token, come to this
//! server's own name and from its own page.

mod api;
mod assets;
mod captures;
mod comparisons;
mod config;
mod error;
mod guard;
mod jobs;
mod lessons;
mod places;
mod reports;
mod server;
mod state;
mod token;
mod told;
mod traffic;

pub use config::{AskSockets, ChangePath, Config, PORT, TrafficConfig};
pub use error::UiError;
pub use server::{Bound, serve, serve_traffic};
