//! What the applications at both ends do, without doing any input or output themselves.
//!
//! An application works through a [`Program`]: steps, which are calls on a socket and what stands
//! between them. Named workloads are short for programs of both ends. A world (the real kernel, or
//! virtual time) asks an [`Application`] what it wants next, does that on the connection, and
//! reports how it went:
//!
//! ```
//! # use tcplab_units::Instant;
//! # use tcplab_units::Endpoint;
//! # use tcplab_workload::{Application, Want, WorkloadSpec};
//! # let spec: WorkloadSpec = serde_json::from_str(r#"{"upload": "100 kB"}"#).unwrap();
//! # let now = Instant::ZERO;
//! # let mut peer: Vec<u8> = Vec::new();
//! let mut client = Application::new(Endpoint::Client, &spec, 1);
//! loop {
//!     match client.want(now) {
//!         Want::Write { bytes, .. } => {
//!             let taken = bytes.len().min(1448); // what the socket's buffer had room for
//!             peer.extend(&bytes[..taken]);
//!             client.wrote(taken, now);
//!         }
//!         Want::Read(_) => client.end_of_stream(now), // a read that returned nothing
//!         Want::Nothing => break,
//!         _ => client.did(now), // connected, the FIN sent, closed
//!     }
//! }
//! assert_eq!(peer.len(), 100_000);
//! ```

mod absent;
mod application;
mod datagrams;
mod error;
mod load;
mod log;
mod medium;
mod payload;
mod program;
mod report;
mod shared_payload;
mod socket;
mod spec;
mod step;
mod stream;
mod traffic;
mod verify;

pub use absent::Absent;
pub use application::{Application, Want};
pub use datagrams::{DatagramApplication, DatagramMark, DatagramWant, Datagrams};
pub use error::WorkloadError;
pub use load::LoadSpec;
pub use medium::Medium;
pub use payload::{Digest, Payload};
pub use program::{Program, ProgramError};
pub use report::{
    AppReport, BackReport, CALLS, CallRow, DatagramReport, Exchange, LoadReport, RESULTS,
    RequestReport, Role, ServerReport, TIMED_OUT, UrgentReport, VANISH, WAITING,
};
pub use socket::{
    Access, IfRefused, Kind, Level, OptionInfo, OptionValue, Outcome, SocketError, SocketOptions,
    SocketRole, is_of_the_machine, outcome, table,
};
pub use spec::{CloseMode, Connections, Idle, Keystrokes, Pause, Requests, WorkloadSpec};
pub use step::{Half, Read, Step, StepError, Toggle, Until, Write};
pub use traffic::{
    Arrivals, Distribution, Law, LogNormal, OnOff, Pareto, Quantity, Shape, Traffic,
    TransferDirection,
};
pub use verify::{PayloadMismatch, verify, verify_flow};
