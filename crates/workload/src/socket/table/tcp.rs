//! `IPPROTO_TCP`.

use crate::socket::option::Level::Tcp;
use crate::socket::option::SocketRole;
use crate::socket::value::INT_MAX;
use crate::socket::value::Kind::{Micros, Millis, Name, Number, Seconds, Size};

/// Bounds of `tcp_sock_set_keepidle_locked` and its like (`MAX_TCP_KEEPIDLE`, `MAX_TCP_KEEPINTVL`,
/// `MAX_TCP_KEEPCNT`, `MAX_TCP_SYNCNT`; include/net/tcp.h).
const MOST_SECONDS: u64 = 32_767;
const MOST_PROBES: i64 = 127;
/// `TCP_FIN_TIMEOUT_MAX`, seconds.
const MOST_FIN_TIMEOUT: u64 = 120;
/// `do_tcp_setsockopt`: below 2²⁸ µs.
const MOST_TX_DELAY: u64 = (1 << 28) - 1;
/// What is two ticks where there are 1000 a second, the most (`TCP_TIMEOUT_MIN`), µs.
const LEAST_TICKS: u64 = 1_001;
const TICKS: &str = "rounded up to ticks of the kernel (CONFIG_HZ); EINVAL if that is less than two: \
                     at 250 Hz up to 4000 µs";

define! {
    /// Disables Nagle's algorithm: small segments are sent at once
    Tcp.flag("TCP_NODELAY", 1).key("nodelay");
    /// Maximum segment size, announced in the SYN and sent
    Tcp.option("TCP_MAXSEG", 2, Number("B", 88, 32_767)).key("maxseg")
        .later("once connected: the size that is sent, the minimum of both announcements and the path \
                MTU, less 12 B for timestamps");
    /// Holds back partial segments, for at most the retransmission timeout (200 ms or more)
    Tcp.flag("TCP_CORK", 3).key("cork");
    /// Idle time before the first keep-alive probe (with SO_KEEPALIVE)
    Tcp.option("TCP_KEEPIDLE", 4, Seconds(1, MOST_SECONDS)).key("keepidle")
        .default_from("net.ipv4.tcp_keepalive_time");
    /// Interval between keep-alive probes
    Tcp.option("TCP_KEEPINTVL", 5, Seconds(1, MOST_SECONDS)).key("keepintvl")
        .default_from("net.ipv4.tcp_keepalive_intvl");
    /// Unanswered keep-alive probes before the connection is closed
    Tcp.option("TCP_KEEPCNT", 6, Number("probes", 1, MOST_PROBES)).key("keepcnt")
        .default_from("net.ipv4.tcp_keepalive_probes");
    /// SYN retransmissions (listener: of SYN-ACK); Linux ≥ 6.5 adds up to `tcp_syn_linear_timeouts`
    Tcp.option("TCP_SYNCNT", 7, Number("SYNs", 1, MOST_PROBES)).key("syncnt")
        .default_from("net.ipv4.tcp_syn_retries");
    /// Lifetime of FIN-WAIT-2 after close()
    Tcp.option("TCP_LINGER2", 8, Seconds(1, MOST_FIN_TIMEOUT)).key("linger2")
        .default_from("net.ipv4.tcp_fin_timeout");
    /// accept() returns a connection only with its first data, or after this time; 0: at once
    Tcp.option("TCP_DEFER_ACCEPT", 9, Seconds(0, INT_MAX as u64)).key("defer_accept")
        .adjusted("rounded up to a number of SYN-ACKs: 1, 3, 7, 15… s");
    /// Maximum advertised window; 0: no clamp (before connecting or listening)
    Tcp.option("TCP_WINDOW_CLAMP", 10, Size(0, INT_MAX as u64)).key("window_clamp")
        .adjusted("at least half the minimum receive buffer (SOCK_MIN_RCVBUF)")
        .later("raised with the receive buffer, as TCP autotunes that (tcp_rcv_space_adjust)");
    /// State and counters of the connection
    Tcp.structure("TCP_INFO", 11, "struct tcp_info").read_only();
    /// Disables delayed ACKs, temporarily: the kernel re-enables them
    Tcp.flag("TCP_QUICKACK", 12).key("quickack")
        .later("not permanent: reports whether ACKs are delayed at present");
    /// Congestion control algorithm
    Tcp.option("TCP_CONGESTION", 13, Name).key("congestion")
        .default_from("net.ipv4.tcp_congestion_control")
        .privileged("CAP_NET_ADMIN, where net.ipv4.tcp_allowed_congestion_control lacks it");
    /// Key for MD5 signatures (RFC 2385)
    Tcp.structure("TCP_MD5SIG", 14, "struct tcp_md5sig").write_only();
    /// Thin streams: six linear retransmission timeouts before backoff
    Tcp.flag("TCP_THIN_LINEAR_TIMEOUTS", 16);
    /// No effect since Linux 4.16
    Tcp.flag("TCP_THIN_DUPACK", 17);
    /// Maximum time that data, or keep-alives whatever TCP_KEEPCNT, stay unanswered; 0: by retries
    Tcp.option("TCP_USER_TIMEOUT", 18, Millis(0, INT_MAX as u64)).key("user_timeout");
    /// Repair mode: checkpoint and restore of a connection
    Tcp.option("TCP_REPAIR", 19, Number("", -1, 1)).privileged("CAP_NET_ADMIN");
    /// Queue under repair
    Tcp.option("TCP_REPAIR_QUEUE", 20, Number("", 0, 2)).privileged("CAP_NET_ADMIN");
    /// Sequence number of the queue under repair
    Tcp.count("TCP_QUEUE_SEQ", 21).privileged("CAP_NET_ADMIN");
    /// Negotiated options of a connection under repair
    Tcp.structure("TCP_REPAIR_OPTIONS", 22, "struct tcp_repair_opt []").write_only()
        .privileged("CAP_NET_ADMIN");
    /// TCP Fast Open (server): maximum pending requests
    Tcp.option("TCP_FASTOPEN", 23, Number("connections", 0, INT_MAX)).key("fastopen")
        .limited_by("net.core.somaxconn")
        .adjusted("needs bit 2 of net.ipv4.tcp_fastopen (server)")
        .only(&[SocketRole::Listener]);
    /// Current value of the timestamp clock
    Tcp.count("TCP_TIMESTAMP", 24).privileged("CAP_NET_ADMIN, to set it (repair)");
    /// Unsent bytes below which the socket is writable; 0: the sysctl
    Tcp.option("TCP_NOTSENT_LOWAT", 25, Size(0, 4_294_967_295)).key("notsent_lowat");
    /// State of the congestion control
    Tcp.structure("TCP_CC_INFO", 26, "union tcp_cc_info").read_only();
    /// Saves the SYN of each connection for TCP_SAVED_SYN
    Tcp.option("TCP_SAVE_SYN", 27, Number("", 0, 2));
    /// Saved SYN
    Tcp.structure("TCP_SAVED_SYN", 28, "headers").read_only();
    /// Windows of a connection under repair
    Tcp.structure("TCP_REPAIR_WINDOW", 29, "struct tcp_repair_window").privileged("CAP_NET_ADMIN");
    /// TCP Fast Open (client): connect() defers the SYN to the first write
    Tcp.flag("TCP_FASTOPEN_CONNECT", 30).key("fastopen_connect").only(&[SocketRole::Client]);
    /// Upper layer protocol in the kernel, such as `tls`
    Tcp.option("TCP_ULP", 31, Name);
    /// As TCP_MD5SIG, for a prefix of peers
    Tcp.structure("TCP_MD5SIG_EXT", 32, "struct tcp_md5sig").write_only();
    /// Secret key for TCP Fast Open cookies
    Tcp.structure("TCP_FASTOPEN_KEY", 33, "__u8 [16 or 32]");
    /// TCP Fast Open without cookies
    Tcp.flag("TCP_FASTOPEN_NO_COOKIE", 34);
    /// Maps received data into memory
    Tcp.structure("TCP_ZEROCOPY_RECEIVE", 35, "struct tcp_zerocopy_receive").read_only();
    /// Reports the remaining unread bytes with each read
    Tcp.flag("TCP_INQ", 36);
    /// Delays every packet by this time (needs the fq qdisc)
    Tcp.option("TCP_TX_DELAY", 37, Micros(0, MOST_TX_DELAY));
    /// Adds a TCP-AO key (RFC 5925)
    Tcp.structure("TCP_AO_ADD_KEY", 38, "struct tcp_ao_add").write_only();
    /// Deletes a TCP-AO key
    Tcp.structure("TCP_AO_DEL_KEY", 39, "struct tcp_ao_del").write_only();
    /// TCP-AO state
    Tcp.structure("TCP_AO_INFO", 40, "struct tcp_ao_info_opt");
    /// TCP-AO keys
    Tcp.structure("TCP_AO_GET_KEYS", 41, "struct tcp_ao_getsockopt").read_only();
    /// TCP-AO state under repair
    Tcp.structure("TCP_AO_REPAIR", 42, "struct tcp_ao_repair").privileged("CAP_NET_ADMIN");
    /// Whether the socket uses Multipath TCP
    Tcp.flag("TCP_IS_MPTCP", 43).read_only();
    /// Maximum retransmission timeout (Linux 6.15)
    Tcp.option("TCP_RTO_MAX_MS", 44, Millis(1_000, 120_000))
        .default_from("net.ipv4.tcp_rto_max_ms");
    /// Minimum retransmission timeout (Linux 6.15)
    Tcp.option("TCP_RTO_MIN_US", 45, Micros(LEAST_TICKS, 200_000))
        .default_from("net.ipv4.tcp_rto_min_us").adjusted(TICKS);
    /// Maximum delay of a delayed ACK (Linux 6.15)
    Tcp.option("TCP_DELACK_MAX_US", 46, Micros(LEAST_TICKS, 200_000)).adjusted(TICKS);
}
