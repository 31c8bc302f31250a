//! `TCP_INFO` into a [`Sample`].

use std::io;
use std::os::fd::BorrowedFd;

use tcplab_recording::Sample;
use tcplab_units::{Bytes, Endpoint, Instant, Rate, Span};

use crate::sys;

/// Larger than any kernel's `struct tcp_info` so far (248 bytes in Linux 6.18).
const ROOM: usize = 512;

/// Asks the kernel for the state of a connection.
pub(crate) fn sample(
    socket: BorrowedFd<'_>,
    at: Instant,
    endpoint: Endpoint,
) -> io::Result<Sample> {
    let mut bytes = [0; ROOM];
    let length = sys::tcp_info(socket, &mut bytes)?;
    Ok(decode(&bytes[..length.min(ROOM)], at, endpoint))
}

/// The state of a connection to another machine, as the kernel has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SocketState {
    /// Smoothed round trip (tcpi_rtt).
    pub rtt: Span,
    /// The smallest (tcpi_min_rtt).
    pub min_rtt: Span,
    /// The payload of a full segment (tcpi_snd_mss).
    pub segment: Bytes,
    /// The largest packet that the path takes, as far as the kernel knows (tcpi_pmtu).
    pub path_mtu: Bytes,
    /// Segments sent and not acknowledged (tcpi_unacked), in bytes.
    pub in_flight: Bytes,
    /// Bytes sent, retransmissions included (tcpi_bytes_sent).
    pub sent: Bytes,
    /// Of these, retransmitted (tcpi_bytes_retrans).
    pub retransmitted: Bytes,
    /// The rate of delivery, as the kernel estimates it (tcpi_delivery_rate); none if it has none.
    pub delivery_rate: Option<Rate>,
}

/// Asks the kernel for the state of a connection of this process.
///
/// # Errors
/// If the socket is not a TCP socket.
pub fn socket_state(socket: BorrowedFd<'_>) -> io::Result<SocketState> {
    let mut bytes = [0; ROOM];
    let length = sys::tcp_info(socket, &mut bytes)?.min(ROOM);
    let known = decode(&bytes[..length], Instant::ZERO, Endpoint::Client);
    // Places in `struct tcp_info` that samples of trials do not have.
    let word = |offset: usize| {
        let field = bytes[..length].get(offset..offset + 4).and_then(|b| b.try_into().ok());
        Bytes::new(field.map_or(0, |b| u64::from(u32::from_ne_bytes(b))))
    };
    let long = |offset: usize| {
        let field = bytes[..length].get(offset..offset + 8).and_then(|b| b.try_into().ok());
        Bytes::new(field.map_or(0, u64::from_ne_bytes))
    };
    let rate = known.delivery_rate_bytes_per_second.saturating_mul(8);
    Ok(SocketState {
        rtt: Span::from_micros(known.rtt_us),
        min_rtt: Span::from_micros(known.min_rtt_us),
        segment: Bytes::new(known.snd_mss_bytes),
        path_mtu: word(60),
        in_flight: Bytes::new(known.unacked_segments * known.snd_mss_bytes),
        sent: long(200),
        retransmitted: long(208),
        delivery_rate: (rate > 0).then(|| Rate::from_bits_per_second(rate)),
    })
}

/// Reads the fields by their places in `struct tcp_info` (include/uapi/linux/tcp.h), which only
/// ever grows at its end; a field that an older kernel lacks is 0.
fn decode(info: &[u8], at: Instant, endpoint: Endpoint) -> Sample {
    let byte = |offset: usize| u64::from(info.get(offset).copied().unwrap_or_default());
    let word = |offset: usize| {
        info.get(offset..offset + 4)
            .and_then(|b| b.try_into().ok())
            .map_or(0, |b| u64::from(u32::from_ne_bytes(b)))
    };
    let long = |offset: usize| {
        info.get(offset..offset + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
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
        let sample = decode(&info, Instant::ZERO, Endpoint::Client);
        assert_eq!(sample.cwnd_segments, 10);
        assert_eq!(sample.bytes_acked, 1 << 40);
        assert_eq!(sample.rcv_wnd_bytes, 65_535);
        // A kernel before 6.2 ends earlier.
        assert_eq!(decode(&info[..232], Instant::ZERO, Endpoint::Client).rcv_wnd_bytes, 0);
    }
}
