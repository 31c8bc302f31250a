//! Rows of `TCP_INFO`: what the kernel (or a model stack) says of a connection at one moment.

use tcplab_units::{Endpoint, Instant};

/// One column of the samples table. Files have nanoseconds where the kernel has microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name here; the unit, where there is one, is its last word.
    pub name: &'static str,
    /// The value that means that there is none, if one does. Files have an empty cell for it.
    pub none: Option<u64>,
    /// What it says, in a sentence; the kernel's own field in brackets.
    pub meaning: &'static str,
}

impl Column {
    /// Its name in files.
    pub fn key(&self) -> String {
        match self.name.strip_suffix("_us") {
            Some(name) => format!("{name}_ns"),
            None => self.name.to_owned(),
        }
    }

    /// A value as files have it.
    pub(crate) fn cell(&self, value: u64) -> String {
        if self.none == Some(value) {
            String::new()
        } else {
            value.saturating_mul(self.scale()).to_string()
        }
    }

    /// A value from its cell.
    pub(crate) fn value(&self, cell: &str) -> Option<u64> {
        if cell.is_empty() { self.none } else { Some(cell.parse::<u64>().ok()? / self.scale()) }
    }

    /// Microseconds become nanoseconds.
    fn scale(&self) -> u64 {
        if self.name.ends_with("_us") { 1_000 } else { 1 }
    }
}

macro_rules! samples {
    ($($(#[doc = $meaning:literal])+ $field:ident $(: none $none:literal)?,)+) => {
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
                name: stringify!($field),
                none: [$(Some($none),)? None][0],
                meaning: concat!($($meaning),+),
            },)+];

            /// A sample with nothing in it.
            pub fn empty(at: Instant, endpoint: Endpoint) -> Sample {
                Sample { at, endpoint, $($field: 0,)+ }
            }

            /// The values in the order of [`Sample::COLUMNS`].
            pub fn values(&self) -> [u64; Sample::COLUMNS.len()] {
                [$(self.$field,)+]
            }

            /// The values as files have them: none where there is none, nanoseconds.
            pub fn cells(&self) -> impl Iterator<Item = Option<u64>> + use<> {
                let cell = |(column, value): (&Column, u64)| {
                    (column.none != Some(value)).then(|| value.saturating_mul(column.scale()))
                };
                let values = self.values();
                Sample::COLUMNS.iter().zip(values).map(cell)
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
    state,
    /// Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (tcpi_ca_state).
    ca_state,
    /// Retransmission timeouts in a row for the oldest segment (tcpi_backoff).
    backoff,
    /// Congestion window (tcpi_snd_cwnd).
    cwnd_segments,
    /// Slow start threshold; empty while none is set (tcpi_snd_ssthresh).
    ssthresh_segments: none 0x7fff_ffff,
    /// Maximum segment size in sending (tcpi_snd_mss).
    snd_mss_bytes,
    /// Smoothed round-trip time (tcpi_rtt).
    rtt_us,
    /// Its mean deviation (tcpi_rttvar).
    rttvar_us,
    /// The smallest round-trip time; empty while none was measured (tcpi_min_rtt).
    min_rtt_us: none 0xffff_ffff,
    /// Retransmission timeout in force (tcpi_rto).
    rto_us,
    /// Segments sent and not acknowledged (tcpi_unacked).
    unacked_segments,
    /// Of these, SACKed (tcpi_sacked).
    sacked_segments,
    /// Of these, marked lost (tcpi_lost).
    lost_segments,
    /// Of these, retransmitted and not yet acknowledged (tcpi_retrans).
    retrans_segments,
    /// Retransmitted segments so far (tcpi_total_retrans).
    total_retrans_segments,
    /// Bytes acknowledged so far (tcpi_bytes_acked).
    bytes_acked,
    /// Bytes received so far (tcpi_bytes_received).
    bytes_received,
    /// Data in the send buffer not sent yet (tcpi_notsent_bytes).
    notsent_bytes,
    /// The window the peer advertises (tcpi_snd_wnd).
    snd_wnd_bytes,
    /// The window advertised to the peer (tcpi_rcv_wnd).
    rcv_wnd_bytes,
    /// What the receiver tunes its buffer to (tcpi_rcv_space).
    rcv_space_bytes,
    /// Pacing rate; empty while not paced (tcpi_pacing_rate).
    pacing_rate_bytes_per_second: none 0xffff_ffff_ffff_ffff,
    /// Delivery rate as the kernel estimates it (tcpi_delivery_rate).
    delivery_rate_bytes_per_second,
    /// Time with data outstanding or waiting (tcpi_busy_time).
    busy_us,
    /// Of it, limited by the receiver's window (tcpi_rwnd_limited).
    rwnd_limited_us,
    /// Of it, limited by the send buffer (tcpi_sndbuf_limited).
    sndbuf_limited_us,
    /// D-SACK blocks received so far (tcpi_dsack_dups).
    dsack_dups,
    /// Reordering events seen so far (tcpi_reord_seen).
    reord_seen,
}
