//! `tcplab ui` as its page and its attackers see it: over HTTP, with the real program.
//!
//! What a person sees and does is tested in a browser (`scripts/page-tests.sh`).

mod attacks;
mod bridged;
mod captures;
mod document;
mod latency;
mod learn;
mod live;
mod measurements;
mod page;
mod runs;
#[path = "../schemas/schema.rs"]
#[allow(dead_code, reason = "documents are checked elsewhere")]
mod schema;
mod traffic;
mod watched;
