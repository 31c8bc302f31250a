//! Moving bytes between a conversation and a socket that does not block.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};

use crate::calendar::Moment;
use crate::conversation::{Conversation, End, Wish};
use crate::counters::{Count, Slot};

/// Bytes that are read at once.
pub(crate) const PIECE: usize = 64 << 10;
/// Bytes of a file that are sent at once: others have their turn in between.
const FILE_PIECE: usize = 1 << 20;
/// Rounds that one connection gets before others have their turn.
const ROUNDS: usize = 16;

/// The time of an event, by the clock and by the calendar.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) instant: Instant,
    pub(crate) moment: &'a Moment,
}

/// What a connection waits for after it was moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// For its socket, to read or to write.
    Waits {
        /// Until there is something to read.
        read: bool,
        /// Until something can be written.
        write: bool,
    },
    /// For its turn: it can go on at once.
    Again,
    /// It is over.
    Over(End),
}

/// Reads once, if the conversation wants to.
pub(crate) fn read(
    conversation: &mut Conversation,
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    now: Now<'_>,
    slot: Slot<'_>,
) {
    if !matches!(conversation.wish(), Wish::Go { read: true, .. }) {
        return;
    }
    let received = loop {
        match rustix::net::recv(socket, &mut *buffer, RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Ok((count, _)) => break Ok(count),
            Err(error) => break Err(error),
        }
    };
    match received {
        Ok(0) => conversation.received_end(now.instant, now.moment),
        Ok(count) => {
            slot.add(Count::Received, count as u64);
            conversation.received(&buffer[..count], now.instant, now.moment);
        }
        Err(Errno::AGAIN) => {}
        Err(error) => conversation.fail(end_of(error)),
    }
}

/// Whether something has arrived that nobody has read.
pub(crate) fn has_unread(socket: BorrowedFd<'_>) -> bool {
    rustix::io::ioctl_fionread(socket).is_ok_and(|bytes| bytes > 0)
}

/// Sends what there is and does what the conversation wishes, until it has to wait.
pub(crate) fn write(
    conversation: &mut Conversation,
    socket: BorrowedFd<'_>,
    now: Now<'_>,
    slot: Slot<'_>,
) -> Moved {
    let moved = write_on(conversation, socket, now, slot);
    let (requests, refusals) = conversation.output().take_counts();
    slot.add(Count::Requests, requests);
    slot.add(Count::Refused, refusals);
    moved
}

fn write_on(
    conversation: &mut Conversation,
    socket: BorrowedFd<'_>,
    now: Now<'_>,
    slot: Slot<'_>,
) -> Moved {
    for _ in 0..ROUNDS {
        match conversation.wish() {
            Wish::Close(end) => return Moved::Over(end),
            Wish::HangUp => {
                if rustix::net::shutdown(socket, Shutdown::Write).is_err() {
                    conversation.fail(End::Reset);
                }
                conversation.hung_up(now.instant);
            }
            Wish::Go { read, write: false } => return Moved::Waits { read, write: false },
            Wish::Go { read, write: true } => match send(conversation, socket) {
                Ok(count) => {
                    slot.add(Count::Sent, count);
                    conversation.sent(now.instant, now.moment);
                }
                Err(Errno::AGAIN) => return Moved::Waits { read, write: true },
                Err(Errno::INTR) => {}
                Err(error) => conversation.fail(end_of(error)),
            },
        }
    }
    match conversation.wish() {
        Wish::Close(end) => Moved::Over(end),
        _ => Moved::Again,
    }
}

/// Sends bytes, or else a part of the file.
fn send(conversation: &mut Conversation, socket: BorrowedFd<'_>) -> Result<u64, Errno> {
    let output = conversation.output();
    if !output.pending().is_empty() {
        let mut flags = SendFlags::NOSIGNAL;
        // The head of an answer goes out with the beginning of its file.
        flags.set(SendFlags::MORE, output.file().is_some());
        let count = rustix::net::send(socket, output.pending(), flags)?;
        output.sent(count);
        return Ok(count as u64);
    }
    let Some(part) = output.file() else { return Ok(0) };
    let (mut offset, length) = (part.offset(), part.left().min(FILE_PIECE as u64));
    let count = rustix::fs::sendfile(socket, part, Some(&mut offset), length as usize)?;
    if count == 0 {
        // It has become shorter than was promised.
        return Err(Errno::IO);
    }
    output.file_sent(count as u64);
    Ok(count as u64)
}

/// How a connection ends with an error of its socket.
pub(crate) fn end_of(error: Errno) -> End {
    match error {
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN => End::Reset,
        Errno::TIMEDOUT => End::TimedOut,
        _ => End::Broken,
    }
}
