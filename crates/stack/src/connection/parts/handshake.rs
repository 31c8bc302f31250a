//! The handshake in progress.

use tcplab_units::{Instant, Span};
use tcplab_wire::Cookie;

use crate::config::Config;
use crate::fast_open::FastLesson;

/// The handshake: its timer and Fast Open.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Whether this end sent the first SYN.
    pub(crate) is_active: bool,
    pub(crate) fast: Fast,
    /// When the SYN or SYN-ACK is retransmitted.
    pub(crate) retransmit_at: Option<Instant>,
    pub(crate) timeout: Span,
    /// SYNs or SYN-ACKs retransmitted (`num_retrans`).
    pub(crate) retransmissions: u8,
    /// How often the timer expired (`num_timeout`); more than retransmissions if TCP_DEFER_ACCEPT
    /// ignored an acknowledgement.
    pub(crate) timeouts: u8,
    /// Whether it did (`acked`).
    pub(crate) was_acknowledged: bool,
    /// When it was first sent, and the timestamp clock then.
    pub(crate) sent: Instant,
    pub(crate) first_clock: u32,
    /// The peer's window, from its SYN.
    pub(crate) peer_window: u64,
}

impl Handshake {
    pub(crate) fn new(config: &Config, is_active: bool) -> Handshake {
        Handshake {
            is_active,
            fast: Fast::default(),
            retransmit_at: None,
            timeout: config.timeout.initial,
            retransmissions: 0,
            timeouts: 0,
            was_acknowledged: false,
            sent: Instant::ZERO,
            first_clock: 0,
            peer_window: 0,
        }
    }
}

/// Fast Open (RFC 7413).
#[derive(Debug, Default)]
pub(crate) struct Fast {
    /// The cookie that the first SYN, or the SYN-ACK, carries.
    pub(crate) cookie: Option<Cookie>,
    /// Data bytes that go with the first SYN.
    pub(crate) with_syn: u32,
    /// The application has more data.
    pub(crate) more: bool,
    /// The application has the connection, but the SYN-ACK is not acknowledged.
    pub(crate) pending: bool,
    /// The data of the SYN was taken (TCPI_OPT_SYN_DATA).
    pub(crate) taken: bool,
    pub(crate) lesson: Option<FastLesson>,
}
