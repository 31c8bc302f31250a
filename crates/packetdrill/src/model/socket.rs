//! What a descriptor stands for.

use tcplab_stack::{
    Config, Connection, ConnectionError, Listener, SocketOption, SocketOptions, State,
};
use tcplab_units::Instant;

use crate::constant;

/// A socket.
pub(super) struct Socket {
    pub(super) stage: Stage,
    /// O_NONBLOCK.
    pub(super) nonblocking: bool,
    /// TCP_INQ.
    pub(super) tells_unread: bool,
    /// TCP_CONGESTION.
    pub(super) congestion: String,
    /// What was set before there was anything to set it on.
    set: Vec<SocketOption>,
}

pub(super) enum Stage {
    /// Neither connected nor listening.
    Fresh,
    /// Peers are told apart by their ports.
    Listening(Box<Listener<u16>>),
    Open(Box<Open>),
}

/// A connection and what a socket remembers of it.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    /// The error was told to the application, which clears it (`sock_error`).
    told_error: bool,
    pub(super) shut: Shut,
    /// `connect` has told that it is connected.
    pub(super) told_connected: bool,
}

/// What `shutdown` ended.
#[derive(Default)]
pub(super) struct Shut {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Socket {
    pub(super) fn new(config: &Config, nonblocking: bool) -> Socket {
        let congestion = config.window.congestion.clone();
        Socket {
            stage: Stage::Fresh,
            nonblocking,
            tells_unread: false,
            congestion,
            set: Vec::new(),
        }
    }

    /// One that `accept` gives: it blocks, whatever the listening one does.
    pub(super) fn accepted(connection: Connection, remote_port: u16, congestion: String) -> Socket {
        let mut socket = Socket {
            stage: Stage::Fresh,
            nonblocking: false,
            tells_unread: false,
            congestion,
            set: Vec::new(),
        };
        socket.open(connection, crate::LOCAL_PORT, remote_port);
        socket
    }

    pub(super) fn open(&mut self, connection: Connection, local_port: u16, remote_port: u16) {
        self.stage = Stage::Open(Box::new(Open {
            told_connected: connection.state() != State::SynSent,
            connection,
            local_port,
            remote_port,
            told_error: false,
            shut: Shut::default(),
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
            Stage::Fresh => &["POLLOUT", "POLLWRNORM", "POLLHUP"],
            Stage::Listening(listener) if listener.is_ready() => &["POLLIN", "POLLRDNORM"],
            Stage::Listening(_) => &[],
            Stage::Open(open) => return open.readiness(),
        };
        bits(names)
    }
}

impl Open {
    /// The error that the application has not been told, which it is now.
    pub(super) fn take_error(&mut self) -> Option<ConnectionError> {
        let error = self.connection.error().filter(|_| !self.told_error);
        self.told_error |= error.is_some();
        error
    }

    /// Whether nothing more comes to be read: the peer has closed, or the application.
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
        if self.connection.error().is_some() && !self.told_error {
            ready |= bits(&["POLLERR"]);
        }
        ready
    }
}

fn bits(names: &[&str]) -> i64 {
    names.iter().filter_map(|name| constant(name)).fold(0, |bits, bit| bits | bit)
}
