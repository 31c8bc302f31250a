//! What the sender's model takes from the packets of both directions.

use tcplab_units::{Instant, Span};

use crate::Timer;
use crate::fold::folded;

/// A full segment on Ethernet with timestamps, where the handshake was not seen.
pub(crate) const USUAL_SEGMENT: u64 = 1_448;

/// A packet with data or a zero-window probe, as it leaves the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) end: u64,
    pub(crate) payload: u64,
    /// Not new data in order.
    pub(crate) repeat: bool,
    /// It starts or continues fast recovery, or says that the window was reduced on a mark.
    pub(crate) fast: bool,
    pub(crate) window_probe: bool,
    pub(crate) timer: Option<Timer>,
    /// Where the capture point knows: bytes in flight, this one included.
    pub(crate) in_flight: Option<u64>,
    /// The timestamp that it echoes.
    pub(crate) echo: Option<u32>,
}
folded! {
    Departure {
        at, frame, end, payload, repeat, fast, window_probe, timer, in_flight, echo
    }
}

/// An acknowledgement, at the time at which it reaches the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) at: Instant,
    pub(crate) frame: u64,
    pub(crate) ack: u64,
    /// Bytes of data newly acknowledged.
    pub(crate) fresh: u64,
    /// The bytes that the receiver is known to have, SACKed ones included.
    pub(crate) delivered: u64,
    /// The first byte that may not be sent, if the window's scale is known.
    pub(crate) edge: Option<u64>,
    /// Where the capture point knows.
    pub(crate) in_flight: Option<u64>,
    pub(crate) with_data: bool,
    /// A round trip at the capture point.
    pub(crate) sample: Option<Span>,
}
folded! { Answer { at, frame, ack, fresh, delivered, edge, in_flight, with_data, sample } }
