//! Samples of `TCP_INFO`: the state of a connection at one moment, of the kernel or of a model.

use serde::{Deserialize, Serialize};
use tcplab_quantities::Quantity;
use tcplab_units::{Endpoint, Instant};

/// One column of the samples table. Files have nanoseconds where the kernel has microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// What it is.
    pub quantity: Quantity,
    /// The value that means that there is none, if one does. Files have an empty cell for it.
    none: Option<u64>,
    /// A value in files for 1 of the kernel.
    scale: u64,
}

impl Column {
    /// A value as files have it.
    pub(crate) fn cell(&self, value: u64) -> String {
        if self.none == Some(value) {
            String::new()
        } else {
            value.saturating_mul(self.scale).to_string()
        }
    }

    /// A value from its cell.
    pub(crate) fn value(&self, cell: &str) -> Option<u64> {
        if cell.is_empty() { self.none } else { Some(cell.parse::<u64>().ok()? / self.scale) }
    }
}

macro_rules! samples {
    ($($field:ident = $quantity:ident $(* $scale:literal)? $(, none $none:literal)?;)+) => {
        /// A sample of one socket.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Sample {
            /// When it was taken.
            pub at: Instant,
            /// Whose socket.
            pub endpoint: Endpoint,
            $(
                #[doc = concat!(
                    "[`", stringify!($quantity), "`](tcplab_quantities::", stringify!($quantity),
                    "), as the kernel has it."
                )]
                pub $field: u64,
            )+
        }

        impl Sample {
            /// The columns after `at_ns` and `endpoint`, in the order they are written.
            pub const COLUMNS: &[Column] = &[$(Column {
                quantity: tcplab_quantities::$quantity,
                none: [$(Some($none),)? None][0],
                scale: [$($scale,)? 1][0],
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
                    (column.none != Some(value)).then(|| value.saturating_mul(column.scale))
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
    state = TCP_STATE;
    ca_state = CA_STATE;
    backoff = BACKOFF;
    cwnd_segments = CWND_SEGMENTS;
    ssthresh_segments = SSTHRESH_SEGMENTS, none 0x7fff_ffff;
    snd_mss_bytes = SND_MSS_BYTES;
    rtt_us = SRTT * 1_000;
    rttvar_us = RTTVAR * 1_000;
    min_rtt_us = RTT_MIN * 1_000, none 0xffff_ffff;
    rto_us = RTO * 1_000;
    unacked_segments = UNACKED_SEGMENTS;
    sacked_segments = SACKED_SEGMENTS;
    lost_segments = MARKED_LOST_SEGMENTS;
    retrans_segments = RETRANS_SEGMENTS;
    total_retrans_segments = TOTAL_RETRANS_SEGMENTS;
    bytes_acked = ACKED_BYTES;
    bytes_received = RECEIVED_BYTES;
    notsent_bytes = NOTSENT_BYTES;
    snd_wnd_bytes = SND_WND_BYTES;
    rcv_wnd_bytes = RCV_WND_BYTES;
    rcv_space_bytes = RCV_SPACE_BYTES;
    pacing_rate_bytes_per_second = PACING_RATE, none 0xffff_ffff_ffff_ffff;
    delivery_rate_bytes_per_second = DELIVERY_RATE;
    busy_us = BUSY_NS * 1_000;
    rwnd_limited_us = RWND_LIMITED_NS * 1_000;
    sndbuf_limited_us = SNDBUF_LIMITED_NS * 1_000;
    dsack_dups = DSACK_DUPS;
    reord_seen = REORD_SEEN;
}
