//! On a system that is not Linux: there are no guests.

use std::io;
use std::sync::atomic::AtomicBool;

use tcplab_units::Instant;

use crate::{GuestError, GuestRequest, Sent};

/// What a kernel prints: there is none.
#[derive(Debug, Clone)]
pub enum Console {}

impl Console {
    /// What is not usual of it.
    pub fn unusual(&self) -> String {
        match *self {}
    }
}

/// A kernel that runs in a process of its own: there is none.
#[derive(Debug)]
pub enum Guest {}

impl Guest {
    /// Starts no guest.
    ///
    /// # Errors
    /// Always: a guest is a program of Linux.
    pub fn start(
        _: &GuestRequest<'_>,
        _: &[u8],
        _: &AtomicBool,
    ) -> Result<(Guest, Vec<u8>), GuestError> {
        let source = io::Error::other("it is a program of Linux, and this is another system");
        Err(GuestError::Setup { what: "run a kernel", source })
    }

    /// When it wants to run next.
    pub fn poll_at(&self) -> Option<Instant> {
        match *self {}
    }

    /// Whether its process has ended.
    pub fn is_over(&self) -> bool {
        match *self {}
    }

    /// An IP packet is to arrive.
    pub fn handle_packet(&mut self, _: Instant, _: Vec<u8>, _: bool) {
        match *self {}
    }

    /// A message is to arrive.
    pub fn handle_message(&mut self, _: Instant, _: &[u8]) {
        match *self {}
    }

    /// Lets it run.
    ///
    /// # Errors
    /// Never: there is none.
    pub fn run(&mut self, _: Instant, _: Instant, _: &AtomicBool) -> Result<(), GuestError> {
        match *self {}
    }

    /// The next thing that it has sent.
    ///
    /// # Errors
    /// Never: there is none.
    pub fn poll_sent(&mut self) -> Result<Option<(Instant, Sent)>, GuestError> {
        match *self {}
    }

    /// What its kernel prints.
    pub fn console(&self) -> Console {
        match *self {}
    }

    /// The last that it said, for an error.
    pub fn over(&mut self, _: &str) -> GuestError {
        match *self {}
    }
}

/// Keeps the calling thread on one processor: only guests would gain by it.
///
/// # Errors
/// Never.
pub fn pin(_: usize) -> io::Result<()> {
    Ok(())
}
