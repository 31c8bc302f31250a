//! Commands as their users see them: answers, files, errors and exit codes.
//!
//! Tests that need network namespaces are in `tests/kernel`.

mod advice;
mod agreement;
mod bisect;
mod book;
mod ci;
mod cleaning;
mod cluster;
mod compare;
mod damaged;
mod documents;
mod errors;
mod escapes;
mod figures;
mod findings;
mod home;
mod index;
mod inputs;
mod kernels;
mod latency;
mod limited;
mod live;
mod manual;
mod memory;
mod mistakes;
mod other_tools;
mod outputs;
mod processes;
mod queues;
mod quiet;
mod rates;
mod remedies;
mod runs;
mod schemas;
mod series;
mod servers;
mod signals;
mod states;
mod trace;
mod verdicts;

#[path = "../schemas/schema.rs"]
mod schema;
