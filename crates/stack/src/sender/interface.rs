//! The input and output of a [`super::Sender`].

use tcplab_units::Span;

use super::feedback::Told;
use super::scoreboard::Block;
use crate::SendCause;

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ack<'a> {
    /// The acknowledgement number as a position: everything below has arrived. Never above
    /// [`super::Sender::sent`].
    pub(crate) position: u64,
    /// The position, in the other direction, where the segment begins: window updates of old
    /// segments are ignored (RFC 9293 section 3.10.7.4: SND.WL1).
    pub(crate) sequence: u64,
    /// The window, scaled, bytes.
    pub(crate) window: u64,
    /// SACK blocks in the order of the option; a D-SACK is the first. Invalid blocks are ignored.
    pub(crate) sack: &'a [Block],
    /// The echoed timestamp (TSecr) less the connection's offset: ticks of
    /// [`crate::config::Host::timestamp_tick`] since the world's zero, modulo 2³². `None` without
    /// the option, or if it is zero.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN, and so is no duplicate ACK.
    pub(crate) carries_data: bool,
    /// Whether the ECE flag is set.
    pub(crate) ece: bool,
    /// What Accurate ECN tells.
    pub(crate) told: Option<Told>,
}

/// What the application wants to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "options of a socket, independent")]
pub(crate) struct Stream {
    /// The position after the last byte written; after the FIN once the application has closed.
    pub(crate) end: u64,
    /// Whether the last position is a FIN.
    pub(crate) fin: bool,
    /// TCP_CORK or MSG_MORE: only full segments leave.
    pub(crate) corked: bool,
    /// TCP_NODELAY: small segments are never held back.
    pub(crate) nodelay: bool,
    /// Whether the application has more data, but the send buffer is full (`SOCK_NOSPACE`).
    pub(crate) buffer_full: bool,
    /// The buffer that leaves next; `None`: a burst takes what there is.
    pub(crate) chunk: Option<NextChunk>,
    /// Whether it leaves though more could leave together later (`tcp_push_one`).
    pub(crate) is_urged: bool,
    /// Whether records end anywhere (MSG_EOR): retransmissions are not merged then.
    pub(crate) has_boundaries: bool,
    /// Whether the device below drops what it is given (`NET_XMIT_DROP`): nothing new leaves.
    pub(crate) device_full: bool,
    /// Whether urgent data is outstanding: Nagle's algorithm does not hold it back.
    pub(crate) urgent: bool,
    /// Whether the application has released the connection (`SOCK_DEAD`): the sender gives up
    /// sooner.
    pub(crate) orphaned: bool,
}

/// The buffer whose data leaves next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextChunk {
    /// The position behind it.
    pub(crate) end: u64,
    /// The position behind the one after it, whose data may leave with it; the same position where
    /// none follows, or a record ends between (MSG_EOR).
    pub(crate) most: u64,
}

impl NextChunk {
    /// Bytes from `position` on that leave together when `wanted` may leave (`tcp_grow_skb`: a
    /// buffer that is shorter than that takes from the next one).
    pub(super) fn len(&self, position: u64, wanted: u64) -> u64 {
        (self.end - position).max(wanted.min(self.most - position))
    }
}

impl Stream {
    /// The position after the last data byte.
    pub(super) fn data_end(&self) -> u64 {
        self.end - u64::from(self.fin)
    }
}

/// What leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToSend {
    /// Position of the first byte. A window probe without data uses one already acknowledged.
    pub(crate) start: u64,
    /// Data bytes; more than one [`super::Sender::mss`] if several segments leave as a burst.
    pub(crate) len: u32,
    /// Whether a FIN follows the data.
    pub(crate) fin: bool,
    /// Why it is sent.
    pub(crate) cause: SendCause,
    /// Whether the packet is ECN-capable: only new data is (RFC 3168 section 6.1.5).
    pub(crate) ect: bool,
    /// Whether its first segment carries CWR.
    pub(crate) cwr: bool,
}

/// What the handshake negotiated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Negotiated {
    /// Data bytes of a full segment: the MSS less the options on every segment.
    pub(crate) mss: u32,
    /// Whether SACK is permitted.
    pub(crate) sack: bool,
    /// Whether both ends use timestamps.
    pub(crate) timestamps: bool,
    /// Whether ECN is on.
    pub(crate) ecn: bool,
    /// The peer's window at the end of the handshake, bytes.
    pub(crate) window: u64,
    /// The position, in the other direction, of the segment with that window.
    pub(crate) sequence: u64,
    /// The first position that the peer does not have: 1, or more if data went with the SYN.
    pub(crate) first: u64,
    /// The RTT of the handshake; `None` if the SYN was retransmitted and no timestamp shows which
    /// was answered.
    pub(crate) rtt: Option<Span>,
    /// How often SYN or SYN-ACK were retransmitted.
    pub(crate) retransmissions: u8,
}

/// What an acknowledgement changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AckOutcome {
    /// Positions newly acknowledged, FIN included: the send buffer releases everything below
    /// [`super::Sender::una`].
    pub(crate) acked: u64,
    /// Whether it carried a D-SACK (RFC 2883).
    pub(crate) dsack: bool,
    /// Whether the window or its edge changed.
    pub(crate) window_changed: bool,
}

/// Why the sender gives a connection up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GivenUp {
    /// Too many retransmissions without an acknowledgement.
    #[error("nothing was acknowledged after {0} retransmissions")]
    Retransmissions(u32),
    /// Too many unanswered window probes.
    #[error("the window stayed closed after {0} probes")]
    Probes(u32),
}
