//! The application's half of sending.

use std::collections::VecDeque;

use crate::BufferPool;
use crate::connection::transmit::Transmit;

/// What the application did with its sending half.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Writer {
    /// It closed its half; the FIN follows the last byte written.
    pub(crate) closed_half: bool,
    /// It released the connection (`SOCK_DEAD`).
    pub(crate) orphaned: bool,
    /// Something was acknowledged while it had more data than the buffer had room for.
    pub(crate) space_made: bool,
    /// The last write announced more (MSG_MORE).
    pub(crate) more_follows: bool,
    /// Position after the last urgent byte written (`snd_up`).
    pub(crate) urgent_end: u64,
    /// Data was pushed up to here (`pushed_seq`).
    pub(crate) pushed_to: u64,
    /// Data up to here leaves in spite of cork and MSG_MORE (`TCP_NAGLE_PUSH`).
    pub(crate) uncorked_to: u64,
    /// How many congestion windows the send buffer should hold.
    pub(crate) windows_of_buffer: u32,
}

impl Writer {
    pub(crate) fn new(windows_of_buffer: u32) -> Writer {
        Writer {
            closed_half: false,
            orphaned: false,
            space_made: false,
            more_follows: false,
            urgent_end: 0,
            pushed_to: 1,
            uncorked_to: 0,
            windows_of_buffer,
        }
    }
}

/// Segments that leave before anything else.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) queue: VecDeque<Transmit>,
    /// The buffers shared with the machine's other connections, if they are limited.
    pub(crate) pool: Option<BufferPool>,
}
