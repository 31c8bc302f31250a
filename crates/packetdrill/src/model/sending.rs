//! Writing: `send` and its like, with Fast Open and zero copy.

use std::collections::VecDeque;

use tcplab_stack::{Data, Send, State, WriteError};
use tcplab_units::Instant;

use super::Model;
use super::flags::{DONT_WAIT, END_OF_RECORD, FAST_OPEN, MORE, NO_SIGNAL, OUT_OF_BAND, ZERO_COPY};
use super::socket::Stage;
use super::waiting::{Sending, Waiting};
use crate::subject::{Outcome, Refusal};

/// `MAX_SKB_FRAGS`: each part of what is sent without being copied takes one.
const MOST_FRAGMENTS: usize = 17;

impl Model {
    pub(super) fn send_call(
        &mut self,
        now: Instant,
        fd: i64,
        parts: &[u32],
        flags: i64,
    ) -> Result<Option<Outcome>, Refusal> {
        let known =
            OUT_OF_BAND | DONT_WAIT | NO_SIGNAL | MORE | END_OF_RECORD | ZERO_COPY | FAST_OPEN;
        let unknown = flags & !known;
        if unknown != 0 {
            return Err(Refusal(format!("send flags {unknown:#x}")));
        }
        let zero_copy =
            flags & ZERO_COPY != 0 && self.sockets.get(&fd).is_some_and(|socket| socket.zero_copy);
        let how = Send {
            more: flags & MORE != 0,
            urgent: flags & OUT_OF_BAND != 0,
            ends_record: flags & END_OF_RECORD != 0,
            goes_on: false,
        };
        let rest = Data::copy_of(&vec![0; parts.iter().sum::<u32>() as usize]);
        if self.connects_by_writing(fd) {
            return Ok(Some(self.connect_by_writing(now, fd, &rest)));
        }
        // Each part of what is not copied takes a fragment; a buffer that has no more is full.
        let filled: Vec<&u32> = parts.iter().filter(|part| **part > 0).collect();
        let buffers = filled.chunks(if zero_copy { MOST_FRAGMENTS } else { usize::MAX });
        let buffers = buffers.map(|parts| parts.iter().copied().sum()).collect();
        let mut send = Sending { fd, done: 0, rest, buffers, how, zero_copy, opens: false };
        let waits = flags & DONT_WAIT == 0 && !self.is_nonblocking(fd);
        let deferred = self.sockets.get(&fd).is_some_and(|socket| socket.deferred);
        let connected = match self.sockets.get_mut(&fd).map(|socket| &mut socket.stage) {
            // The first time after the handshake, the flag is passed over.
            Some(Stage::Open(open)) if open.connection.state().is_synchronized() => {
                !std::mem::replace(&mut open.knows_connected, true)
            }
            _ => false,
        };
        if (flags & FAST_OPEN != 0 && !connected) || deferred {
            if let Some(outcome) = self.send_fast(now, &mut send, waits, deferred) {
                return Ok(Some(outcome));
            }
            return Ok(self.try_again(now, Waiting::Send(send)));
        }
        if !waits {
            let sent = self.try_send(now, &mut send);
            return Ok(Some(sent.unwrap_or_else(|| match send.done {
                0 => Outcome::error("EAGAIN"),
                done => self.sent(&send, done),
            })));
        }
        Ok(self.try_again(now, Waiting::Send(send)))
    }

    /// A write that connects (`tcp_sendmsg_fastopen`); `None`: it waits for the answer.
    fn send_fast(
        &mut self,
        now: Instant,
        send: &mut Sending,
        waits: bool,
        deferred: bool,
    ) -> Option<Outcome> {
        let Some(socket) = self.sockets.get_mut(&send.fd) else {
            return Some(Outcome::error("EBADF"));
        };
        if !deferred && !self.fast.clients_may() {
            return Some(Outcome::error("EOPNOTSUPP"));
        }
        match &socket.stage {
            Stage::Fresh => {}
            Stage::Open(open) if open.connection.state() == State::SynSent => {
                return Some(Outcome::error("EALREADY"));
            }
            Stage::Open(_) | Stage::Listening(_) => return Some(Outcome::error("EISCONN")),
        }
        socket.deferred = false;
        let len = send.rest.len();
        let asked = socket.options(&self.config).max_segment;
        let wanted = asked.unwrap_or(self.config.handshake.mss);
        let (mut client, with_syn) = self.fast.begin(&socket.fast, (wanted, self.host.room()), len);
        client.more = waits && with_syn < len;
        self.connect(now, send.fd, Some(&client));
        send.done = with_syn;
        send.rest = send.rest.part(with_syn..len);
        send.buffers = VecDeque::from([send.rest.len()]);
        send.opens = true;
        if let Ok(open) = self.open(send.fd) {
            open.written += u64::from(with_syn);
        }
        match with_syn {
            _ if waits => None,
            0 => Some(Outcome::error("EINPROGRESS")),
            done => Some(self.sent(send, done)),
        }
    }

    /// A call returns that has given `done` bytes.
    fn sent(&mut self, send: &Sending, done: u32) -> Outcome {
        if let Ok(open) = self.open(send.fd)
            && done > 0
        {
            open.errors.sent(open.written, send.zero_copy);
        }
        Outcome::value(done.into())
    }

    /// `tcp_sendmsg_locked`: all of it, or as much as there was room for.
    pub(super) fn try_send(&mut self, now: Instant, send: &mut Sending) -> Option<Outcome> {
        let open = match self.open(send.fd) {
            Ok(open) => open,
            // A socket that was never connected (`sk_stream_wait_connect`).
            Err(outcome) if outcome == Outcome::error("ENOTCONN") => {
                return Some(Outcome::error("EPIPE"));
            }
            Err(outcome) => return Some(outcome),
        };
        match open.connection.state() {
            // `sk_stream_wait_connect`
            State::SynSent | State::SynReceived => return None,
            State::Closed if send.opens => {
                let error = open.take_error().map_or("EPIPE", |error| error.errno());
                return Some(Outcome::error(error));
            }
            _ if send.opens && send.rest.is_empty() => {
                open.knows_connected = true;
                let done = send.done;
                return Some(self.sent(send, done));
            }
            _ => send.opens = false,
        }
        // One that waited is woken when there is room worth it (`sk_stream_write_space`).
        if send.done > 0 && !open.connection.is_writable() {
            return None;
        }
        let buffer = send.buffers.front().copied().unwrap_or(0).min(send.rest.len());
        let ends_record = send.how.ends_record || send.buffers.len() > 1;
        let how = Send { ends_record, goes_on: send.done > 0, ..send.how };
        match open.connection.send(now, &send.rest.part(0..buffer), how) {
            Ok(count) => {
                open.written += u64::from(count);
                send.done += count;
                send.rest = send.rest.part(count..send.rest.len());
                if count == buffer {
                    send.buffers.pop_front();
                } else if let Some(left) = send.buffers.front_mut() {
                    *left -= count;
                }
                if send.rest.is_empty() {
                    return Some(self.sent(send, send.done));
                }
                open.wants_room |= count < buffer;
                if count == buffer { self.try_send(now, send) } else { None }
            }
            Err(WriteError::WouldBlock) => {
                open.wants_room = true;
                None
            }
            Err(_) if send.done > 0 => Some(self.sent(send, send.done)),
            // `sk_stream_error`: an error not reported yet takes precedence over the broken pipe.
            Err(_) => {
                Some(Outcome::error(open.take_error().map_or("EPIPE", |error| error.errno())))
            }
        }
    }
}
