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
        "Sends small segments at once: Nagle's algorithm, which holds them back while one is not \
         acknowledged, is off",
    )
    .key("nodelay"),
    row("TCP_MAXSEG", 2, Kind::Number("B", 88, 32_767), "The largest segment to offer in the SYN and to send")
        .key("maxseg")
        .later(
            "once connected it tells what is sent: the least of both ends' offers and the path's \
             MTU, less 12 B for timestamps",
        ),
    row("TCP_CORK", 3, Kind::Flag, "Holds back segments that are not full, for 200 ms at most")
        .key("cork"),
    row("TCP_KEEPIDLE", 4, Kind::Seconds(1, MOST_SECONDS), "How long a peer is silent before it is asked (with SO_KEEPALIVE)")
        .key("keepidle")
        .default_from("net.ipv4.tcp_keepalive_time"),
    row("TCP_KEEPINTVL", 5, Kind::Seconds(1, MOST_SECONDS), "The time between two such questions")
        .key("keepintvl")
        .default_from("net.ipv4.tcp_keepalive_intvl"),
    row("TCP_KEEPCNT", 6, Kind::Number("probes", 1, MOST_PROBES), "So many without answer, and the connection is given up")
        .key("keepcnt")
        .default_from("net.ipv4.tcp_keepalive_probes"),
    row("TCP_SYNCNT", 7, Kind::Number("SYNs", 1, MOST_PROBES), "How often a SYN (a SYN-ACK, of a listener) is repeated")
        .key("syncnt")
        .default_from("net.ipv4.tcp_syn_retries"),
    row("TCP_LINGER2", 8, Kind::Seconds(1, MOST_FIN_TIMEOUT), "How long FIN-WAIT-2 lasts once the application has closed")
        .key("linger2")
        .default_from("net.ipv4.tcp_fin_timeout"),
    row(
        "TCP_DEFER_ACCEPT",
        9,
        Kind::Seconds(1, INT_MAX as u64),
        "accept() gets a connection when its first data are there, or after so long",
    )
    .key("defer_accept")
    .adjusted("kept as a number of SYN-ACKs: 1, 3, 7, 15… s, the next that is not less"),
    row("TCP_WINDOW_CLAMP", 10, Kind::Size(1, INT_MAX as u64), "The largest window to offer")
        .key("window_clamp")
        .adjusted("never less than half of the least receive buffer (SOCK_MIN_RCVBUF)"),
    row("TCP_INFO", 11, Kind::Structure("struct tcp_info"), "The state of the connection, with its counters").read_only(),
    row("TCP_QUICKACK", 12, Kind::Flag, "Acknowledges at once, for now: the kernel goes back to delaying by itself")
        .key("quickack")
        .later("no lasting setting: it tells whether acknowledgements are delayed at present"),
    row("TCP_CONGESTION", 13, Kind::Name, "The congestion control")
        .key("congestion")
        .default_from("net.ipv4.tcp_congestion_control")
        .privileged("CAP_NET_ADMIN, where net.ipv4.tcp_allowed_congestion_control lacks it"),
    row("TCP_MD5SIG", 14, Kind::Structure("struct tcp_md5sig"), "A key to sign all segments with (RFC 2385)").write_only(),
    row("TCP_THIN_LINEAR_TIMEOUTS", 16, Kind::Flag, "Thin streams repeat without backing off, six times"),
    row("TCP_THIN_DUPACK", 17, Kind::Flag, "Does nothing since Linux 4.16"),
    row("TCP_USER_TIMEOUT", 18, Kind::Millis(0, INT_MAX as u64), "How long data may stay unacknowledged before the connection is given up; 0: as the retries say")
        .key("user_timeout"),
    row("TCP_REPAIR", 19, Kind::Number("", -1, 1), "Lets a connection be taken down and set up elsewhere as it was").privileged("CAP_NET_ADMIN"),
    row("TCP_REPAIR_QUEUE", 20, Kind::Number("", 0, 2), "Which queue is being repaired").privileged("CAP_NET_ADMIN"),
    row("TCP_QUEUE_SEQ", 21, Kind::Number("", 0, INT_MAX), "Its sequence number").privileged("CAP_NET_ADMIN"),
    row("TCP_REPAIR_OPTIONS", 22, Kind::Structure("struct tcp_repair_opt []"), "What both ends had agreed on").write_only().privileged("CAP_NET_ADMIN"),
    row("TCP_FASTOPEN", 23, Kind::Number("connections", 0, INT_MAX), "Takes data in a SYN, from so many clients before the handshake is done")
        .key("fastopen")
        .adjusted("never more than the backlog; and only where net.ipv4.tcp_fastopen has 2 (server)")
        .only(&[SocketRole::Listener]),
    row("TCP_TIMESTAMP", 24, Kind::Number("", 0, INT_MAX), "What the timestamps option says now").privileged("CAP_NET_ADMIN, to set it (repair)"),
    row(
        "TCP_NOTSENT_LOWAT",
        25,
        Kind::Size(0, 4_294_967_295),
        "A writer is woken, and may write, only below so many unsent bytes; 0: as the sysctl says",
    )
    .key("notsent_lowat"),
    row("TCP_CC_INFO", 26, Kind::Structure("union tcp_cc_info"), "What the congestion control has to tell").read_only(),
    row("TCP_SAVE_SYN", 27, Kind::Number("", 0, 2), "Keeps the SYN of each connection for TCP_SAVED_SYN"),
    row("TCP_SAVED_SYN", 28, Kind::Structure("headers"), "That SYN").read_only(),
    row("TCP_REPAIR_WINDOW", 29, Kind::Structure("struct tcp_repair_window"), "The windows of a connection under repair").privileged("CAP_NET_ADMIN"),
    row("TCP_FASTOPEN_CONNECT", 30, Kind::Flag, "connect() waits for the first write, whose data go with the SYN")
        .key("fastopen_connect")
        .only(&[SocketRole::Client]),
    row("TCP_ULP", 31, Kind::Name, "A protocol on top in the kernel, such as `tls`"),
    row("TCP_MD5SIG_EXT", 32, Kind::Structure("struct tcp_md5sig"), "As TCP_MD5SIG, for a range of peers").write_only(),
    row("TCP_FASTOPEN_KEY", 33, Kind::Structure("__u8 [16 or 32]"), "The secret that Fast Open's cookies are made with"),
    row("TCP_FASTOPEN_NO_COOKIE", 34, Kind::Flag, "Fast Open without cookies"),
    row("TCP_ZEROCOPY_RECEIVE", 35, Kind::Structure("struct tcp_zerocopy_receive"), "Maps what arrived into memory").read_only(),
    row("TCP_INQ", 36, Kind::Flag, "Tells with each read how much more there is"),
    row("TCP_TX_DELAY", 37, Kind::Micros(0, INT_MAX as u64), "Every packet leaves so much later (needs the queue fq)"),
    row("TCP_AO_ADD_KEY", 38, Kind::Structure("struct tcp_ao_add"), "A key to authenticate segments with (RFC 5925)").write_only(),
    row("TCP_AO_DEL_KEY", 39, Kind::Structure("struct tcp_ao_del"), "Takes that key away").write_only(),
    row("TCP_AO_INFO", 40, Kind::Structure("struct tcp_ao_info_opt"), "How authentication goes"),
    row("TCP_AO_GET_KEYS", 41, Kind::Structure("struct tcp_ao_getsockopt"), "Its keys").read_only(),
    row("TCP_AO_REPAIR", 42, Kind::Structure("struct tcp_ao_repair"), "Its state, under repair").privileged("CAP_NET_ADMIN"),
    row("TCP_IS_MPTCP", 43, Kind::Flag, "Whether this is Multipath TCP").read_only(),
    row("TCP_RTO_MAX_MS", 44, Kind::Millis(1_000, 120_000), "The longest retransmission timeout (Linux 6.15)")
        .default_from("net.ipv4.tcp_rto_max_ms"),
    row("TCP_RTO_MIN_US", 45, Kind::Micros(1, 200_000), "The shortest retransmission timeout (Linux 6.15)")
        .default_from("net.ipv4.tcp_rto_min_us"),
    row("TCP_DELACK_MAX_US", 46, Kind::Micros(1, 200_000), "The longest delay of an acknowledgement (Linux 6.15)"),
];
