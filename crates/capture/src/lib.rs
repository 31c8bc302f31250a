//! Capture files: pcapng and pcap, read from any stream and written to any.
//!
//! [`open`] takes a file as it is found: of any format, compressed or not; [`Merged`] reads
//! several as one. Reading ([`Reader`]) takes what is there: a file cut off or damaged anywhere
//! gives all its complete records and then the error. Only the file itself is interpreted;
//! [`Interface::link_type`] says what its frames hold.
//!
//! Writing ([`PcapngWriter`], [`PcapWriter`]) keeps nanoseconds, and always the same byte order,
//! so that the same records give the same bytes on every machine.

mod annotate;
mod block;
mod read;
mod record;
mod source;
mod time;
mod write;

#[cfg(test)]
mod tests;

pub use annotate::{AnnotateError, Annotated, annotate};
pub use read::{Damage, Merged, ReadError, Reader};
pub use record::{Comments, Direction, Interface, Record, Statistics};
pub use source::{Source, open, open_until};
pub use time::UnixTime;
pub use write::{Packet, PcapWriter, PcapngWriter, Section};
