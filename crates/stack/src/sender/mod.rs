//! The sending half of a connection: from what the peer acknowledges to what may leave next.
//!
//! It knows nothing of buffers, headers and handshakes. Positions are `u64`: the SYN is 0, the
//! first data byte 1, the FIN stands behind the last byte. Whoever drives it does, in this order:
//!
//! 1. [`Sender::establish`] once the handshake is over; nothing is sent before.
//! 2. [`Sender::handle_ack`] for every acceptable segment with an ACK, [`Sender::handle_timeout`]
//!    when [`Sender::poll_at`] has come.
//! 3. After each of these, and when the application gave data or closed or lifted its cork,
//!    [`Sender::next`] until it gives `None`; each answer has been recorded as sent.
//! 4. Then [`Sender::poll_at`] says when it wants to be woken.
//!
//! The PUSH flag is not its affair: whoever owns the send buffer knows where writes ended. Nor are
//! sequence numbers, SYN and RST, keep-alive and delayed acknowledgements.

use tcplab_units::{Instant, Span};

use crate::congestion::{CongestionControl, Window};
use crate::{Config, SendCause};

/// What an acknowledgement said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ack<'a> {
    /// The acknowledgement number, as position: all below has arrived. Never above
    /// [`Sender::sent`].
    pub(crate) position: u64,
    /// The position, in the other direction, at which the segment itself begins: window updates
    /// of old segments are not believed (RFC 9293 section 3.10.7.4: SND.WL1).
    pub(crate) sequence: u64,
    /// The window, scaled, bytes.
    pub(crate) window: u64,
    /// SACK blocks as positions, in the order of the option; a D-SACK is the first. Blocks that
    /// make no sense do no harm.
    pub(crate) sack: &'a [(u64, u64)],
    /// The timestamp echoed (TSecr), less the connection's offset: ticks of
    /// [`crate::config::Host::timestamp_tick`] since the world's zero, modulo 2³². `None` without
    /// the option, or where it is zero.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN: it is no duplicate acknowledgement then.
    pub(crate) carries_data: bool,
    /// Whether the ECE flag is set.
    pub(crate) ece: bool,
}

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stream {
    /// The position behind the last byte that the application gave; behind the FIN once it closed.
    pub(crate) end: u64,
    /// Whether the last position is a FIN.
    pub(crate) fin: bool,
    /// TCP_CORK, or MSG_MORE: only full segments leave.
    pub(crate) corked: bool,
    /// TCP_NODELAY: small segments are never held back.
    pub(crate) nodelay: bool,
    /// Whether urgent data is outstanding: it is not held back either.
    pub(crate) urgent: bool,
    /// Whether the application has let go of the connection altogether (`SOCK_DEAD`): it is given
    /// up sooner then.
    pub(crate) orphaned: bool,
}

/// What leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToSend {
    /// Position of the first byte. Of a window probe without data it is one that was acknowledged
    /// already.
    pub(crate) start: u64,
    /// Data bytes; more than one [`Sender::mss`] where several segments leave as a burst.
    pub(crate) len: u32,
    /// Whether a FIN follows the data.
    pub(crate) fin: bool,
    /// Why.
    pub(crate) cause: SendCause,
    /// Whether the packet is ECN-capable: new data where ECN was negotiated (RFC 3168 section 6.1.5).
    pub(crate) ect: bool,
    /// Whether (the first segment of) it carries CWR.
    pub(crate) cwr: bool,
}

/// What the two ends agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Negotiated {
    /// Data bytes of a full segment: the MSS less the options on every segment.
    pub(crate) mss: u32,
    /// Whether SACK may be expected.
    pub(crate) sack: bool,
    /// Whether timestamps may be.
    pub(crate) timestamps: bool,
    /// Whether ECN is on.
    pub(crate) ecn: bool,
    /// The peer's window as last heard in the handshake, bytes.
    pub(crate) window: u64,
    /// The position, in the other direction, of the segment that said so.
    pub(crate) sequence: u64,
    /// The round trip of the handshake, unless the SYN was repeated and no timestamp told which
    /// was answered.
    pub(crate) rtt: Option<Span>,
    /// How often SYN or SYN-ACK were repeated.
    pub(crate) repetitions: u8,
}

/// What came of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heard {
    /// Positions newly acknowledged, FIN included: the send buffer lets go of everything below
    /// [`Sender::una`].
    pub(crate) acked: u64,
    /// Whether it told that something arrived twice (RFC 2883).
    pub(crate) dsack: bool,
    /// Whether the window or its edge changed.
    pub(crate) window_changed: bool,
}

/// Why a connection is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GivenUp {
    /// Data was repeated in vain for too long.
    #[error("nothing was acknowledged in spite of {0} repetitions")]
    Retransmissions(u32),
    /// A closed window was asked in vain for too long.
    #[error("a closed window was not opened in spite of {0} probes")]
    Probes(u32),
}

/// How a sender stands, for `TCP_INFO` and the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Figures {
    /// Smoothed round trip (`tcpi_rtt`).
    pub(crate) srtt: Option<Span>,
    /// Its deviation as `tcpi_rttvar` has it.
    pub(crate) rttvar: Span,
    /// The shortest of the last five minutes (`tcpi_min_rtt`).
    pub(crate) min_rtt: Option<Span>,
    /// The retransmission timeout, backed off (`tcpi_rto`).
    pub(crate) rto: Span,
    /// How often it is backed off (`tcpi_backoff`).
    pub(crate) backoff: u32,
    /// Timeouts in a row (`tcpi_retransmits`).
    pub(crate) timeouts: u32,
    /// Window probes unanswered (`tcpi_probes`).
    pub(crate) probes: u32,
    /// Segments outstanding, held for lost, sent again and SACKed.
    pub(crate) unacked: u32,
    /// See `unacked`.
    pub(crate) lost: u32,
    /// See `unacked`.
    pub(crate) retrans: u32,
    /// See `unacked`.
    pub(crate) sacked: u32,
    /// The reordering that is reckoned with, segments.
    pub(crate) reordering: u32,
    /// Segments sent again since the connection began (`tcpi_total_retrans`).
    pub(crate) total_retrans: u64,
    /// Data bytes sent, repetitions included (`tcpi_bytes_sent`).
    pub(crate) bytes_sent: u64,
    /// Data bytes sent again (`tcpi_bytes_retrans`).
    pub(crate) bytes_retrans: u64,
    /// Segments with data sent, repetitions included (`tcpi_data_segs_out`).
    pub(crate) data_segments: u64,
    /// D-SACKs heard (`tcpi_dsack_dups`).
    pub(crate) dsacks: u64,
    /// How often reordering was seen (`tcpi_reord_seen`).
    pub(crate) reorderings: u64,
    /// Segments delivered so far (`tcpi_delivered`).
    pub(crate) delivered: u64,
    /// How often a retransmission timeout ran out.
    pub(crate) total_timeouts: u64,
    /// How often a reduction was taken back.
    pub(crate) undone: u64,
}

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Config,
    congestion: Box<dyn CongestionControl>,
    window: Window,
}

impl Sender {
    /// A sender that has not begun.
    pub(crate) fn new(config: &Config, congestion: Box<dyn CongestionControl>) -> Sender {
        unimplemented!("{config:?} {congestion:?}")
    }

    /// The handshake is over; data may leave. The SYN, position 0, is acknowledged.
    pub(crate) fn establish(&mut self, now: Instant, negotiated: &Negotiated) {
        unimplemented!("{now:?} {negotiated:?}")
    }

    /// An acceptable acknowledgement came.
    pub(crate) fn handle_ack(&mut self, now: Instant, ack: &Ack<'_>, stream: &Stream) -> Heard {
        unimplemented!("{now:?} {ack:?} {stream:?}")
    }

    /// What leaves now; it is recorded as sent. `None`: nothing before something happens.
    pub(crate) fn next(&mut self, now: Instant, stream: &Stream) -> Option<ToSend> {
        unimplemented!("{now:?} {stream:?}")
    }

    /// When [`Sender::handle_timeout`] wants to be called.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        unimplemented!()
    }

    /// A time that [`Sender::poll_at`] gave has come; earlier it does nothing.
    ///
    /// # Errors
    /// When the connection is given up.
    pub(crate) fn handle_timeout(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        unimplemented!("{now:?} {stream:?}")
    }

    /// The position below which all is acknowledged.
    pub(crate) fn una(&self) -> u64 {
        unimplemented!()
    }

    /// The position behind the highest that was ever sent.
    pub(crate) fn sent(&self) -> u64 {
        unimplemented!()
    }

    /// The peer's window from [`Sender::una`] on, bytes.
    pub(crate) fn peer_window(&self) -> u64 {
        unimplemented!()
    }

    /// Data bytes of a full segment.
    pub(crate) fn mss(&self) -> u32 {
        self.window.mss
    }

    /// Segments become smaller, the path's MTU demands it; what is too large is sent again.
    pub(crate) fn set_mss(&mut self, now: Instant, mss: u32) {
        unimplemented!("{now:?} {mss}")
    }

    /// TCP_USER_TIMEOUT; zero: none.
    pub(crate) fn set_user_timeout(&mut self, timeout: Span) {
        unimplemented!("{timeout:?}")
    }

    /// The retransmission timeout as it stands, backed off.
    pub(crate) fn rto(&self) -> Span {
        unimplemented!()
    }

    /// What the congestion control sees.
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// How it stands.
    pub(crate) fn figures(&self) -> Figures {
        unimplemented!()
    }
}
