//! Writing captures.

mod pcap;
mod pcapng;

pub use pcap::PcapWriter;
pub use pcapng::{Packet, PcapngWriter, Section};
