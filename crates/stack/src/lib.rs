//! A model of a TCP endpoint, without clock, socket or randomness of its own.
//!
//! [`Connection`] is one end of a connection, [`Listener`] what answers SYNs; [`Config`] says how
//! this stack differs from others. [`BufferPool`] is what the connections of a machine share.

mod best_of_late;
mod buffer_pool;
mod cause;
pub mod config;
pub mod congestion;
mod connection;
mod fast_open;
mod freebsd;
mod info;
mod jiffies;
mod listener;
mod range;
mod receiver;
mod reset;
mod segment;
mod send_buffer;
mod sender;
mod socket_option;
mod state;
mod sysctl;
mod timestamp_order;
mod truesize;

pub use buffer_pool::{BufferPool, Buffers};
pub use cause::SendCause;
pub use config::Config;
pub use connection::{
    Connection, ConnectionError, Opening, PathMtu, ReadError, Send, SocketOptions, Transmit,
    WriteError,
};
pub use fast_open::{FastAnswer, FastClient, FastLesson, FastServer};
pub use freebsd::FreeBsd;
pub use info::Info;
pub use listener::Listener;
pub use range::OutOfRange;
pub use reset::reset_for;
pub use segment::{Data, Segment};
pub use socket_option::SocketOption;
pub use state::State;
pub use sysctl::{SYSCTLS, SysctlError, set_sysctl};
pub use timestamp_order::TimestampOrder;
