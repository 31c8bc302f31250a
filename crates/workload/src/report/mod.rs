//! What applications report of their own work.

mod app;
mod calls;
mod datagrams;
mod load;

pub use app::{AppReport, BackReport, Exchange, Role, UrgentReport};
pub(crate) use calls::{AT_MARK, END, NOT_AT_MARK, OK};
pub use calls::{CALLS, CallRow, RESULTS, TIMED_OUT, VANISH, WAITING};
pub use datagrams::{DatagramReport, RequestReport};
pub use load::{LoadReport, ServerReport};
