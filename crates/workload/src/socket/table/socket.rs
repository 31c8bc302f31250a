//! `SOL_SOCKET`, and what listen(2) is given.

use crate::socket::option::{Level, OptionInfo, SocketRole};
use crate::socket::value::{INT_MAX, Kind};

const ADMIN: &str = "CAP_NET_ADMIN of the initial user namespace";

const fn row(name: &'static str, number: i32, kind: Kind, effect: &'static str) -> OptionInfo {
    OptionInfo::new(Level::Socket, name, number, kind, effect)
}

/// What is asked for of a buffer; the kernel cuts it to what its limit allows.
const BUFFER: Kind = Kind::Size(1, INT_MAX as u64);

/// `SOCK_MIN_SNDBUF` and `SOCK_MIN_RCVBUF` (include/net/sock.h) for a `struct sk_buff` of 256
/// bytes (x86-64), bytes.
const LEAST_SEND: u64 = 4_608;
const LEAST_RECEIVE: u64 = 2_304;

pub(super) const OPTIONS: &[OptionInfo] = &[
    row("SO_DEBUG", 1, Kind::Flag, "Debug flag; no effect in current TCP").privileged(ADMIN),
    row("SO_REUSEADDR", 2, Kind::Flag, "Allows bind() to a port with connections in TIME-WAIT")
        .key("reuseaddr"),
    row("SO_TYPE", 3, Kind::Number("", 0, INT_MAX), "Socket type: 1 stream, 2 datagram")
        .read_only(),
    row("SO_ERROR", 4, Kind::Number("", 0, INT_MAX), "Pending error; reading clears it")
        .read_only(),
    row("SO_DONTROUTE", 5, Kind::Flag, "Sends to directly connected hosts only, without gateways"),
    row("SO_BROADCAST", 6, Kind::Flag, "Allows datagrams to broadcast addresses"),
    row(
        "SO_SNDBUF",
        7,
        BUFFER,
        "Send buffer size: written and not yet acknowledged data; autotuned unless set",
    )
    .key("sndbuf")
    .default_from_part("net.ipv4.tcp_wmem", 1)
    .limited_by("net.core.wmem_max")
    .doubled(LEAST_SEND)
    .later("once connected the buffer follows the window; TCP autotunes it unless it was set"),
    row(
        "SO_RCVBUF",
        8,
        BUFFER,
        "Receive buffer size; about half is advertised as window; autotuned unless set",
    )
    .key("rcvbuf")
    .default_from_part("net.ipv4.tcp_rmem", 1)
    .limited_by("net.core.rmem_max")
    .doubled(LEAST_RECEIVE)
    .later("TCP autotunes it to the rate at which the application reads, unless it was set"),
    row(
        "SO_KEEPALIVE",
        9,
        Kind::Flag,
        "Sends keep-alive probes to a peer that has been silent for TCP_KEEPIDLE",
    )
    .key("keepalive"),
    row(
        "SO_OOBINLINE",
        10,
        Kind::Flag,
        "Keeps the urgent byte in the stream; otherwise only MSG_OOB reads it",
    )
    .key("oobinline"),
    row("SO_NO_CHECK", 11, Kind::Flag, "Sends UDP over IPv4 without a checksum"),
    row("SO_PRIORITY", 12, Kind::Number("", 0, INT_MAX), "Queueing priority at the device")
        .privileged("CAP_NET_ADMIN or CAP_NET_RAW, above 6"),
    row(
        "SO_LINGER",
        13,
        Kind::Linger,
        "close() waits this long for all data to be acknowledged; 0 s: close() sends a RST",
    )
    .key("linger"),
    row(
        "SO_REUSEPORT",
        15,
        Kind::Flag,
        "Several sockets of one user share a port and its connections",
    )
    .key("reuseport"),
    row("SO_PASSCRED", 16, Kind::Flag, "Reports the credentials of the sender")
        .adjusted("UNIX sockets only"),
    row(
        "SO_PEERCRED",
        17,
        Kind::Structure("struct ucred"),
        "Credentials of the peer of a UNIX socket",
    )
    .read_only(),
    row(
        "SO_RCVLOWAT",
        18,
        Kind::Size(1, INT_MAX as u64),
        "Minimum number of bytes for blocking reads and poll()",
    )
    .key("rcvlowat")
    .limited_by("net.ipv4.tcp_rmem")
    .adjusted("at most half the receive buffer, or half its maximum (tcp_set_rcvlowat)"),
    row("SO_SNDLOWAT", 19, Kind::Size(1, 1), "Always 1 on Linux").read_only(),
    row("SO_RCVTIMEO", 20, Kind::Time, "Read timeout; then EAGAIN")
        .key("rcvtimeo")
        .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)"),
    row(
        "SO_SNDTIMEO",
        21,
        Kind::Time,
        "Write timeout, then EAGAIN; connect() timeout, then EINPROGRESS",
    )
    .key("sndtimeo")
    .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)"),
    row("SO_BINDTODEVICE", 25, Kind::Name, "Binds to one network interface")
        .privileged("CAP_NET_RAW, to change it once it is set"),
    row(
        "SO_ATTACH_FILTER",
        26,
        Kind::Structure("struct sock_fprog"),
        "Filters received packets with a classic BPF program",
    )
    .write_only(),
    row("SO_DETACH_FILTER", 27, Kind::Number("", 0, INT_MAX), "Removes the filter").write_only(),
    row("SO_TIMESTAMP", 29, Kind::Flag, "Reports the arrival time with each read, in microseconds"),
    row("SO_ACCEPTCONN", 30, Kind::Flag, "Whether the socket listens").read_only(),
    row("SO_SNDBUFFORCE", 32, BUFFER, "SO_SNDBUF beyond net.core.wmem_max")
        .key("sndbufforce")
        .privileged(ADMIN)
        .doubled(LEAST_SEND)
        .read_as(7),
    row("SO_RCVBUFFORCE", 33, BUFFER, "SO_RCVBUF beyond net.core.rmem_max")
        .key("rcvbufforce")
        .privileged(ADMIN)
        .doubled(LEAST_RECEIVE)
        .read_as(8),
    row("SO_TIMESTAMPNS", 35, Kind::Flag, "As SO_TIMESTAMP, in nanoseconds"),
    row("SO_MARK", 36, Kind::Number("", 0, INT_MAX), "Mark for routing rules and filters")
        .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row(
        "SO_TIMESTAMPING",
        37,
        Kind::Number("flags", 0, INT_MAX),
        "Which timestamps of a packet are reported, by which clock",
    ),
    row("SO_PROTOCOL", 38, Kind::Number("", 0, INT_MAX), "Protocol number: 6 TCP, 17 UDP")
        .read_only(),
    row("SO_DOMAIN", 39, Kind::Number("", 0, INT_MAX), "Address family: 2 IPv4, 10 IPv6")
        .read_only(),
    row(
        "SO_RXQ_OVFL",
        40,
        Kind::Flag,
        "Reports the number of dropped datagrams with each datagram",
    ),
    row("SO_WIFI_STATUS", 41, Kind::Flag, "Reports whether the wireless LAN acknowledged a frame"),
    row("SO_PEEK_OFF", 42, Kind::Number("B", -1, INT_MAX), "Offset for MSG_PEEK; -1: the front"),
    row("SO_NOFCS", 43, Kind::Flag, "The application provides the frame check sequence"),
    row("SO_LOCK_FILTER", 44, Kind::Flag, "Locks the filter"),
    row("SO_SELECT_ERR_QUEUE", 45, Kind::Flag, "poll() reports the error queue as ready"),
    row(
        "SO_BUSY_POLL",
        46,
        Kind::Micros(0, INT_MAX as u64),
        "Reads busy-poll the device this long before sleeping",
    )
    .default_from("net.core.busy_read"),
    row(
        "SO_MAX_PACING_RATE",
        47,
        Kind::Rate,
        "Maximum pacing rate (without the fq qdisc, counts data only)",
    )
    .key("max_pacing_rate"),
    row(
        "SO_BPF_EXTENSIONS",
        48,
        Kind::Number("", 0, INT_MAX),
        "Supported extensions of classic BPF",
    )
    .read_only(),
    row(
        "SO_INCOMING_CPU",
        49,
        Kind::Number("", -1, INT_MAX),
        "CPU that processes received packets",
    ),
    row(
        "SO_CNX_ADVICE",
        53,
        Kind::Number("", 0, INT_MAX),
        "1: suspect the path, choose another route",
    )
    .write_only(),
    row(
        "SO_MEMINFO",
        55,
        Kind::Structure("__u32 [9]"),
        "Memory use of the socket, as `ss -m` shows",
    )
    .read_only(),
    row(
        "SO_INCOMING_NAPI_ID",
        56,
        Kind::Number("", 0, INT_MAX),
        "Receive queue (NAPI) of the last packet",
    )
    .read_only(),
    row("SO_COOKIE", 57, Kind::Structure("__u64"), "Unique number of the socket").read_only(),
    row("SO_ZEROCOPY", 60, Kind::Flag, "Enables MSG_ZEROCOPY for send()"),
    row("SO_TXTIME", 61, Kind::Structure("struct sock_txtime"), "Transmit time per datagram"),
    row(
        "SO_BINDTOIFINDEX",
        62,
        Kind::Number("", 0, INT_MAX),
        "Binds to one network interface by index",
    ),
    row("SO_PREFER_BUSY_POLL", 69, Kind::Flag, "Keeps device interrupts off while busy polling")
        .privileged(ADMIN),
    row("SO_BUSY_POLL_BUDGET", 70, Kind::Number("packets", 0, 65_535), "Packets per busy poll")
        .privileged("CAP_NET_ADMIN of the initial user namespace, to raise it")
        .write_only(),
    row("SO_NETNS_COOKIE", 71, Kind::Structure("__u64"), "Number of the network namespace")
        .read_only(),
    row(
        "SO_BUF_LOCK",
        72,
        Kind::Number("bits", 0, 3),
        "Buffers without autotuning: 1 send, 2 receive",
    ),
    row("SO_RESERVE_MEM", 73, Kind::Size(0, 1 << 30), "Reserved memory, within a control group"),
    row(
        "SO_TXREHASH",
        74,
        Kind::Number("", -1, 1),
        "Chooses another route (new hash) on retransmission",
    )
    .default_from("net.core.txrehash"),
    row("SO_RCVMARK", 75, Kind::Flag, "Reports the mark of each packet"),
    row("SO_PASSPIDFD", 76, Kind::Flag, "Reports a pidfd of the sender")
        .adjusted("UNIX sockets only"),
    row("SO_RCVPRIORITY", 82, Kind::Flag, "Reports the priority of each packet (Linux 6.14)"),
    OptionInfo::new(
        Level::Listen,
        "backlog",
        0,
        Kind::Number("connections", 0, INT_MAX),
        "Maximum number of connections waiting for accept()",
    )
    .key("backlog")
    .limited_by("net.core.somaxconn")
    .only(&[SocketRole::Listener]),
];
