//! The clock of a guest: the protocol of `include/uapi/linux/um_timetravel.h` with shared memory.
//!
//! A guest asks for the time of its next event, waits, and is told to run. While it runs it goes on
//! by itself to all of its events before `free_until`.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tcplab_units::Instant;

use crate::memory::SharedMemory;

/// `enum um_timetravel_ops`.
const ACK: u32 = 0;
const START: u32 = 1;
const WAIT: u32 = 3;
const GET: u32 = 4;
const RUN: u32 = 6;
const GET_TOD: u32 = 8;

/// `UM_TIMETRAVEL_SCHEDSHM_VERSION`.
const VERSION: u64 = 2;
/// Places in `struct um_timetravel_schedshm`.
const FREE_UNTIL: usize = 8;
const CURRENT_TIME: usize = 16;
const RUNNING: usize = 24;
/// The places of those who share the clock: its owner is number 0, the guest number 1.
const OWNER: usize = 4096;
const GUEST: usize = OWNER + 128;
/// `UM_TIMETRAVEL_SCHEDSHM_CAP_TIME_SHARE`.
const TIME_SHARE: u64 = 1;
/// `UM_TIMETRAVEL_SCHEDSHM_FLAGS_REQ_RUN`, in the upper half of a word.
const WANTS_TO_RUN: u64 = 1 << 32;

/// How often a wait for the guest is interrupted to look around.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// A message in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    op: u32,
    seq: u32,
    time: u64,
}

impl Message {
    const LEN: usize = 16;

    fn to_bytes(self) -> [u8; Message::LEN] {
        let mut bytes = [0; Message::LEN];
        bytes[..4].copy_from_slice(&self.op.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.seq.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; Message::LEN]) -> Message {
        let (numbers, time) = bytes.split_at(8);
        let (op, seq) = numbers.split_at(4);
        let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        let time = u64::from_ne_bytes(time.try_into().expect("eight bytes"));
        Message { op: number(op), seq: number(seq), time }
    }
}

/// The clock of one guest.
#[derive(Debug)]
pub(crate) struct Calendar {
    socket: UnixStream,
    seq: u32,
    /// What has come of a message so far.
    partial: Vec<u8>,
}

/// What a guest does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It still runs.
    Runs,
    /// It waits to be told to run.
    Waits,
    /// It begins again: it was rebooted.
    Restarts,
    /// Its end of the connection is closed.
    Gone,
}

/// Prepares the memory that a guest finds with its first message.
pub(crate) fn lay_out(memory: &SharedMemory, size: usize) {
    memory.write(0, VERSION | (size as u64) << 32);
    memory.write(FREE_UNTIL, 0);
    memory.write(CURRENT_TIME, 0);
    // The guest runs, of two.
    memory.write(RUNNING, 1 | 2 << 16);
    memory.write(OWNER, TIME_SHARE);
}

/// When the guest wants to run next.
pub(crate) fn request(memory: &SharedMemory) -> Option<Instant> {
    let is_asked = memory.read(GUEST) & WANTS_TO_RUN != 0;
    let at = memory.read(GUEST + 8);
    // `time_travel_sleep` asks for `S64_MAX`, which is never.
    (is_asked && at < i64::MAX as u64).then(|| Instant::from_nanos(at))
}

impl Calendar {
    /// Answers what the guest says first.
    pub(crate) fn begin(mut socket: UnixStream, memory: &SharedMemory) -> io::Result<Calendar> {
        socket.set_read_timeout(Some(10 * LOOK))?;
        let mut start = [0; Message::LEN];
        socket.read_exact(&mut start)?;
        let start = Message::from_bytes(start);
        if start.op != START {
            return Err(ErrorKind::InvalidData.into());
        }
        socket.set_read_timeout(Some(LOOK))?;
        // The number of the guest's place; `time.c` takes two descriptors, the second for a log.
        let reply = Message { op: ACK, seq: start.seq, time: 1 };
        let log = std::fs::File::options().write(true).open("/dev/null")?;
        send_with(&socket, &reply.to_bytes(), &[memory.fd(), log.as_fd()])?;
        Ok(Calendar { socket, seq: 0, partial: Vec::new() })
    }

    /// Lets the guest run from `at` on, to all of its events before `until`.
    pub(crate) fn run(
        &mut self,
        memory: &SharedMemory,
        at: Instant,
        until: Instant,
    ) -> io::Result<()> {
        memory.write(CURRENT_TIME, at.as_nanos());
        memory.write(FREE_UNTIL, until.as_nanos());
        self.seq = self.seq.wrapping_add(1);
        self.send(Message { op: RUN, seq: self.seq, time: at.as_nanos() })
    }

    /// What the guest does, after [`LOOK`] at the latest.
    pub(crate) fn turn(&mut self, memory: &SharedMemory, wall_nanos: u64) -> io::Result<Turn> {
        loop {
            let message = match self.receive() {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(Turn::Gone),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Turn::Runs),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Turn::Gone),
                Err(error) => return Err(error),
            };
            let time = match message.op {
                WAIT => return Ok(Turn::Waits),
                START => return Ok(Turn::Restarts),
                ACK => continue,
                GET => memory.read(CURRENT_TIME),
                GET_TOD => wall_nanos,
                _ => 0,
            };
            self.send(Message { op: ACK, seq: message.seq, time })?;
        }
    }

    fn receive(&mut self) -> io::Result<Option<Message>> {
        let mut bytes = [0; Message::LEN];
        loop {
            let rest = Message::LEN - self.partial.len();
            let count = self.socket.read(&mut bytes[..rest])?;
            if count == 0 {
                return Ok(None);
            }
            self.partial.extend_from_slice(&bytes[..count]);
            if let Ok(whole) = self.partial[..].try_into() {
                self.partial.clear();
                return Ok(Some(Message::from_bytes(whole)));
            }
        }
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        match self.socket.write_all(&message.to_bytes()) {
            // That it is gone is noticed where it is waited for.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// Whether there is something to read, or its end, within this time.
pub(crate) fn is_readable(fd: BorrowedFd<'_>, longest: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(longest).map_err(io::Error::other)?;
    match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn send_with(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(fds));
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    if sent == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}
