//! What an end asks of its world.

use tcplab_units::Instant;

/// What one end would do next on its socket.
#[derive(Debug, PartialEq, Eq)]
pub enum DatagramWant<'a> {
    /// Name the other end with `connect`; report with `did`.
    Connect,
    /// Send this datagram; report with `sent`.
    Send(&'a [u8]),
    /// Wait for a datagram, until then at most; report with `received`, or, when the time has come,
    /// with `failed("EAGAIN")`.
    Receive(Option<Instant>),
    /// Nothing until then; ask again.
    Sleep(Instant),
    /// Close the socket; report with `did`.
    Close,
    /// Nothing any more.
    Nothing,
}
