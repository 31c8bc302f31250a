//! What programs in a guest print, on its way to the world outside.

use std::io::{self, PipeReader, PipeWriter, Read, pipe};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tcplab_recording::{GuestReport, MessageBytes, OutputStream};

use super::channel::Channel;
use crate::TrialError;

/// What is read at once, bytes: all that a pipe holds.
const PIECE: usize = 64 << 10;

/// The reading ends of pipes, as long as somebody may write to them.
#[derive(Debug, Default)]
pub(super) struct Outputs(Vec<(OutputStream, PipeReader)>);

impl Outputs {
    /// The writing end of another pipe.
    pub(super) fn pipe(&mut self, stream: OutputStream) -> io::Result<PipeWriter> {
        let (reader, writer) = pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        self.0.push((stream, reader));
        Ok(writer)
    }

    /// Whether there is any.
    pub(super) fn are_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// Waits until there is something to read, the end of a pipe included, or `other` is ready.
    pub(super) fn wait(&self, other: Option<PollFd<'_>>) -> Result<(), TrialError> {
        let pipes = self.0.iter();
        let pipes = pipes.map(|(_, pipe)| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = pipes.chain(other).collect();
        match poll(&mut all, None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(TrialError::setup("wait for output")(errno.into())),
        }
    }

    /// Reports what there is to read.
    pub(super) fn hand_on(&mut self, channel: &Channel) -> Result<(), TrialError> {
        let mut result = Ok(());
        let mut buffer = vec![0; PIECE];
        self.0.retain_mut(|(stream, pipe)| {
            let count = match pipe.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => count,
                Err(error) => {
                    let later = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
                    return later.contains(&error.kind());
                }
            };
            let bytes = MessageBytes(buffer[..count].to_vec());
            let said = channel.say(&GuestReport::Printed { stream: *stream, bytes });
            let is_heard = said.is_ok();
            result = std::mem::replace(&mut result, Ok(())).and(said);
            is_heard
        });
        result
    }
}
