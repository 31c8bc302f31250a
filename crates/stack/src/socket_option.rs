//! One socket option and its value.

use tcplab_units::{Bytes, Rate, Span};

/// A socket option that an application sets.
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
    /// SO_RCVLOWAT.
    ReceiveLow(Bytes),
    /// TCP_DEFER_ACCEPT: rounded up to a number of timeouts of the SYN-ACK.
    DeferAccept(Span),
    /// SO_MAX_PACING_RATE.
    MostPace(Option<Rate>),
    /// IP_MTU_DISCOVER: whether the path MTU is discovered.
    PathMtuDiscovery(bool),
}
