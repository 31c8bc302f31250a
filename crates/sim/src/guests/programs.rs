//! What a world waits for in which programs of the user's run.

use std::io;

use tcplab_recording::{GuestReport, OutputStream, ProgramEnd};
use tcplab_units::{Endpoint, Instant, Span};

use super::awaited::{Awaited, QUIET};

/// How long what is on the path, and the far program, may take once the near one has ended.
const PATIENCE: Span = Span::from_secs(10);

/// Takes what programs print.
pub type Print<'a> = dyn FnMut(Endpoint, OutputStream, &[u8]) -> io::Result<()> + 'a;

/// How far the programs are.
pub(super) struct Programs<'a> {
    print: &'a mut Print<'a>,
    /// Why nobody reads what they print.
    pub(super) unread: Option<io::Error>,
    /// How the near one ended.
    pub(super) ended: Option<ProgramEnd>,
    /// The exit code of the far one, if it ended before the near one did.
    pub(super) far_code: Option<u8>,
    /// Packets that the far device dropped, once the far program has read what came.
    pub(super) settled: Option<u64>,
    limit: Option<Instant>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(print: &'a mut Print<'a>) -> Programs<'a> {
        Programs { print, unread: None, ended: None, far_code: None, settled: None, limit: None }
    }
}

impl Awaited for Programs<'_> {
    const HAS_LAST_WORDS: bool = false;
    /// About a gigabyte.
    const MOST_AT_ONCE: u64 = 2_000_000;

    fn heard(&mut self, now: Instant, end: Endpoint, report: GuestReport) {
        match report {
            GuestReport::Printed { stream, bytes } if self.unread.is_none() => {
                self.unread = (self.print)(end, stream, &bytes.0).err();
            }
            GuestReport::Exited(ended) => {
                self.ended = Some(ended);
                self.limit = Some(now + PATIENCE);
            }
            GuestReport::FarExited(code) if self.ended.is_none() => self.far_code = Some(code),
            GuestReport::Settled { device_drops } => self.settled = Some(device_drops),
            // Others are the world's, or of trials.
            _ => {}
        }
    }

    fn all_left(&self) -> bool {
        self.ended.is_some() && self.settled.is_some()
    }

    fn server_is_alone(&self) -> bool {
        self.ended.is_some() && self.settled.is_none()
    }

    fn only_background_goes_on(&self) -> bool {
        false
    }

    fn farewell(&self, is_empty: bool) -> Option<Span> {
        (is_empty && self.all_left()).then_some(QUIET)
    }

    fn is_over(&self) -> bool {
        self.unread.is_some() || self.ended.as_ref().is_some_and(|ended| ended.was_killed)
    }

    fn limit(&self) -> Option<Instant> {
        self.limit
    }
}
