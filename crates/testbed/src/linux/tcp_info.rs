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
    Ok(Sample::of_tcp_info(&bytes[..length.min(ROOM)], at, endpoint))
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

/// The bytes of this process that the other host has acknowledged on a connection that this one
/// opened; none where the kernel does not count them (`tcpi_bytes_acked`, which counts the SYN,
/// too).
pub fn acknowledged(socket: BorrowedFd<'_>) -> Option<u64> {
    let state = sample(socket, Instant::ZERO, Endpoint::Client).ok()?;
    state.bytes_acked.checked_sub(1)
}

/// Asks the kernel for the state of a connection of this process.
///
/// # Errors
/// If the socket is not a TCP socket.
pub fn socket_state(socket: BorrowedFd<'_>) -> io::Result<SocketState> {
    let mut bytes = [0; ROOM];
    let length = sys::tcp_info(socket, &mut bytes)?.min(ROOM);
    let known = Sample::of_tcp_info(&bytes[..length], Instant::ZERO, Endpoint::Client);
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

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn acknowledged_is_what_arrived_and_not_what_was_written() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut server = listener.accept().unwrap().0;
        assert_eq!(acknowledged(client.as_fd()), Some(0));
        client.set_nonblocking(true).unwrap();
        let mut written = 0;
        // Until the buffers of both ends are full.
        loop {
            match client.write(&[0; 4_096]) {
                Ok(count) => written += count as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let arrived = acknowledged(client.as_fd()).unwrap();
        assert!(arrived < written, "{arrived} of {written}");
        client.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        server.read_to_end(&mut all).unwrap();
        assert_eq!(all.len() as u64, written);
        // Its own end comes with an acknowledgement of all, the FIN included.
        drop(server);
        client.set_nonblocking(false).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert_eq!(acknowledged(client.as_fd()), Some(written + 1));
    }
}
