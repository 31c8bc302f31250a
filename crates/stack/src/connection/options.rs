//! Socket options.

use tcplab_units::{Bytes, Instant, Span};

use super::Connection;
use crate::config::{Config, Nagle};

/// What an application may set, as it stands. Values are the effective ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// TCP_CORK.
    pub cork: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// TCP_KEEPIDLE.
    pub keep_idle: Span,
    /// TCP_KEEPINTVL.
    pub keep_interval: Span,
    /// TCP_KEEPCNT.
    pub keep_probes: u8,
    /// TCP_USER_TIMEOUT; zero: none.
    pub user_timeout: Span,
    /// SO_LINGER; `None`: off.
    pub linger: Option<Span>,
    /// SO_OOBINLINE.
    pub urgent_inline: bool,
    /// SO_RCVBUF as asked for; `None`: tuned.
    pub receive_buffer: Option<Bytes>,
    /// SO_SNDBUF as asked for; `None`: tuned.
    pub send_buffer: Option<Bytes>,
    /// TCP_MAXSEG; `None`: what fits. Counts when it is set before the handshake.
    pub max_segment: Option<u16>,
    /// TCP_WINDOW_CLAMP; `None`: none.
    pub window_clamp: Option<Bytes>,
    /// TCP_SYNCNT; `None`: the stack's.
    pub syn_retries: Option<u8>,
    /// TCP_LINGER2; `None`: the stack's.
    pub fin_wait_2: Option<Span>,
    /// TCP_NOTSENT_LOWAT: a writer is woken only below so many unsent bytes.
    pub unsent_low: Option<Bytes>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketOption {
    /// TCP_NODELAY.
    NoDelay(bool),
    /// TCP_CORK.
    Cork(bool),
    /// SO_KEEPALIVE.
    KeepAlive(bool),
    /// TCP_KEEPIDLE.
    KeepIdle(Span),
    /// TCP_KEEPINTVL.
    KeepInterval(Span),
    /// TCP_KEEPCNT.
    KeepProbes(u8),
    /// TCP_USER_TIMEOUT.
    UserTimeout(Span),
    /// SO_LINGER.
    Linger(Option<Span>),
    /// SO_OOBINLINE.
    UrgentInline(bool),
    /// SO_RCVBUF.
    ReceiveBuffer(Bytes),
    /// SO_SNDBUF.
    SendBuffer(Bytes),
    /// TCP_MAXSEG.
    MaxSegment(u16),
    /// TCP_WINDOW_CLAMP.
    WindowClamp(Bytes),
    /// TCP_SYNCNT.
    SynRetries(u8),
    /// TCP_LINGER2.
    FinWait2(Span),
    /// TCP_NOTSENT_LOWAT; 0: none.
    UnsentLow(Bytes),
    /// TCP_QUICKACK: true, acknowledgements are not delayed for now; false, they are.
    QuickAck(bool),
}

/// `net.core.rmem_max` and `wmem_max`: the most that can be asked for.
const MOST_BUFFER: u64 = 212_992;
/// `SOCK_MIN_RCVBUF`, `SOCK_MIN_SNDBUF`.
const LEAST_RECEIVE: u64 = 2_304;
const LEAST_SEND: u64 = 4_608;

impl SocketOptions {
    /// As a socket of this stack has them at first.
    pub fn of(config: &Config) -> SocketOptions {
        SocketOptions {
            no_delay: config.sending.nagle == Nagle::Off,
            cork: false,
            keep_alive: config.liveness.keep_alive,
            keep_idle: config.liveness.keep_idle,
            keep_interval: config.liveness.keep_interval,
            keep_probes: config.liveness.keep_probes,
            user_timeout: config.liveness.user_timeout,
            linger: None,
            urgent_inline: false,
            receive_buffer: None,
            send_buffer: None,
            max_segment: None,
            window_clamp: None,
            syn_retries: None,
            fin_wait_2: None,
            unsent_low: None,
        }
    }

    /// The receive buffer that follows from SO_RCVBUF: Linux doubles what is asked for, and keeps
    /// it within bounds (socket(7)); where memory is not charged, it is taken at its word.
    pub(crate) fn effective_receive_buffer(&self, config: &Config) -> Option<Bytes> {
        let asked = self.receive_buffer?.as_u64();
        Some(Bytes::new(if config.receiving.segment_overhead > 0 {
            (2 * asked.min(MOST_BUFFER)).max(LEAST_RECEIVE)
        } else {
            asked
        }))
    }

    /// The send buffer that follows from SO_SNDBUF, likewise.
    pub(crate) fn effective_send_buffer(&self, config: &Config) -> Option<Bytes> {
        let asked = self.send_buffer?.as_u64();
        Some(Bytes::new(if config.sending.charges_memory {
            (2 * asked.min(MOST_BUFFER)).max(LEAST_SEND)
        } else {
            asked
        }))
    }

    /// Changes one of them; what depends on a connection is the connection's affair.
    pub fn set(&mut self, option: SocketOption) {
        match option {
            SocketOption::NoDelay(on) => self.no_delay = on,
            SocketOption::Cork(on) => self.cork = on,
            SocketOption::KeepAlive(on) => self.keep_alive = on,
            SocketOption::KeepIdle(span) => self.keep_idle = span,
            SocketOption::KeepInterval(span) => self.keep_interval = span,
            SocketOption::KeepProbes(count) => self.keep_probes = count,
            SocketOption::UserTimeout(span) => self.user_timeout = span,
            SocketOption::Linger(linger) => self.linger = linger,
            SocketOption::UrgentInline(on) => self.urgent_inline = on,
            SocketOption::ReceiveBuffer(bytes) => self.receive_buffer = Some(bytes),
            SocketOption::SendBuffer(bytes) => self.send_buffer = Some(bytes),
            SocketOption::MaxSegment(bytes) => self.max_segment = Some(bytes),
            SocketOption::WindowClamp(bytes) => self.window_clamp = Some(bytes),
            SocketOption::SynRetries(count) => self.syn_retries = Some(count),
            SocketOption::FinWait2(span) => self.fin_wait_2 = Some(span),
            SocketOption::UnsentLow(bytes) => {
                self.unsent_low = Some(bytes).filter(|bytes| bytes.as_u64() > 0);
            }
            SocketOption::QuickAck(_) => {}
        }
    }
}

impl Connection {
    /// The socket options as they stand.
    pub fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// The receive buffer at present (SO_RCVBUF as read).
    pub fn receive_buffer(&self) -> Bytes {
        self.receiver.buffer()
    }

    /// The send buffer at present (SO_SNDBUF as read).
    pub fn send_buffer(&self) -> Bytes {
        self.buffer.capacity()
    }

    /// Sets an option; what it holds back may leave now (poll for it).
    pub fn set_option(&mut self, now: Instant, option: SocketOption) {
        self.options.set(option);
        match option {
            // What waits leaves at once, cork or not (`__tcp_sock_set_nodelay`).
            SocketOption::NoDelay(true) => self.uncorked_to = self.buffer.end(),
            // "If the cork is taken off, what waits is sent" (tcp(7)).
            SocketOption::Cork(false) => self.more_follows = false,
            SocketOption::KeepAlive(_) | SocketOption::KeepIdle(_) => self.restart_keep_alive(now),
            SocketOption::UserTimeout(span) => self.sender.set_user_timeout(span),
            SocketOption::ReceiveBuffer(_) | SocketOption::SendBuffer(_) => self.apply_buffers(),
            SocketOption::WindowClamp(bytes) => self.receiver.set_clamp(bytes),
            SocketOption::QuickAck(quick) => {
                self.receiver.acks.set_quick(quick);
                if quick && self.state.is_synchronized() {
                    self.after_read(now, 1);
                }
            }
            _ => {}
        }
    }

    pub(super) fn apply_buffers(&mut self) {
        if let Some(bytes) = self.options.effective_receive_buffer(&self.config) {
            self.receiver.set_buffer(bytes);
        }
        if let Some(bytes) = self.options.effective_send_buffer(&self.config) {
            self.buffer.set_capacity(bytes);
        }
    }
}
