//! What the virtual world asks of a host that runs by itself.

use tcplab_recording::{GuestOrder, GuestReport, Sample};
use tcplab_units::Instant;

/// What the virtual world asks of a host that runs by itself: a kernel, or a model.
///
/// It computes in no time. The world lets it run ahead of others as far as nothing that they do can
/// reach it.
pub trait Guest {
    /// Why it cannot go on.
    type Error;

    /// When it wants to run next; `None` where it waits for ever, or has ended.
    fn poll_at(&self) -> Option<Instant>;

    /// An IP packet reaches it at `at`, not before any that is to reach it already; `checked` if
    /// nothing can have damaged it.
    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, checked: bool);

    /// It is told something at `at`, as [`Guest::handle_packet`].
    fn handle_order(&mut self, at: Instant, order: &GuestOrder);

    /// Lets it run from `at`, its [`Guest::poll_at`], to all of its events before `until`, or
    /// before an answer may come to what it sends meanwhile.
    ///
    /// # Errors
    /// When it has ended, or does not end its turn.
    fn run(&mut self, at: Instant, until: Instant) -> Result<(), Self::Error>;

    /// The next thing that it has sent, and when.
    ///
    /// # Errors
    /// When it has sent what nobody understands.
    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, Self::Error>;
}

/// What a guest sends.
#[derive(Debug, Clone, PartialEq)]
pub enum FromGuest {
    /// An IP packet, as a wire would carry it.
    Packet(Vec<u8>),
    /// A report to the world.
    Report(GuestReport),
    /// The state of a socket, of a flow, if that has samples of its own.
    Sample(Option<String>, Box<Sample>),
}
