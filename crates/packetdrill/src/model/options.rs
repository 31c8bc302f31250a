//! Socket options by Linux's numbers.

use tcplab_stack::{SocketOption, SocketOptions};
use tcplab_units::{Bytes, Span};

use crate::Refusal;
use crate::subject::OptionValue;

/// `SOL_IP`.
pub(super) const IP: i64 = 0;
/// `IP_TOS`.
pub(super) const IP_TOS: i64 = 1;
const IP_MTU_DISCOVER: i64 = 10;
/// `SOL_SOCKET`.
pub(super) const SOCKET: i64 = 1;
/// `SOL_TCP`.
pub(super) const TCP: i64 = 6;
/// `SO_ERROR`.
pub(super) const SO_ERROR: i64 = 4;
/// `SO_SNDBUF`.
pub(super) const SO_SNDBUF: i64 = 7;
/// `SO_RCVBUF`.
pub(super) const SO_RCVBUF: i64 = 8;
/// `SO_TIMESTAMPING`.
pub(super) const SO_TIMESTAMPING: i64 = 37;
/// `SO_ZEROCOPY`.
pub(super) const SO_ZEROCOPY: i64 = 60;
/// `TCP_MAXSEG`.
pub(super) const TCP_MAXSEG: i64 = 2;
/// `TCP_WINDOW_CLAMP`.
pub(super) const TCP_WINDOW_CLAMP: i64 = 10;
const TCP_DEFER_ACCEPT: i64 = 9;

/// Half of `SOCK_MIN_RCVBUF`, bytes: the least value of TCP_WINDOW_CLAMP.
const LEAST_CLAMP: i64 = 1_152;
/// `TCP_CONGESTION`.
pub(super) const TCP_CONGESTION: i64 = 13;
/// `TCP_FASTOPEN` and what goes with it.
pub(super) const TCP_FASTOPEN: i64 = 23;
pub(super) const TCP_FASTOPEN_CONNECT: i64 = 30;
pub(super) const TCP_FASTOPEN_KEY: i64 = 33;
pub(super) const TCP_FASTOPEN_NO_COOKIE: i64 = 34;
/// `TCP_INQ`.
pub(super) const TCP_INQ: i64 = 36;

/// The result of setting an option.
pub(super) enum Setting {
    Of(SocketOption),
    /// It concerns what the model ignores.
    Nothing,
    /// Linux does not take the value (EINVAL).
    Invalid,
}

/// What `level`, `name` and `value` mean.
///
/// # Errors
/// When the model does not have the option.
pub(super) fn read(level: i64, name: i64, value: &OptionValue) -> Result<Setting, Refusal> {
    if let (OptionValue::Linger { on, seconds }, SOCKET, 13) = (value, level, name) {
        let seconds = u64::from(u32::try_from(*seconds).unwrap_or(0));
        return Ok(Setting::Of(SocketOption::Linger(on.then(|| Span::from_secs(seconds)))));
    }
    let OptionValue::Integer(value) = *value else { return Err(refused(level, name)) };
    let on = value != 0;
    let bytes = Bytes::new(u64::try_from(value).unwrap_or(0));
    // The bounds of `do_tcp_setsockopt` (net/ipv4/tcp.c).
    let within = |most: i64, option: SocketOption| {
        if (1..=most).contains(&value) { Setting::Of(option) } else { Setting::Invalid }
    };
    let seconds = Span::from_secs(u64::from(value as u32 & 0xffff));
    Ok(match (level, name) {
        // SO_REUSEADDR, SO_PRIORITY, SO_REUSEPORT, SO_MARK; IP_FREEBIND.
        (SOCKET, 2 | 12 | 15 | 36) | (0, 15) => Setting::Nothing,
        // IP_PMTUDISC_DONT, IP_PMTUDISC_WANT and IP_PMTUDISC_DO.
        (IP, IP_MTU_DISCOVER) if (0..=2).contains(&value) => {
            Setting::Of(SocketOption::PathMtuDiscovery(on))
        }
        (SOCKET, SO_SNDBUF) => Setting::Of(SocketOption::SendBuffer(bytes)),
        (SOCKET, SO_RCVBUF) => Setting::Of(SocketOption::ReceiveBuffer(bytes)),
        (SOCKET, 9) => Setting::Of(SocketOption::KeepAlive(on)),
        (SOCKET, 10) => Setting::Of(SocketOption::UrgentInline(on)),
        (TCP, 1) => Setting::Of(SocketOption::NoDelay(on)),
        // TCP_MIN_MSS, MAX_TCP_WINDOW; 0 takes it back.
        (TCP, TCP_MAXSEG) if (88..=32_767).contains(&value) => {
            Setting::Of(SocketOption::MaxSegment(value as u16))
        }
        (TCP, TCP_MAXSEG) => Setting::Invalid,
        (TCP, 3) => Setting::Of(SocketOption::Cork(on)),
        (TCP, 4) => within(32_767, SocketOption::KeepIdle(seconds)),
        (TCP, 5) => within(32_767, SocketOption::KeepInterval(seconds)),
        (TCP, 6) => within(127, SocketOption::KeepProbes(value as u8)),
        (TCP, 7) => within(127, SocketOption::SynRetries(value as u8)),
        (TCP, 8) if (1..=120).contains(&value) => Setting::Of(SocketOption::FinWait2(seconds)),
        // A negative time is none (`secs_to_retrans`).
        (TCP, TCP_DEFER_ACCEPT) => Setting::Of(SocketOption::DeferAccept(Span::from_secs(
            u64::try_from(value).unwrap_or(0),
        ))),
        (TCP, TCP_WINDOW_CLAMP) => Setting::Of(SocketOption::WindowClamp(bytes)),
        (TCP, 12) => Setting::Of(SocketOption::QuickAck(on)),
        (TCP, 18) if value < 0 => Setting::Invalid,
        (TCP, 18) => {
            Setting::Of(SocketOption::UserTimeout(Span::from_millis(u64::from(value as u32))))
        }
        (TCP, 25) => Setting::Of(SocketOption::UnsentLow(Bytes::new(u64::from(value as u32)))),
        _ => return Err(refused(level, name)),
    })
}

/// An option as it stands; what depends on a connection is asked of it.
///
/// # Errors
/// When the model does not have the option.
pub(super) fn value(options: &SocketOptions, level: i64, name: i64) -> Result<i64, Refusal> {
    let seconds = |span: Span| (span.as_nanos() / 1_000_000_000) as i64;
    Ok(match (level, name) {
        (SOCKET, 9) => options.keep_alive.into(),
        (SOCKET, 10) => options.urgent_inline.into(),
        (TCP, 1) => options.no_delay.into(),
        (TCP, 3) => options.cork.into(),
        (TCP, 4) => seconds(options.keep_idle),
        (TCP, 5) => seconds(options.keep_interval),
        (TCP, 6) => options.keep_probes.into(),
        (TCP, TCP_DEFER_ACCEPT) => seconds(options.defer_accept_span()),
        (TCP, TCP_WINDOW_CLAMP) => {
            options.window_clamp.map_or(0, |clamp| (clamp.as_u64() as i64).max(LEAST_CLAMP))
        }
        (TCP, 18) => (options.user_timeout.as_micros() / 1_000) as i64,
        (TCP, 25) => options.unsent_low.map_or(0, |low| low.as_u64() as i64),
        _ => return Err(refused(level, name)),
    })
}

fn refused(level: i64, name: i64) -> Refusal {
    let names: &[&str] = match level {
        IP => &["IP_TOS", "IP_TTL", "IP_MTU_DISCOVER", "IP_RECVERR", "IP_RECVTOS", "IP_MTU"],
        SOCKET => &[
            "SO_TIMESTAMPING",
            "SO_MAX_PACING_RATE",
            "SO_BUSY_POLL",
            "SO_RCVTIMEO",
            "SO_SNDTIMEO",
            "SO_RCVLOWAT",
        ],
        TCP => &[
            "TCP_MD5SIG",
            "TCP_MD5SIG_EXT",
            "TCP_AO_ADD_KEY",
            "TCP_AO_DEL_KEY",
            "TCP_AO_INFO",
            "TCP_INFO",
            "TCP_REPAIR",
            "TCP_TIMESTAMP",
            "TCP_CC_INFO",
            "TCP_SAVE_SYN",
            "TCP_ZEROCOPY_RECEIVE",
            "TCP_TX_DELAY",
            "TCP_RTO_MAX_MS",
            "TCP_RTO_MIN_US",
            "TCP_DELACK_MAX_US",
        ],
        _ => &[],
    };
    let named = names.iter().find(|known| crate::constant(known) == Some(name));
    let signs = |name: &&str| name.starts_with("TCP_MD5") || name.starts_with("TCP_AO");
    if let Some(known) = named.filter(|name| signs(name)) {
        return Refusal(format!("signatures of segments: the socket option {known}"));
    }
    Refusal(match named {
        Some(known) => format!("the socket option {known}"),
        None => format!("the socket option {name} of level {level}"),
    })
}
