//! Tests of kernels in virtual time.
//!
//! They need an image that `make test` builds (`target/kernels`), no privileges, and no network.
//! Without it they print `SKIPPED: …` and pass.

mod causes;
mod each_ack;
mod elements;
mod endings;
mod everything;
mod fidelity;
mod image;
mod mixed;
mod named;
mod old;
#[expect(dead_code, reason = "the benchmark uses all of it")]
mod qdiscs;
mod refusals;
mod routes;
mod same_bytes;
mod scripts;
mod shell;
mod two_paths;

#[path = "../commands/home.rs"]
#[expect(dead_code, reason = "other tests use all of it")]
mod home;

#[path = "../schemas/schema.rs"]
mod schema;
