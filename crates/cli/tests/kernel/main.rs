//! tcplab's promises, kept on the real kernel.
//!
//! Each test runs the program as a user does, in a directory of its own, and judges what it leaves
//! by reading the files again from the bytes up. Where network namespaces are not allowed the tests
//! say so (`SKIPPED: …`) and pass. No test asserts how long anything takes.

mod captures;
mod datagrams;
mod experiment;
mod fidelity;
mod flows;
mod full;
mod interfaces;
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
mod shell_transfers;
mod states;
mod tap;
mod tcp_info;
mod transfers;
mod truth;
mod tshark;
mod unprivileged;
mod verified;

#[path = "../../../sim/tests/trials/forwarded.rs"]
mod forwarded;
