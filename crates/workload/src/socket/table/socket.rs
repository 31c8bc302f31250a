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
    row("SO_DEBUG", 1, Kind::Flag, "Marks the socket for debugging; modern TCP takes no notice")
        .privileged(ADMIN),
    row(
        "SO_REUSEADDR",
        2,
        Kind::Flag,
        "Lets bind() take a port whose old connections are still in TIME-WAIT",
    )
    .key("reuseaddr"),
    row("SO_TYPE", 3, Kind::Number("", 0, INT_MAX), "Stream (1), datagram (2) or another")
        .read_only(),
    row("SO_ERROR", 4, Kind::Number("", 0, INT_MAX), "The error that waits, which reading clears")
        .read_only(),
    row("SO_DONTROUTE", 5, Kind::Flag, "Sends to hosts of the own network only, past all gateways"),
    row("SO_BROADCAST", 6, Kind::Flag, "Lets datagrams go to a broadcast address"),
    row(
        "SO_SNDBUF",
        7,
        BUFFER,
        "How much memory what was written and not acknowledged may take; TCP tunes it until it is \
         set",
    )
    .key("sndbuf")
    .default_from_part("net.ipv4.tcp_wmem", 1)
    .limited_by("net.core.wmem_max")
    .doubled(LEAST_SEND)
    .later("once connected the buffer is made for the window, and TCP tunes it unless it was set"),
    row(
        "SO_RCVBUF",
        8,
        BUFFER,
        "How much memory what was not read may take: half of it, less or more, is the window that \
         is offered; TCP tunes it until it is set",
    )
    .key("rcvbuf")
    .default_from_part("net.ipv4.tcp_rmem", 1)
    .limited_by("net.core.rmem_max")
    .doubled(LEAST_RECEIVE)
    .later("TCP tunes it to what the application reads, unless it was set"),
    row(
        "SO_KEEPALIVE",
        9,
        Kind::Flag,
        "Asks a peer that has been silent for TCP_KEEPIDLE whether it is still there",
    )
    .key("keepalive"),
    row(
        "SO_OOBINLINE",
        10,
        Kind::Flag,
        "Leaves the urgent byte in the stream, where otherwise only MSG_OOB reads it",
    )
    .key("oobinline"),
    row("SO_NO_CHECK", 11, Kind::Flag, "Sends UDP over IPv4 without checksum"),
    row("SO_PRIORITY", 12, Kind::Number("", 0, INT_MAX), "The band of the queue at the device")
        .privileged("CAP_NET_ADMIN or CAP_NET_RAW, above 6"),
    row(
        "SO_LINGER",
        13,
        Kind::Linger,
        "close() waits as long for all to be acknowledged; with 0 s it breaks the connection off \
         with a RST",
    )
    .key("linger"),
    row(
        "SO_REUSEPORT",
        15,
        Kind::Flag,
        "Lets several sockets of one user share a port, and its load",
    )
    .key("reuseport"),
    row("SO_PASSCRED", 16, Kind::Flag, "Has a UNIX socket tell who sent")
        .adjusted("UNIX sockets only"),
    row(
        "SO_PEERCRED",
        17,
        Kind::Structure("struct ucred"),
        "Who is at the other end of a UNIX socket",
    )
    .read_only(),
    row(
        "SO_RCVLOWAT",
        18,
        Kind::Size(1, INT_MAX as u64),
        "Blocking reads and poll() wait for as many bytes",
    )
    .key("rcvlowat")
    .limited_by("net.ipv4.tcp_rmem")
    .adjusted(
        "never more than half the receive buffer, or of what it may grow to (tcp_set_rcvlowat)",
    ),
    row("SO_SNDLOWAT", 19, Kind::Size(1, 1), "Always 1 on Linux").read_only(),
    row("SO_RCVTIMEO", 20, Kind::Time, "Reads that wait longer fail with EAGAIN")
        .key("rcvtimeo")
        .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)"),
    row(
        "SO_SNDTIMEO",
        21,
        Kind::Time,
        "Writes, and connect(), that wait longer fail with EAGAIN or EINPROGRESS",
    )
    .key("sndtimeo")
    .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)"),
    row("SO_BINDTODEVICE", 25, Kind::Name, "Binds to one network interface")
        .privileged("CAP_NET_RAW, to change it once it is set"),
    row(
        "SO_ATTACH_FILTER",
        26,
        Kind::Structure("struct sock_fprog"),
        "Lets a classic BPF program choose what arrives",
    )
    .write_only(),
    row("SO_DETACH_FILTER", 27, Kind::Number("", 0, INT_MAX), "Takes that program away")
        .write_only(),
    row(
        "SO_TIMESTAMP",
        29,
        Kind::Flag,
        "Tells with each read when the packet came, to the microsecond",
    ),
    row("SO_ACCEPTCONN", 30, Kind::Flag, "Whether the socket listens").read_only(),
    row("SO_SNDBUFFORCE", 32, BUFFER, "SO_SNDBUF beyond what net.core.wmem_max allows")
        .key("sndbufforce")
        .privileged(ADMIN)
        .doubled(LEAST_SEND)
        .read_as(7),
    row("SO_RCVBUFFORCE", 33, BUFFER, "SO_RCVBUF beyond what net.core.rmem_max allows")
        .key("rcvbufforce")
        .privileged(ADMIN)
        .doubled(LEAST_RECEIVE)
        .read_as(8),
    row("SO_TIMESTAMPNS", 35, Kind::Flag, "As SO_TIMESTAMP, to the nanosecond"),
    row(
        "SO_MARK",
        36,
        Kind::Number("", 0, INT_MAX),
        "A number for routing rules and filters to see",
    )
    .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row(
        "SO_TIMESTAMPING",
        37,
        Kind::Number("flags", 0, INT_MAX),
        "Which moments of a packet are told, by whose clock",
    ),
    row("SO_PROTOCOL", 38, Kind::Number("", 0, INT_MAX), "TCP is 6, UDP 17").read_only(),
    row("SO_DOMAIN", 39, Kind::Number("", 0, INT_MAX), "IPv4 is 2, IPv6 10").read_only(),
    row("SO_RXQ_OVFL", 40, Kind::Flag, "Tells with each datagram how many the socket had to drop"),
    row(
        "SO_WIFI_STATUS",
        41,
        Kind::Flag,
        "Tells whether a frame was acknowledged by the wireless LAN",
    ),
    row(
        "SO_PEEK_OFF",
        42,
        Kind::Number("B", -1, INT_MAX),
        "Where MSG_PEEK begins; -1: at the front",
    ),
    row("SO_NOFCS", 43, Kind::Flag, "The sender gives the frame check sequence itself"),
    row("SO_LOCK_FILTER", 44, Kind::Flag, "Keeps the filter as it is"),
    row("SO_SELECT_ERR_QUEUE", 45, Kind::Flag, "poll() tells of the queue of errors"),
    row(
        "SO_BUSY_POLL",
        46,
        Kind::Micros(0, INT_MAX as u64),
        "Reads ask the device for so long before they sleep",
    )
    .default_from("net.core.busy_read"),
    row(
        "SO_MAX_PACING_RATE",
        47,
        Kind::Rate,
        "Never sends faster, packets spread out in time (without the queue fq, data alone counts)",
    )
    .key("max_pacing_rate"),
    row("SO_BPF_EXTENSIONS", 48, Kind::Number("", 0, INT_MAX), "Which extensions classic BPF has")
        .read_only(),
    row(
        "SO_INCOMING_CPU",
        49,
        Kind::Number("", -1, INT_MAX),
        "Which processor works on what arrives",
    ),
    row(
        "SO_CNX_ADVICE",
        53,
        Kind::Number("", 0, INT_MAX),
        "1: the way seems bad, look for another",
    )
    .write_only(),
    row("SO_MEMINFO", 55, Kind::Structure("__u32 [9]"), "The memory it takes, as `ss -m` shows")
        .read_only(),
    row(
        "SO_INCOMING_NAPI_ID",
        56,
        Kind::Number("", 0, INT_MAX),
        "Which queue of the device it last heard from",
    )
    .read_only(),
    row("SO_COOKIE", 57, Kind::Structure("__u64"), "A number that no other socket has").read_only(),
    row("SO_ZEROCOPY", 60, Kind::Flag, "Lets send() with MSG_ZEROCOPY leave data where it is"),
    row(
        "SO_TXTIME",
        61,
        Kind::Structure("struct sock_txtime"),
        "Each datagram says when it is to leave",
    ),
    row(
        "SO_BINDTOIFINDEX",
        62,
        Kind::Number("", 0, INT_MAX),
        "Binds to one network interface by number",
    ),
    row("SO_PREFER_BUSY_POLL", 69, Kind::Flag, "Interrupts stay off while somebody polls")
        .privileged(ADMIN),
    row(
        "SO_BUSY_POLL_BUDGET",
        70,
        Kind::Number("packets", 0, 65_535),
        "How many packets a poll takes",
    )
    .privileged("CAP_NET_ADMIN of the initial user namespace, to raise it")
    .write_only(),
    row("SO_NETNS_COOKIE", 71, Kind::Structure("__u64"), "The number of its network namespace")
        .read_only(),
    row(
        "SO_BUF_LOCK",
        72,
        Kind::Number("bits", 0, 3),
        "Which buffers were set and are not tuned: 1 send, 2 receive",
    ),
    row(
        "SO_RESERVE_MEM",
        73,
        Kind::Size(0, 1 << 30),
        "Memory that is kept for it, within a control group",
    ),
    row(
        "SO_TXREHASH",
        74,
        Kind::Number("", -1, 1),
        "Takes another way when a segment has to be repeated",
    )
    .default_from("net.core.txrehash"),
    row("SO_RCVMARK", 75, Kind::Flag, "Tells the mark of each packet"),
    row("SO_PASSPIDFD", 76, Kind::Flag, "Has a UNIX socket give a handle to who sent")
        .adjusted("UNIX sockets only"),
    row("SO_RCVPRIORITY", 82, Kind::Flag, "Tells the priority of each packet (Linux 6.14)"),
    OptionInfo::new(
        Level::Listen,
        "backlog",
        0,
        Kind::Number("connections", 0, INT_MAX),
        "How many connections wait for accept() before further ones are not let in",
    )
    .key("backlog")
    .limited_by("net.core.somaxconn")
    .only(&[SocketRole::Listener]),
];
