//! The procedure of RFC 6349, "Framework for TCP Throughput Testing", step by step: path MTU,
//! baseline round trip and bottleneck, bandwidth-delay product, and TCP's throughput with one and
//! with several connections.

mod baseline;
mod outcome;
mod test;

pub use baseline::{Asked, Baseline};
pub use outcome::{Row, Throughput, row, rows, sum_up};
pub use test::{Test, counts};

#[cfg(test)]
mod tests;
