//! Tests of kernels in virtual time.
//!
//! They need an image that `make test` builds (`target/kernels`), no privileges, and no network.
//! Without it they print `SKIPPED: …` and pass.

mod everything;
mod image;
mod same_bytes;
mod shell;

#[path = "../commands/home.rs"]
mod home;

#[path = "../schemas/schema.rs"]
mod schema;
