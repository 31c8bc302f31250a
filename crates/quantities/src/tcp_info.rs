//! Samples of a socket: `TCP_INFO`, of the kernel or of a model.

use crate::quantity::quantities;

quantities! {
    TCP_STATE = "tcp_state", None, "TCP state",
        "TCP state, numbered as in Linux: 1 is ESTABLISHED (tcpi_state)";
    CA_STATE = "ca_state", None, "congestion state",
        "Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (tcpi_ca_state)";
    BACKOFF = "backoff", None, "backoff",
        "Retransmission timeouts in a row for the oldest segment (tcpi_backoff)";
    CWND_SEGMENTS = "cwnd_segments", None, "congestion window", "Congestion window (tcpi_snd_cwnd)";
    SSTHRESH_SEGMENTS = "ssthresh_segments", None, "ssthresh",
        "Slow start threshold; empty while none is set (tcpi_snd_ssthresh)";
    SND_MSS_BYTES = "snd_mss_bytes", Bytes, "MSS in sending",
        "Maximum segment size in sending (tcpi_snd_mss)";
    UNACKED_SEGMENTS = "unacked_segments", None, "unacknowledged",
        "Segments sent and not acknowledged (tcpi_unacked)";
    SACKED_SEGMENTS = "sacked_segments", None, "SACKed",
        "Unacknowledged segments that are SACKed (tcpi_sacked)";
    MARKED_LOST_SEGMENTS = "marked_lost_segments", None, "marked lost",
        "Unacknowledged segments that are marked lost (tcpi_lost)";
    RETRANS_SEGMENTS = "retrans_segments", None, "retransmitted, unacknowledged",
        "Unacknowledged segments that were retransmitted (tcpi_retrans)";
    TOTAL_RETRANS_SEGMENTS = "total_retrans_segments", None, "retransmitted segments",
        "Segments retransmitted so far (tcpi_total_retrans)";
    RECEIVED_BYTES = "received_bytes", Bytes, "received",
        "Bytes received so far (tcpi_bytes_received)";
    NOTSENT_BYTES = "notsent_bytes", Bytes, "not sent",
        "Data in the send buffer not sent yet (tcpi_notsent_bytes)";
    SND_WND_BYTES = "snd_wnd_bytes", Bytes, "window of the peer",
        "The window that the peer advertises (tcpi_snd_wnd)";
    RCV_WND_BYTES = "rcv_wnd_bytes", Bytes, "own window",
        "The window advertised to the peer (tcpi_rcv_wnd)";
    RCV_SPACE_BYTES = "rcv_space_bytes", Bytes, "receive space",
        "What the receiver tunes its buffer to (tcpi_rcv_space)";
    PACING_RATE = "pacing_rate_bytes_per_second", BytesPerSecond, "pacing rate",
        "Pacing rate; empty while not paced (tcpi_pacing_rate)";
    DELIVERY_RATE = "delivery_rate_bytes_per_second", BytesPerSecond, "delivery rate",
        "Delivery rate as the kernel estimates it (tcpi_delivery_rate)";
    BUSY_NS = "busy_ns", Nanoseconds, "busy",
        "Time with data outstanding or waiting (tcpi_busy_time)";
    RWND_LIMITED_NS = "rwnd_limited_ns", Nanoseconds, "busy, receive window full",
        "Of the busy time, limited by the receive window (tcpi_rwnd_limited)";
    SNDBUF_LIMITED_NS = "sndbuf_limited_ns", Nanoseconds, "busy, send buffer full",
        "Of the busy time, limited by the send buffer (tcpi_sndbuf_limited)";
    DSACK_DUPS = "dsack_dups", None, "D-SACKs", "D-SACK blocks received so far (tcpi_dsack_dups)";
    REORD_SEEN = "reord_seen", None, "reordering events",
        "Reordering events so far (tcpi_reord_seen)";
}
