//! The `tcplab` binary.
fn main() {}
