//! Socket options.

use tcplab_units::{Bytes, Rate, Span};

use crate::SocketOption;
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
    /// The requested SO_RCVBUF; `None`: auto-tuned.
    pub receive_buffer: Option<Bytes>,
    /// The requested SO_SNDBUF; `None`: auto-tuned.
    pub send_buffer: Option<Bytes>,
    /// TCP_MAXSEG; `None`: what fits. Counts when it is set before the handshake.
    pub max_segment: Option<u16>,
    /// TCP_WINDOW_CLAMP; `None`: none.
    pub window_clamp: Option<Bytes>,
    /// TCP_SYNCNT; `None`: the stack's.
    pub syn_retries: Option<u8>,
    /// TCP_LINGER2; `None`: the stack's.
    pub fin_wait_2: Option<Span>,
    /// TCP_NOTSENT_LOWAT: a writer wakes only below this many unsent bytes.
    pub unsent_low: Option<Bytes>,
    /// The requested SO_RCVLOWAT: a reader wakes only with this many bytes.
    pub receive_low: Bytes,
    /// TCP_DEFER_ACCEPT, in timeouts of the SYN-ACK as Linux keeps it; 0: off.
    pub defer_accept: u8,
    /// SO_MAX_PACING_RATE; `None`: no limit.
    pub most_pace: Option<Rate>,
    /// IP_MTU_DISCOVER.
    pub path_mtu_discovery: bool,
}

/// `SOCK_MIN_RCVBUF`, `SOCK_MIN_SNDBUF`.
const LEAST_RECEIVE: u64 = 2_304;
const LEAST_SEND: u64 = 4_608;

impl SocketOptions {
    /// As a socket of this stack has them at first.
    pub fn of(config: &Config) -> SocketOptions {
        let mut options = SocketOptions::untouched(config);
        config.socket.iter().for_each(|option| options.set(*option));
        options
    }

    fn untouched(config: &Config) -> SocketOptions {
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
            receive_low: Bytes::new(1),
            defer_accept: 0,
            most_pace: None,
            path_mtu_discovery: config.path_mtu.discovery,
        }
    }

    /// How long TCP_DEFER_ACCEPT waits, as it is read (`retrans_to_secs`).
    pub fn defer_accept_span(&self) -> Span {
        syn_ack_timeouts().take(self.defer_accept.into()).fold(Span::ZERO, |all, span| all + span)
    }

    /// The receive buffer that follows from SO_RCVBUF: Linux doubles what is asked for, and keeps
    /// it within bounds (socket(7)); where memory is not charged, it is taken at its word.
    pub(crate) fn effective_receive_buffer(&self, config: &Config) -> Option<Bytes> {
        let asked = self.receive_buffer?.as_u64();
        Some(Bytes::new(if config.receiving.segment_overhead > 0 {
            (2 * asked.min(config.receiving.most_asked.as_u64())).max(LEAST_RECEIVE)
        } else {
            asked
        }))
    }

    /// The send buffer that follows from SO_SNDBUF, likewise.
    pub(crate) fn effective_send_buffer(&self, config: &Config) -> Option<Bytes> {
        let asked = self.send_buffer?.as_u64();
        Some(Bytes::new(if config.sending.charges_memory {
            (2 * asked.min(config.sending.most_asked.as_u64())).max(LEAST_SEND)
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
            SocketOption::WindowClamp(bytes) => {
                self.window_clamp = Some(bytes).filter(|bytes| bytes.as_u64() > 0);
            }
            SocketOption::SynRetries(count) => self.syn_retries = Some(count),
            SocketOption::FinWait2(span) => self.fin_wait_2 = Some(span),
            SocketOption::UnsentLow(bytes) => {
                self.unsent_low = Some(bytes).filter(|bytes| bytes.as_u64() > 0);
            }
            SocketOption::QuickAck(_) => {}
            SocketOption::ReceiveLow(bytes) => self.receive_low = bytes.max(Bytes::new(1)),
            SocketOption::DeferAccept(span) => self.defer_accept = timeouts_of(span),
            SocketOption::MostPace(rate) => self.most_pace = rate,
            SocketOption::PathMtuDiscovery(on) => self.path_mtu_discovery = on,
        }
    }
}

/// The first timeout of a SYN-ACK and the longest, as TCP_DEFER_ACCEPT uses them
/// (`TCP_TIMEOUT_INIT`, `TCP_RTO_MAX`).
const SYN_ACK_TIMEOUTS: [Span; 2] = [Span::from_secs(1), Span::from_secs(120)];

/// The timeouts of a SYN-ACK, each twice the one before.
fn syn_ack_timeouts() -> impl Iterator<Item = Span> {
    let [first, most] = SYN_ACK_TIMEOUTS;
    std::iter::successors(Some(first), move |span| Some((*span * 2).min(most)))
}

/// The number of timeouts that last at least `span` (`secs_to_retrans`); 0 for none.
fn timeouts_of(span: Span) -> u8 {
    let mut sum = Span::ZERO;
    let short = syn_ack_timeouts().take(usize::from(u8::MAX)).take_while(|timeout| {
        let goes_on = sum < span;
        sum += *timeout;
        goes_on
    });
    short.count() as u8
}
