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

impl Sample {
    /// Of what the kernel answers. Reads the fields by their places in `struct tcp_info`
    /// (include/uapi/linux/tcp.h), which only ever grows at its end; a field that an older kernel
    /// lacks is 0.
    pub fn of_tcp_info(info: &[u8], at: Instant, endpoint: Endpoint) -> Sample {
        let byte = |offset: usize| u64::from(info.get(offset).copied().unwrap_or_default());
        let word = |offset: usize| {
            info.get(offset..offset + 4)
                .and_then(|b| b.try_into().ok())
                .map_or(0, |b| u64::from(u32::from_ne_bytes(b)))
        };
        let long = |offset: usize| {
            info.get(offset..offset + 8)
                .and_then(|b| b.try_into().ok())
                .map_or(0, u64::from_ne_bytes)
        };
        Sample {
            at,
            endpoint,
            state: byte(0),
            ca_state: byte(1),
            backoff: byte(4),
            rto_us: word(8),
            snd_mss_bytes: word(16),
            unacked_segments: word(24),
            sacked_segments: word(28),
            lost_segments: word(32),
            retrans_segments: word(36),
            rtt_us: word(68),
            rttvar_us: word(72),
            ssthresh_segments: word(76),
            cwnd_segments: word(80),
            rcv_space_bytes: word(96),
            total_retrans_segments: word(100),
            pacing_rate_bytes_per_second: long(104),
            bytes_acked: long(120),
            bytes_received: long(128),
            notsent_bytes: word(144),
            min_rtt_us: word(148),
            delivery_rate_bytes_per_second: long(160),
            busy_us: long(168),
            rwnd_limited_us: long(176),
            sndbuf_limited_us: long(184),
            dsack_dups: word(216),
            reord_seen: word(220),
            snd_wnd_bytes: word(228),
            rcv_wnd_bytes: word(232),
        }
    }

    /// Whether nothing about the sender has changed since `before`: neither windows, timers and
    /// counts of its segments, nor what was acknowledged.
    pub fn has_sender_of(&self, before: &Sample) -> bool {
        let of = |it: &Sample| {
            let windows = (it.state, it.ca_state, it.cwnd_segments, it.ssthresh_segments);
            let timers = (it.backoff, it.rtt_us, it.rto_us);
            let segments = (it.sacked_segments, it.lost_segments, it.retrans_segments);
            (windows, timers, segments, it.bytes_acked)
        };
        of(self) == of(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_kernel_puts_them() {
        // Offsets by the C compiler: offsetof(struct tcp_info, tcpi_snd_cwnd) and so on.
        let mut info = vec![0; 240];
        info[80..84].copy_from_slice(&10u32.to_ne_bytes());
        info[120..128].copy_from_slice(&(1u64 << 40).to_ne_bytes());
        info[232..236].copy_from_slice(&65_535u32.to_ne_bytes());
        let sample = Sample::of_tcp_info(&info, Instant::ZERO, Endpoint::Client);
        assert_eq!(sample.cwnd_segments, 10);
        assert_eq!(sample.bytes_acked, 1 << 40);
        assert_eq!(sample.rcv_wnd_bytes, 65_535);
        // A kernel before 6.2 ends earlier.
        let shorter = Sample::of_tcp_info(&info[..232], Instant::ZERO, Endpoint::Client);
        assert_eq!(shorter.rcv_wnd_bytes, 0);
    }
}
