//! Rows of `TCP_INFO`: what the kernel (or a model stack) says of a connection at one moment.

use tcplab_units::{Endpoint, Instant};

/// One column of the samples table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name; the unit, where there is one, is its last word.
    pub name: &'static str,
    /// `us`, `bytes`, `bytes per second`, `segments`, `count`, or empty for a code.
    pub unit: &'static str,
    /// What it says, in a sentence; the kernel's own field in brackets.
    pub meaning: &'static str,
}

macro_rules! samples {
    ($($(#[doc = $meaning:literal])+ $field:ident: $unit:literal,)+) => {
        /// One look at one socket.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Sample {
            /// When it was taken.
            pub at: Instant,
            /// Whose socket.
            pub endpoint: Endpoint,
            $($(#[doc = $meaning])+ pub $field: u64,)+
        }

        impl Sample {
            /// The columns after `at_ns` and `endpoint`, in the order they are written.
            pub const COLUMNS: &[Column] = &[$(Column {
                name: stringify!($field), unit: $unit, meaning: concat!($($meaning),+),
            },)+];

            /// A sample with nothing in it.
            pub fn empty(at: Instant, endpoint: Endpoint) -> Sample {
                Sample { at, endpoint, $($field: 0,)+ }
            }

            /// The values in the order of [`Sample::COLUMNS`].
            pub fn values(&self) -> [u64; Sample::COLUMNS.len()] {
                [$(self.$field,)+]
            }

            /// The value slots in the order of [`Sample::COLUMNS`].
            pub(crate) fn slots(&mut self) -> [&mut u64; Sample::COLUMNS.len()] {
                [$(&mut self.$field,)+]
            }
        }
    };
}

samples! {
    /// TCP state, numbered as in Linux: 1 is ESTABLISHED (tcpi_state).
    state: "",
    /// Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (tcpi_ca_state).
    ca_state: "",
    /// Retransmission timeouts in a row for the oldest segment (tcpi_backoff).
    backoff: "count",
    /// Congestion window (tcpi_snd_cwnd).
    cwnd_segments: "segments",
    /// Slow start threshold; 2147483647 while none is set (tcpi_snd_ssthresh).
    ssthresh_segments: "segments",
    /// Maximum segment size in sending (tcpi_snd_mss).
    snd_mss_bytes: "bytes",
    /// Smoothed round trip time (tcpi_rtt).
    rtt_us: "us",
    /// Its mean deviation (tcpi_rttvar).
    rttvar_us: "us",
    /// The smallest round trip seen (tcpi_min_rtt).
    min_rtt_us: "us",
    /// Retransmission timeout in force (tcpi_rto).
    rto_us: "us",
    /// Segments sent and not acknowledged (tcpi_unacked).
    unacked_segments: "segments",
    /// Of these, SACKed (tcpi_sacked).
    sacked_segments: "segments",
    /// Of these, held for lost (tcpi_lost).
    lost_segments: "segments",
    /// Of these, retransmitted and not yet acknowledged (tcpi_retrans).
    retrans_segments: "segments",
    /// Retransmitted segments so far (tcpi_total_retrans).
    total_retrans_segments: "segments",
    /// Bytes acknowledged so far (tcpi_bytes_acked).
    bytes_acked: "bytes",
    /// Bytes received so far (tcpi_bytes_received).
    bytes_received: "bytes",
    /// Data in the send buffer not sent yet (tcpi_notsent_bytes).
    notsent_bytes: "bytes",
    /// The window the peer advertises (tcpi_snd_wnd).
    snd_wnd_bytes: "bytes",
    /// The window advertised to the peer (tcpi_rcv_wnd).
    rcv_wnd_bytes: "bytes",
    /// What the receiver tunes its buffer to (tcpi_rcv_space).
    rcv_space_bytes: "bytes",
    /// Pacing rate; all ones while not paced (tcpi_pacing_rate).
    pacing_rate_bytes_per_second: "bytes per second",
    /// Delivery rate as the kernel estimates it (tcpi_delivery_rate).
    delivery_rate_bytes_per_second: "bytes per second",
    /// Time with data outstanding or waiting (tcpi_busy_time).
    busy_us: "us",
    /// Of it, limited by the receiver's window (tcpi_rwnd_limited).
    rwnd_limited_us: "us",
    /// Of it, limited by the send buffer (tcpi_sndbuf_limited).
    sndbuf_limited_us: "us",
    /// D-SACK blocks received so far (tcpi_dsack_dups).
    dsack_dups: "count",
    /// Reordering events seen so far (tcpi_reord_seen).
    reord_seen: "count",
}
