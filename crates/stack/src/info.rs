//! The statistics of a connection (`TCP_INFO`).

use tcplab_units::{Bytes, Rate, Span};

use crate::congestion;
use crate::state::State;

/// The fields of Linux's `struct tcp_info` that are in use, by their names there without
/// `tcpi_`. Times are spans, amounts are bytes; counts are segments unless stated otherwise.
///
/// Left out are fields that Linux has not filled for years (`fackets`), and those of features that
/// are not modelled: rehashing, and why Fast Open failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Info {
    /// The connection's state.
    pub state: State,
    /// The sender's state.
    pub ca_state: congestion::State,
    /// Timeouts in a row.
    pub retransmits: u32,
    /// Window probes or keep-alive probes not answered.
    pub probes: u32,
    /// How often the timeout is doubled.
    pub backoff: u32,
    /// TCPI_OPT_TIMESTAMPS.
    pub timestamps: bool,
    /// TCPI_OPT_SACK.
    pub sack: bool,
    /// TCPI_OPT_WSCALE.
    pub window_scaling: bool,
    /// TCPI_OPT_ECN.
    pub ecn: bool,
    /// TCPI_OPT_ECN_SEEN.
    pub ecn_seen: bool,
    /// TCPI_OPT_SYN_DATA: data that went with the SYN was taken.
    pub syn_data: bool,
    /// The shift of the peer's windows.
    pub snd_wscale: u8,
    /// The shift of the own windows.
    pub rcv_wscale: u8,
    /// Whether the delivery rate was limited by the application.
    pub delivery_rate_app_limited: bool,
    /// Retransmission timeout.
    pub rto: Span,
    /// Expected time between segments: the delay of acknowledgements.
    pub ato: Span,
    /// The largest segment sent.
    pub snd_mss: u32,
    /// The largest segment received, as estimated.
    pub rcv_mss: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Segments SACKed.
    pub sacked: u32,
    /// Segments marked lost.
    pub lost: u32,
    /// Segments retransmitted and not acknowledged.
    pub retrans: u32,
    /// Since data was last sent.
    pub last_data_sent: Span,
    /// Since data was last received.
    pub last_data_recv: Span,
    /// Since an acknowledgement was last received.
    pub last_ack_recv: Span,
    /// The largest packet of the path.
    pub pmtu: u32,
    /// Up to where the receive window may grow at present.
    pub rcv_ssthresh: u64,
    /// Smoothed RTT.
    pub rtt: Span,
    /// Its deviation.
    pub rttvar: Span,
    /// Slow start threshold.
    pub snd_ssthresh: u32,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// The segment size asked of the peer, less options.
    pub advmss: u32,
    /// The reordering expected, segments.
    pub reordering: u32,
    /// The receiver's RTT.
    pub rcv_rtt: Span,
    /// Bytes that the application reads per RTT.
    pub rcv_space: u64,
    /// Segments retransmitted so far.
    pub total_retrans: u64,
    /// How fast segments may leave; `None`: not paced.
    pub pacing_rate: Option<Rate>,
    /// Bytes acknowledged.
    pub bytes_acked: Bytes,
    /// Bytes received in order.
    pub bytes_received: Bytes,
    /// Segments sent.
    pub segs_out: u64,
    /// Segments received.
    pub segs_in: u64,
    /// Bytes written and not sent.
    pub notsent_bytes: Bytes,
    /// RTT minimum; `None`: none is known.
    pub min_rtt: Option<Span>,
    /// Segments with data received.
    pub data_segs_in: u64,
    /// Segments with data sent.
    pub data_segs_out: u64,
    /// The latest good sample of the delivery rate.
    pub delivery_rate: Option<Rate>,
    /// Time with anything to send.
    pub busy_time: Span,
    /// Of it, held back by the peer's window.
    pub rwnd_limited: Span,
    /// Of it, held back by the send buffer.
    pub sndbuf_limited: Span,
    /// Segments delivered.
    pub delivered: u64,
    /// Of them, marked: acknowledged with ECE, or told by Accurate ECN.
    pub delivered_ce: u64,
    /// Bytes that arrived at the peer, by codepoint (not ECT, ECT(1), ECT(0), CE; the first is
    /// never told), as Accurate ECN's option tells them.
    pub delivered_bytes: [u32; 4],
    /// Packets received with CE.
    pub received_ce: u32,
    /// Bytes received, by codepoint likewise.
    pub received_bytes: [u32; 4],
    /// Bytes sent, retransmissions included.
    pub bytes_sent: Bytes,
    /// Bytes retransmitted.
    pub bytes_retrans: Bytes,
    /// D-SACKs received.
    pub dsack_dups: u64,
    /// How often segments were reordered.
    pub reord_seen: u64,
    /// Segments received out of order.
    pub rcv_ooopack: u32,
    /// The peer's window.
    pub snd_wnd: u64,
    /// The own window.
    pub rcv_wnd: u64,
    /// Retransmission timeouts.
    pub total_rto: u64,
}
