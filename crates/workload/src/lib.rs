//! What the applications at both ends do, without doing any input or output themselves.
//!
//! A world (the real kernel, or virtual time) asks an [`Application`] what it wants next, does
//! that on the connection, and reports how it went:
//!
//! ```
//! # use tcplab_units::Instant;
//! # use tcplab_workload::{Application, Want, WorkloadSpec};
//! # let spec: WorkloadSpec = serde_json::from_str(r#"{"upload": "100 kB"}"#).unwrap();
//! # let now = Instant::ZERO;
//! # let mut peer: Vec<u8> = Vec::new();
//! let mut client = Application::new(spec.client_role(), &spec, 1);
//! client.start(now);
//! loop {
//!     match client.want() {
//!         Want::Write(bytes) => {
//!             let taken = bytes.len().min(1448); // what the socket's buffer had room for
//!             peer.extend(&bytes[..taken]);
//!             client.wrote(taken, now);
//!         }
//!         Want::ShutDown => client.shut_down(now), // the FIN follows the last byte
//!         Want::Read => client.end_of_stream(now), // a read that returned nothing
//!         Want::Close => break,
//!     }
//! }
//! assert_eq!(peer.len(), 100_000);
//! ```

mod application;
mod payload;
mod report;
mod socket;
mod spec;

pub use application::{Application, Receiver, Sender, Want};
pub use payload::{Digest, Payload};
pub use report::{AppReport, Role};
pub use socket::{
    Access, IfRefused, Kind, Level, OptionInfo, OptionValue, Outcome, SocketError, SocketOptions,
    SocketRole, is_of_the_machine, outcome, table,
};
pub use spec::{WorkloadError, WorkloadSpec};
