//! Packets in time.

mod bench;
mod bursts;
mod duplicates;
mod kernel;
mod losses;
mod network;
mod other_stacks;
mod path_mtu;
mod probes;
mod timeouts;
mod undoing;
mod windows;
