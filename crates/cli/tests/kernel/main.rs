//! Tests on the real kernel.
//!
//! Each test runs the program in its own directory and reads the resulting files from the bytes up.
//! Where network namespaces are forbidden the tests print `SKIPPED: …` and pass. No test asserts a
//! duration.

mod bench;
mod captures;
mod datagrams;
mod experiment;
mod few_processes;
mod fidelity;
mod flows;
mod frames;
mod full;
mod interfaces;
mod interrupted;
mod latency;
mod leftovers;
mod load;
mod netem;
mod options;
mod outcomes;
mod path_mtu;
mod processes;
mod program;
mod programs;
mod replay;
mod same_host;
mod shell;
mod shell_expectations;
mod shell_transfers;
mod states;
mod steering;
mod tcp_info;
mod transfers;
mod truth;
mod tshark;
mod unprivileged;
mod verified;

#[path = "../commands/home.rs"]
mod home;
#[path = "../guests/image.rs"]
#[expect(dead_code, reason = "tests of guests use all of it")]
mod image;
#[path = "../commands/limited.rs"]
mod limited;

#[path = "../../../sim/tests/trials/forwarded.rs"]
mod forwarded;
#[path = "../schemas/schema.rs"]
mod schema;
