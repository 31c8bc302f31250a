//! The sockets behind descriptors.

use tcplab_stack::{
    Config, Connection, ConnectionError, Listener, SocketOption, SocketOptions, State, Transmit,
};
use tcplab_units::Instant;
use tcplab_wire::TcpFlags;

use super::errors::Errors;
use super::fast_open::FastSocket;
use super::queue::Departure;
use crate::constant;

/// A socket.
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub(super) struct Socket {
    pub(super) stage: Stage,
    /// O_NONBLOCK.
    pub(super) nonblocking: bool,
    /// TCP_INQ.
    pub(super) reports_unread: bool,
    /// SO_ZEROCOPY.
    pub(super) zero_copy: bool,
    pub(super) fast: FastSocket,
    /// `connect` waits for the first write (TCP_FASTOPEN_CONNECT).
    pub(super) deferred: bool,
    /// TCP_CONGESTION.
    pub(super) congestion: String,
    /// What epoll saw last.
    seen: PollState,
    /// What was set before there was anything to set it on.
    set: Vec<SocketOption>,
}

/// The socket's progress at the last `epoll_wait`.
#[derive(Default)]
struct PollState {
    received: u64,
    state: State,
    /// The peer has closed: nothing more can be read.
    over: bool,
    /// Put into the queue of errors.
    errors: u64,
    /// Connections that wait to be accepted.
    waiting: usize,
}

pub(super) enum Stage {
    /// Neither connected nor listening.
    Fresh,
    /// Peers are distinguished by their ports.
    Listening(Box<Listener<u16>>),
    Open(Box<Open>),
}

/// A connection and what a socket remembers of it.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    /// The application saw the error, which clears it (`sock_error`).
    saw_error: bool,
    pub(super) shut: Shut,
    /// `connect` has returned success.
    pub(super) knows_connected: bool,
    /// Bytes taken from the application.
    pub(super) written: u64,
    pub(super) errors: Errors,
    pub(super) departure: Departure,
    /// IP_TOS without its two bits of ECN.
    pub(super) dscp: u8,
    /// Somebody waits for room (`SOCK_NOSPACE`).
    pub(super) wants_room: bool,
}

/// What `shutdown` ended.
#[derive(Default)]
pub(super) struct Shut {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Socket {
    pub(super) fn new(congestion: &str, nonblocking: bool) -> Socket {
        Socket {
            stage: Stage::Fresh,
            nonblocking,
            reports_unread: false,
            zero_copy: false,
            fast: FastSocket::default(),
            deferred: false,
            congestion: congestion.into(),
            seen: PollState::default(),
            set: Vec::new(),
        }
    }

    /// One that `accept` returns: it blocks, whatever the listening one does.
    pub(super) fn accepted(connection: Connection, remote_port: u16, listening: &Socket) -> Socket {
        let mut socket = Socket {
            reports_unread: listening.reports_unread,
            zero_copy: listening.zero_copy,
            ..Socket::new(&listening.congestion, false)
        };
        socket.open(connection, crate::LOCAL_PORT, remote_port);
        socket
    }

    pub(super) fn open(&mut self, connection: Connection, local_port: u16, remote_port: u16) {
        self.stage = Stage::Open(Box::new(Open {
            knows_connected: connection.state() != State::SynSent,
            connection,
            local_port,
            remote_port,
            saw_error: false,
            shut: Shut::default(),
            written: 0,
            errors: Errors::default(),
            departure: Departure::default(),
            dscp: 0,
            wants_room: false,
        }));
    }

    pub(super) fn set_option(&mut self, now: Instant, option: SocketOption) {
        match &mut self.stage {
            Stage::Fresh => self.set.push(option),
            Stage::Listening(listener) => listener.set_option(option),
            Stage::Open(open) => open.connection.set_option(now, option),
        }
    }

    /// The options as they stand.
    pub(super) fn options(&self, config: &Config) -> SocketOptions {
        match &self.stage {
            Stage::Fresh => {
                let mut options = SocketOptions::of(config);
                self.set.iter().for_each(|option| options.set(*option));
                options
            }
            Stage::Listening(listener) => *listener.options(),
            Stage::Open(open) => *open.connection.options(),
        }
    }

    pub(super) fn listen(&mut self, config: &std::sync::Arc<Config>, backlog: u32) {
        let mut listener = Listener::new(config, backlog);
        for option in self.set.drain(..) {
            listener.set_option(option);
        }
        self.stage = Stage::Listening(Box::new(listener));
    }

    /// What `poll` finds (`tcp_poll`), unmasked.
    pub(super) fn readiness(&self) -> i64 {
        let names: &[&str] = match &self.stage {
            Stage::Fresh if self.deferred => &["POLLOUT", "POLLWRNORM"],
            Stage::Fresh => &["POLLOUT", "POLLWRNORM", "POLLHUP"],
            Stage::Listening(listener) if listener.is_ready() => &["POLLIN", "POLLRDNORM"],
            Stage::Listening(_) => &[],
            Stage::Open(open) => return open.readiness(),
        };
        bits(names)
    }
}

impl Socket {
    /// What `poll` finds. A caller that finds no room is woken when there is.
    pub(super) fn poll(&mut self) -> i64 {
        let ready = self.readiness();
        if let Stage::Open(open) = &mut self.stage {
            open.wants_room |= ready & bits(&["POLLOUT"]) == 0;
        }
        ready
    }

    /// What happened since the last time that wakes who waits (`sk_data_ready`, `sk_write_space`,
    /// `sk_state_change`, `sk_error_report`), as bits of `poll`.
    pub(super) fn happened(&mut self) -> i64 {
        let mut now = PollState::default();
        let mut happened = 0;
        match &mut self.stage {
            Stage::Fresh => {}
            Stage::Listening(listener) => {
                now.waiting = listener.waiting();
                if now.waiting > self.seen.waiting {
                    happened |= bits(&["POLLIN", "POLLRDNORM"]);
                }
            }
            Stage::Open(open) => {
                now.received = open.connection.received().as_u64();
                now.state = open.connection.state();
                now.over = open.reads_are_over();
                now.errors = open.errors.puts();
                if now.received > self.seen.received {
                    happened |= bits(&["POLLIN", "POLLRDNORM"]);
                }
                if now.errors > self.seen.errors {
                    happened |= bits(&["POLLERR"]);
                }
                if open.wants_room && open.connection.is_writable() {
                    open.wants_room = false;
                    happened |= bits(&["POLLOUT", "POLLWRNORM"]);
                }
                let opened = self.seen.state == State::SynSent && now.state != State::SynSent;
                if opened || now.over != self.seen.over {
                    happened = i64::from(u32::MAX);
                }
            }
        }
        self.seen = now;
        happened
    }
}

impl Open {
    /// The own and the peer's.
    pub(super) fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }

    /// Data left, perhaps retransmitted: reports the position after it to who asked.
    pub(super) fn note_sent(&mut self, now: Instant, transmit: &Transmit) {
        let segment = &transmit.segment;
        let syn = segment.header.flags.contains(TcpFlags::SYN);
        let initial = self.connection.initial_sequence().as_u32();
        let first = initial.wrapping_add(u32::from(!syn));
        let start = segment.header.seq.as_u32().wrapping_sub(first);
        if !segment.is_empty() {
            self.errors.left(now, u64::from(start) + u64::from(segment.len()));
        }
    }

    /// Bytes that the peer has acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.written.saturating_sub(self.connection.unacknowledged().as_u64())
    }

    /// Reports what is acknowledged to who asked.
    pub(super) fn complete(&mut self, now: Instant) {
        self.errors.acknowledged(now, self.acknowledged());
    }

    /// Takes the error that the application has not seen yet.
    pub(super) fn take_error(&mut self) -> Option<ConnectionError> {
        let error = self.connection.error().filter(|_| !self.saw_error);
        self.saw_error |= error.is_some();
        error
    }

    /// Whether reading has ended: the peer or the application has closed.
    pub(super) fn reads_are_over(&self) -> bool {
        let over = matches!(
            self.connection.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait | State::Closed
        );
        over || self.shut.reads
    }

    fn readiness(&self) -> i64 {
        let state = self.connection.state();
        let mut ready = 0;
        if state == State::Closed || (self.reads_are_over() && self.shut.writes) {
            ready |= bits(&["POLLHUP"]);
        }
        if self.reads_are_over() {
            ready |= bits(&["POLLIN", "POLLRDNORM", "POLLRDHUP"]);
        }
        if !matches!(state, State::SynSent | State::SynReceived) {
            if self.connection.unread().as_u64() > 0 {
                ready |= bits(&["POLLIN", "POLLRDNORM"]);
            }
            if self.connection.is_writable() || self.shut.writes {
                ready |= bits(&["POLLOUT", "POLLWRNORM"]);
            }
            if self.connection.has_urgent() {
                ready |= bits(&["POLLPRI"]);
            }
        }
        if (self.connection.error().is_some() && !self.saw_error) || !self.errors.is_empty() {
            ready |= bits(&["POLLERR"]);
        }
        ready
    }
}

fn bits(names: &[&str]) -> i64 {
    names.iter().filter_map(|name| constant(name)).fold(0, |bits, bit| bits | bit)
}
