//! System calls on files and pipes.

use tcplab_stack::ReadError;
use tcplab_units::Instant;

use super::Model;
use crate::subject::{Outcome, Refusal};

impl Model {
    pub(super) fn open_file(&mut self, path: &str) -> Result<Outcome, Refusal> {
        let fd = self.take_number();
        self.files.open(fd, path)
    }

    pub(super) fn pipe(&mut self) -> Outcome {
        let ends = [self.take_number(), self.take_number()];
        self.files.pipe(ends)
    }

    /// `sendfile` of a file, from an offset or from where it stands, so many bytes.
    pub(super) fn send_file(
        &mut self,
        now: Instant,
        to: i64,
        (from, offset, len): (i64, Option<u64>, u32),
    ) -> Result<Option<Outcome>, Refusal> {
        match self.files.read(from, offset, len) {
            Ok(count) => self.send_call(now, to, &[count], 0),
            Err(outcome) => Ok(Some(outcome)),
        }
    }

    /// `splice` from a socket into a pipe (`tcp_splice_read`): what is there, up to urgent data,
    /// which does not go through.
    pub(super) fn splice(
        &mut self,
        now: Instant,
        from: i64,
        to: i64,
        len: u32,
    ) -> Result<Outcome, Refusal> {
        if !self.files.is_pipe(to) {
            return Err(Refusal("splicing into anything but a pipe".into()));
        }
        let open = match self.open(from) {
            Ok(open) => open,
            Err(outcome) => return Ok(outcome),
        };
        if open.connection.is_at_mark() {
            return Ok(Outcome::value(0));
        }
        Ok(match open.connection.read(now, &mut vec![0; len as usize]) {
            Ok(count) => Outcome::value(count as i64),
            Err(ReadError::WouldBlock) => Outcome::error("EAGAIN"),
            Err(_) => Outcome::value(0),
        })
    }
}
