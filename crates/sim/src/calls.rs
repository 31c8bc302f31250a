//! The calls of an application on a model's connection; they block as a kernel's do.

use tcplab_stack::{
    Connection, ConnectionError, Data, ReadError, Send, SocketOption, State, WriteError,
};
use tcplab_units::{Instant, Span};
use tcplab_workload::{Absent, Half, Toggle, Want};

use crate::host::Host;

/// The result of a call.
enum Done {
    /// It has returned, and the next may be made.
    Returned,
    /// It has queued segments, which leave before it continues.
    Begun,
    /// It blocks: until its connection changes, or until a time at most.
    Waits(Option<Instant>),
    /// So it does now, after a write for which there was no room.
    Tried(Option<Instant>),
}

/// What the calls of an application, until one blocks, have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Driven {
    /// Nothing: the call that blocked before still does.
    Nothing,
    /// A write found no room, which the connection has noted.
    Tried,
    /// Calls have returned.
    Returned,
}

impl Host {
    /// Runs the application until a call blocks.
    pub(crate) fn drive(&mut self, now: Instant) -> Driven {
        let mut driven = Driven::Nothing;
        self.calls.wake = None;
        while !self.calls.is_over {
            match self.call(now) {
                Done::Returned if self.application.is_stream() => driven = Driven::Returned,
                // What a call sends leaves before the next is made.
                Done::Returned | Done::Begun => return Driven::Returned,
                Done::Waits(until) => {
                    self.calls.wake = until;
                    break;
                }
                Done::Tried(until) => {
                    self.calls.wake = until;
                    return driven.max(Driven::Tried);
                }
            }
        }
        driven
    }

    fn call(&mut self, now: Instant) -> Done {
        if self.calls.timeouts[1].is_none() && self.sleeps_for_room(now) {
            return Done::Waits(None);
        }
        match self.application.want(now) {
            Want::Nothing => {
                self.calls.is_over = true;
                Done::Waits(None)
            }
            Want::Sleep(until) => Done::Waits(Some(until)),
            Want::Connect => self.connect(now),
            Want::Vanish => {
                self.has_vanished = true;
                Done::Waits(None)
            }
            Want::Accept => self.accept(now),
            Want::Write { .. } => self.write(now),
            Want::Read(most) => self.read(now, most),
            Want::Close => self.close(now),
            Want::AwaitUrgent => match &self.connection {
                Some(connection) if connection.has_urgent() => self.did(now),
                Some(connection)
                    if connection.is_readable() && connection.unread().as_u64() == 0 =>
                {
                    self.application.end_of_stream(now);
                    Done::Returned
                }
                _ => Done::Waits(None),
            },
            Want::ReadUrgent => {
                match self.connection.as_mut().map(Connection::read_urgent) {
                    Some(Ok(byte)) => self.application.received_urgent(byte, now),
                    Some(Err(ReadError::WouldBlock)) => self.application.failed("EAGAIN", now),
                    Some(Err(_)) => self.application.failed("EINVAL", now),
                    None => self.application.failed("ENOTCONN", now),
                }
                Done::Returned
            }
            Want::AtMark => {
                let is_at_mark = self.connection.as_ref().is_some_and(Connection::is_at_mark);
                self.application.marked(is_at_mark, now);
                Done::Returned
            }
            Want::ShutDown(half) => self.shut_down(now, half),
            Want::Set(toggle, on) => {
                if let Some(connection) = &mut self.connection {
                    connection.set_option(
                        now,
                        match toggle {
                            Toggle::Cork => SocketOption::Cork(on),
                            Toggle::NoDelay => SocketOption::NoDelay(on),
                            Toggle::QuickAck => SocketOption::QuickAck(on),
                        },
                    );
                }
                self.did(now)
            }
        }
    }

    /// Whether a write is blocked, which sleeps until the socket wakes it. On Linux one that does
    /// not wait takes any room there is (`sk_stream_memory_free`), or fails.
    fn sleeps_for_room(&mut self, now: Instant) -> bool {
        let sleeps = self.connection.as_ref().is_some_and(Connection::awaits_space);
        sleeps
            && (!self.config.sending.charges_memory
                || matches!(self.application.want(now), Want::Write { waits: true, .. }))
    }

    fn did(&mut self, now: Instant) -> Done {
        self.application.did(now);
        Done::Returned
    }

    fn opened(&mut self, now: Instant) -> Done {
        self.calls.connected = Some(now);
        self.did(now)
    }

    fn connect(&mut self, now: Instant) -> Done {
        let Some(connection) = &self.connection else {
            let opening = self.openings.next();
            self.connection = Some(Connection::connect(now, &self.config, opening));
            self.share_buffers();
            return Done::Begun;
        };
        match (connection.error(), connection.state()) {
            (Some(error), _) => self.fail(now, error),
            (None, State::SynSent | State::SynReceived) => {
                self.wait_to_open(now, self.calls.timeouts[1], "EINPROGRESS")
            }
            _ => self.opened(now),
        }
    }

    /// Waits for a connection, for `longest` at most; a call that waited so long fails.
    fn wait_to_open(&mut self, now: Instant, longest: Option<Span>, errno: &'static str) -> Done {
        let longest = longest.filter(|_| self.application.may_fail());
        let (began, _) = self.application.call().unwrap_or((now, 0));
        match longest.map(|it| began + it) {
            Some(until) if until <= now => {
                self.application.failed(errno, now);
                Done::Returned
            }
            until => Done::Waits(until),
        }
    }

    fn accept(&mut self, now: Instant) -> Done {
        let done = self.try_to_accept(now);
        self.queue.accept(&mut self.calls.is_accepting, !matches!(done, Done::Returned));
        done
    }

    fn try_to_accept(&mut self, now: Instant) -> Done {
        match &mut self.connection {
            // One that has failed since it was established is accepted, too.
            Some(connection) if connection.state() != State::SynReceived => {
                for option in &self.accepted {
                    connection.set_option(now, *option);
                }
                self.opened(now)
            }
            _ => self.wait_to_open(now, self.calls.accept_timeout, "EAGAIN"),
        }
    }

    fn write(&mut self, now: Instant) -> Done {
        let Some(connection) = &mut self.connection else { return Done::Waits(None) };
        let (began, moved) = self.application.call().unwrap_or((now, 0));
        let goes_on = moved > 0;
        let shared = self.application.block().map(|(block, part)| Data::shared(block, part));
        let Want::Write { bytes, more, urgent, waits } = self.application.want(now) else {
            return Done::Waits(None);
        };
        let offered = bytes.len();
        let tries = self.config.sending.charges_memory && !waits;
        let taken = if !tries && connection.awaits_space() {
            Err(WriteError::WouldBlock)
        } else if let Some(zeros) = &self.zeros {
            let part = zeros.part(0..zeros.len().min(bytes.len() as u32));
            let how = Send { goes_on, ..Send::default() };
            connection.send(now, &part, how).map(|count| count as usize)
        } else if let Some(shared) = shared {
            let how = Send { more, urgent, goes_on, ..Send::default() };
            connection.send(now, &shared, how).map(|count| count as usize)
        } else if more || urgent {
            let how = Send { more, urgent, goes_on, ..Send::default() };
            connection.send(now, &Data::copy_of(bytes), how).map(|count| count as usize)
        } else if goes_on {
            connection.go_on_writing(now, bytes)
        } else {
            connection.write(now, bytes)
        };
        match taken {
            Ok(count) => {
                self.application.wrote(count, now);
                if count == offered && self.config.sending.charges_memory {
                    // Linux sends the end of a write, if it may, before the next (`tcp_push`).
                    return Done::Begun;
                }
                if !waits && count < offered {
                    self.application.returned(now);
                }
            }
            Err(WriteError::WouldBlock) if !waits => self.application.failed("EAGAIN", now),
            Err(WriteError::WouldBlock) => match self.calls.timeouts[1].map(|it| began + it) {
                Some(until) if until <= now && moved == 0 => self.application.failed("EAGAIN", now),
                Some(until) if until <= now => self.application.returned(now),
                until => return Done::Tried(until),
            },
            // This call returns what was taken, the next one the error.
            Err(_) if moved > 0 => self.application.returned(now),
            Err(WriteError::Closed) => self.application.failed("EPIPE", now),
            Err(WriteError::Broken(_)) if self.calls.has_returned_error => {
                self.application.failed("EPIPE", now);
            }
            Err(WriteError::Broken(error)) => return self.fail(now, error),
        }
        Done::Returned
    }

    fn read(&mut self, now: Instant, most: usize) -> Done {
        let (began, _) = self.application.call().unwrap_or((now, 0));
        let until = self.calls.timeouts[0].map(|it| began + it);
        let is_late = until.is_some_and(|until| until <= now);
        let was_asleep = std::mem::take(&mut self.calls.is_asleep);
        let got = self.take(now, most, was_asleep && !is_late);
        let Some(connection) = &self.connection else { return Done::Waits(None) };
        let calls = &mut self.calls;
        // `sock_rcvlowat`; it ends at the end of the stream and at the urgent mark anyway.
        let least = connection.receive_low().as_u64().min(most as u64);
        let is_last = is_late || connection.is_readable() || connection.is_at_mark();
        match calls.gather(got, least, is_last || !self.config.sending.charges_memory) {
            Ok(0) => self.application.end_of_stream(now),
            Ok(_) => {
                self.application.received_in_parts(calls.taken.iter().map(Data::as_slice), now);
                calls.taken.clear();
            }
            Err(ReadError::WouldBlock) if calls.is_read_shut => self.application.end_of_stream(now),
            Err(ReadError::WouldBlock) if is_late => self.application.failed("EAGAIN", now),
            Err(ReadError::WouldBlock) => {
                calls.is_asleep = true;
                return Done::Waits(until);
            }
            Err(ReadError::Broken(_)) if calls.has_returned_error => {
                self.application.end_of_stream(now);
            }
            Err(ReadError::Broken(error)) => return self.fail(now, error),
            Err(ReadError::NotConnected | ReadError::NoUrgent) => {
                self.application.failed("ENOTCONN", now);
            }
        }
        Done::Returned
    }

    /// What a read gets from the socket now. One that is asleep is woken by as much as SO_RCVLOWAT
    /// asks for. Linux copies what there is before it sleeps (`tcp_recvmsg_locked`), others leave
    /// it there.
    fn take(&mut self, now: Instant, most: usize, is_asleep: bool) -> Result<usize, ReadError> {
        let connection = self.connection.as_mut().ok_or(ReadError::NotConnected)?;
        let low = connection.receive_low().as_u64();
        let is_due = if self.config.sending.charges_memory {
            !is_asleep
        } else {
            connection.unread().as_u64() >= low.min(most as u64)
        };
        if !is_due && !connection.is_readable() {
            return Err(ReadError::WouldBlock);
        }
        let room = most - self.calls.count_taken();
        connection.receive(now, room, |data| self.calls.taken.push(data))
    }

    fn shut_down(&mut self, now: Instant, half: Half) -> Done {
        match &mut self.connection {
            // In TIME-WAIT the socket is closed (`tcp_time_wait`).
            Some(connection) if !matches!(connection.state(), State::Closed | State::TimeWait) => {
                if half != Half::Read {
                    connection.shutdown(now);
                }
                self.calls.is_read_shut |= half != Half::Write;
                self.application.did(now);
            }
            _ => self.application.failed("ENOTCONN", now),
        }
        Done::Returned
    }

    fn close(&mut self, now: Instant) -> Done {
        let Some(connection) = &mut self.connection else {
            // Of a server that has stopped waiting: its listening socket.
            self.absent.get_or_insert(Absent::Closed);
            return self.did(now);
        };
        let until = match self.calls.closing {
            None => {
                let linger = connection.options().linger.unwrap_or_default();
                connection.close(now);
                self.calls.closing = Some(now + linger);
                // The rest of the data leaves before the call waits for it.
                if !linger.is_zero() {
                    return Done::Begun;
                }
                now
            }
            Some(until) => until,
        };
        if now < until && connection.has_unacknowledged() {
            return Done::Waits(Some(until));
        }
        self.application.did(now);
        Done::Begun
    }

    /// The connection failed; one call returns the error.
    fn fail(&mut self, now: Instant, error: ConnectionError) -> Done {
        if self.has_failed() {
            return Done::Waits(None);
        }
        self.calls.has_returned_error = true;
        self.application.failed(error.errno(), now);
        Done::Returned
    }
}
