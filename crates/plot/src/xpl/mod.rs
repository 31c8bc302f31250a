//! Graphs for xplot, as tcptrace draws and names them, written while the capture is read.
//!
//! The format (T. Shepard, xplot): a line for each stroke; the first names the types of both axes,
//! `go` is the last. Sequence numbers count from the initial one, as with tcptrace's `-zy`; packets
//! that take no room in the sequence are not drawn (its `--noshowzerolensegs`). The marks are
//! tcptrace's; beside a repetition stands why it was sent: `R` on acknowledgements, `RTO` by the
//! retransmission timer, `TLP` as a probe; `O` is out of order, `HD` a duplicate, `P` a window
//! probe, `K` a keep-alive, `S` a SACK block, `D` a D-SACK, `3` the third duplicate
//! acknowledgement, `Z` a closed window. `rttseq` is a graph of ours: the samples of `rtt` over
//! sequence numbers.

mod direction;
mod graph;
mod sink;
#[cfg(test)]
mod tests;
mod writer;

pub use graph::XplGraph;
pub use sink::{XplFiles, XplSink};
