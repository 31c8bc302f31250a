//! `IPPROTO_TCP`.

use crate::socket::option::{Level, OptionInfo, SocketRole};
use crate::socket::value::{INT_MAX, Kind};

const fn row(name: &'static str, number: i32, kind: Kind, effect: &'static str) -> OptionInfo {
    OptionInfo::new(Level::Tcp, name, number, kind, effect)
}

/// Bounds of `tcp_sock_set_keepidle_locked` and its like (`MAX_TCP_KEEPIDLE`, `MAX_TCP_KEEPINTVL`,
/// `MAX_TCP_KEEPCNT`, `MAX_TCP_SYNCNT`; include/net/tcp.h).
const MOST_SECONDS: u64 = 32_767;
const MOST_PROBES: i64 = 127;
/// `TCP_FIN_TIMEOUT_MAX`, seconds.
const MOST_FIN_TIMEOUT: u64 = 120;

pub(super) const OPTIONS: &[OptionInfo] = &[
    row(
        "TCP_NODELAY",
        1,
        Kind::Flag,
        "Disables Nagle's algorithm: small segments are sent at once",
    )
    .key("nodelay"),
    row(
        "TCP_MAXSEG",
        2,
        Kind::Number("B", 88, 32_767),
        "Maximum segment size, announced in the SYN and sent",
    )
    .key("maxseg")
    .later(
        "once connected: the size that is sent, the minimum of both announcements and the path \
             MTU, less 12 B for timestamps",
    ),
    row("TCP_CORK", 3, Kind::Flag, "Holds back partial segments, for at most 200 ms").key("cork"),
    row(
        "TCP_KEEPIDLE",
        4,
        Kind::Seconds(1, MOST_SECONDS),
        "Idle time before the first keep-alive probe (with SO_KEEPALIVE)",
    )
    .key("keepidle")
    .default_from("net.ipv4.tcp_keepalive_time"),
    row("TCP_KEEPINTVL", 5, Kind::Seconds(1, MOST_SECONDS), "Interval between keep-alive probes")
        .key("keepintvl")
        .default_from("net.ipv4.tcp_keepalive_intvl"),
    row(
        "TCP_KEEPCNT",
        6,
        Kind::Number("probes", 1, MOST_PROBES),
        "Unanswered keep-alive probes before the connection is closed",
    )
    .key("keepcnt")
    .default_from("net.ipv4.tcp_keepalive_probes"),
    row(
        "TCP_SYNCNT",
        7,
        Kind::Number("SYNs", 1, MOST_PROBES),
        "SYN retransmissions (of a listener: SYN-ACK retransmissions)",
    )
    .key("syncnt")
    .default_from("net.ipv4.tcp_syn_retries"),
    row(
        "TCP_LINGER2",
        8,
        Kind::Seconds(1, MOST_FIN_TIMEOUT),
        "Lifetime of FIN-WAIT-2 after close()",
    )
    .key("linger2")
    .default_from("net.ipv4.tcp_fin_timeout"),
    row(
        "TCP_DEFER_ACCEPT",
        9,
        Kind::Seconds(1, INT_MAX as u64),
        "accept() returns a connection only with its first data, or after this time",
    )
    .key("defer_accept")
    .adjusted("rounded up to a number of SYN-ACKs: 1, 3, 7, 15… s"),
    row("TCP_WINDOW_CLAMP", 10, Kind::Size(1, INT_MAX as u64), "Maximum advertised window")
        .key("window_clamp")
        .adjusted("at least half the minimum receive buffer (SOCK_MIN_RCVBUF)"),
    row("TCP_INFO", 11, Kind::Structure("struct tcp_info"), "State and counters of the connection")
        .read_only(),
    row(
        "TCP_QUICKACK",
        12,
        Kind::Flag,
        "Disables delayed ACKs, temporarily: the kernel re-enables them",
    )
    .key("quickack")
    .later("not permanent: reports whether ACKs are delayed at present"),
    row("TCP_CONGESTION", 13, Kind::Name, "Congestion control algorithm")
        .key("congestion")
        .default_from("net.ipv4.tcp_congestion_control")
        .privileged("CAP_NET_ADMIN, where net.ipv4.tcp_allowed_congestion_control lacks it"),
    row(
        "TCP_MD5SIG",
        14,
        Kind::Structure("struct tcp_md5sig"),
        "Key for MD5 signatures (RFC 2385)",
    )
    .write_only(),
    row(
        "TCP_THIN_LINEAR_TIMEOUTS",
        16,
        Kind::Flag,
        "Thin streams: six linear retransmission timeouts before backoff",
    ),
    row("TCP_THIN_DUPACK", 17, Kind::Flag, "No effect since Linux 4.16"),
    row(
        "TCP_USER_TIMEOUT",
        18,
        Kind::Millis(0, INT_MAX as u64),
        "Maximum time that data stay unacknowledged before the connection is closed; 0: by retries",
    )
    .key("user_timeout"),
    row(
        "TCP_REPAIR",
        19,
        Kind::Number("", -1, 1),
        "Repair mode: checkpoint and restore of a connection",
    )
    .privileged("CAP_NET_ADMIN"),
    row("TCP_REPAIR_QUEUE", 20, Kind::Number("", 0, 2), "Queue under repair")
        .privileged("CAP_NET_ADMIN"),
    row(
        "TCP_QUEUE_SEQ",
        21,
        Kind::Number("", 0, INT_MAX),
        "Sequence number of the queue under repair",
    )
    .privileged("CAP_NET_ADMIN"),
    row(
        "TCP_REPAIR_OPTIONS",
        22,
        Kind::Structure("struct tcp_repair_opt []"),
        "Negotiated options of a connection under repair",
    )
    .write_only()
    .privileged("CAP_NET_ADMIN"),
    row(
        "TCP_FASTOPEN",
        23,
        Kind::Number("connections", 0, INT_MAX),
        "TCP Fast Open (server): maximum pending requests",
    )
    .key("fastopen")
    .adjusted("at most the backlog; needs bit 2 of net.ipv4.tcp_fastopen (server)")
    .only(&[SocketRole::Listener]),
    row("TCP_TIMESTAMP", 24, Kind::Number("", 0, INT_MAX), "Current value of the timestamp clock")
        .privileged("CAP_NET_ADMIN, to set it (repair)"),
    row(
        "TCP_NOTSENT_LOWAT",
        25,
        Kind::Size(0, 4_294_967_295),
        "Unsent bytes below which the socket is writable; 0: the sysctl",
    )
    .key("notsent_lowat"),
    row("TCP_CC_INFO", 26, Kind::Structure("union tcp_cc_info"), "State of the congestion control")
        .read_only(),
    row(
        "TCP_SAVE_SYN",
        27,
        Kind::Number("", 0, 2),
        "Saves the SYN of each connection for TCP_SAVED_SYN",
    ),
    row("TCP_SAVED_SYN", 28, Kind::Structure("headers"), "Saved SYN").read_only(),
    row(
        "TCP_REPAIR_WINDOW",
        29,
        Kind::Structure("struct tcp_repair_window"),
        "Windows of a connection under repair",
    )
    .privileged("CAP_NET_ADMIN"),
    row(
        "TCP_FASTOPEN_CONNECT",
        30,
        Kind::Flag,
        "TCP Fast Open (client): connect() defers the SYN to the first write",
    )
    .key("fastopen_connect")
    .only(&[SocketRole::Client]),
    row("TCP_ULP", 31, Kind::Name, "Upper layer protocol in the kernel, such as `tls`"),
    row(
        "TCP_MD5SIG_EXT",
        32,
        Kind::Structure("struct tcp_md5sig"),
        "As TCP_MD5SIG, for a prefix of peers",
    )
    .write_only(),
    row(
        "TCP_FASTOPEN_KEY",
        33,
        Kind::Structure("__u8 [16 or 32]"),
        "Secret key for TCP Fast Open cookies",
    ),
    row("TCP_FASTOPEN_NO_COOKIE", 34, Kind::Flag, "TCP Fast Open without cookies"),
    row(
        "TCP_ZEROCOPY_RECEIVE",
        35,
        Kind::Structure("struct tcp_zerocopy_receive"),
        "Maps received data into memory",
    )
    .read_only(),
    row("TCP_INQ", 36, Kind::Flag, "Reports the remaining unread bytes with each read"),
    row(
        "TCP_TX_DELAY",
        37,
        Kind::Micros(0, INT_MAX as u64),
        "Delays every packet by this time (needs the fq qdisc)",
    ),
    row("TCP_AO_ADD_KEY", 38, Kind::Structure("struct tcp_ao_add"), "Adds a TCP-AO key (RFC 5925)")
        .write_only(),
    row("TCP_AO_DEL_KEY", 39, Kind::Structure("struct tcp_ao_del"), "Deletes a TCP-AO key")
        .write_only(),
    row("TCP_AO_INFO", 40, Kind::Structure("struct tcp_ao_info_opt"), "TCP-AO state"),
    row("TCP_AO_GET_KEYS", 41, Kind::Structure("struct tcp_ao_getsockopt"), "TCP-AO keys")
        .read_only(),
    row("TCP_AO_REPAIR", 42, Kind::Structure("struct tcp_ao_repair"), "TCP-AO state under repair")
        .privileged("CAP_NET_ADMIN"),
    row("TCP_IS_MPTCP", 43, Kind::Flag, "Whether the socket uses Multipath TCP").read_only(),
    row(
        "TCP_RTO_MAX_MS",
        44,
        Kind::Millis(1_000, 120_000),
        "Maximum retransmission timeout (Linux 6.15)",
    )
    .default_from("net.ipv4.tcp_rto_max_ms"),
    row(
        "TCP_RTO_MIN_US",
        45,
        Kind::Micros(1, 200_000),
        "Minimum retransmission timeout (Linux 6.15)",
    )
    .default_from("net.ipv4.tcp_rto_min_us"),
    row(
        "TCP_DELACK_MAX_US",
        46,
        Kind::Micros(1, 200_000),
        "Maximum delay of a delayed ACK (Linux 6.15)",
    ),
];
