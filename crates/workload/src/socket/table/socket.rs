//! `SOL_SOCKET`, and what listen(2) is given.

use crate::socket::option::Level::{Listen, Socket};
use crate::socket::option::SocketRole;
use crate::socket::value::Kind::{Linger, Micros, Name, Number, Rate, Size, Time};
use crate::socket::value::{INT_MAX, Kind};

const ADMIN: &str = "CAP_NET_ADMIN of the initial user namespace";

/// What is asked for of a buffer; the kernel cuts it to what its limit allows.
const BUFFER: Kind = Kind::Size(1, INT_MAX as u64);

/// `SOCK_MIN_SNDBUF` and `SOCK_MIN_RCVBUF` (include/net/sock.h) for a `struct sk_buff` of 256
/// bytes (x86-64), bytes.
const LEAST_SEND: u64 = 4_608;
const LEAST_RECEIVE: u64 = 2_304;

define! {
    /// Debug flag; no effect in current TCP
    Socket.flag("SO_DEBUG", 1).privileged(ADMIN);
    /// Allows bind() to a port with connections in TIME-WAIT
    Socket.flag("SO_REUSEADDR", 2).key("reuseaddr");
    /// Socket type: 1 stream, 2 datagram
    Socket.count("SO_TYPE", 3).read_only();
    /// Pending error; reading clears it
    Socket.count("SO_ERROR", 4).read_only();
    /// Sends to directly connected hosts only, without gateways
    Socket.flag("SO_DONTROUTE", 5);
    /// Allows datagrams to broadcast addresses
    Socket.flag("SO_BROADCAST", 6);
    /// Send buffer size: written and not yet acknowledged data; autotuned unless set
    Socket.option("SO_SNDBUF", 7, BUFFER).key("sndbuf").default_from_part("net.ipv4.tcp_wmem", 1)
        .limited_by("net.core.wmem_max").doubled(LEAST_SEND)
        .later("once connected the buffer follows the window; TCP autotunes it unless it was set");
    /// Receive buffer size; about half is advertised as window; autotuned unless set
    Socket.option("SO_RCVBUF", 8, BUFFER).key("rcvbuf").default_from_part("net.ipv4.tcp_rmem", 1)
        .limited_by("net.core.rmem_max").doubled(LEAST_RECEIVE)
        .later("TCP autotunes it to the rate at which the application reads, unless it was set");
    /// Sends keep-alive probes to a peer that has been silent for TCP_KEEPIDLE
    Socket.flag("SO_KEEPALIVE", 9).key("keepalive");
    /// Keeps the urgent byte in the stream; otherwise only MSG_OOB reads it
    Socket.flag("SO_OOBINLINE", 10).key("oobinline");
    /// Sends UDP over IPv4 without a checksum
    Socket.flag("SO_NO_CHECK", 11);
    /// Queueing priority at the device
    Socket.count("SO_PRIORITY", 12).privileged("CAP_NET_ADMIN or CAP_NET_RAW, above 6");
    /// close() waits this long for all data to be acknowledged; 0 s: close() sends a RST
    Socket.option("SO_LINGER", 13, Linger).key("linger");
    /// Several sockets of one user share a port and its connections
    Socket.flag("SO_REUSEPORT", 15).key("reuseport");
    /// Reports the credentials of the sender
    Socket.flag("SO_PASSCRED", 16).adjusted("UNIX sockets only");
    /// Credentials of the peer of a UNIX socket
    Socket.structure("SO_PEERCRED", 17, "struct ucred").read_only();
    /// Minimum number of bytes for blocking reads and poll()
    Socket.option("SO_RCVLOWAT", 18, Size(1, INT_MAX as u64)).key("rcvlowat")
        .limited_by("net.ipv4.tcp_rmem")
        .adjusted("at most half the receive buffer, or half its maximum (tcp_set_rcvlowat)");
    /// Always 1 on Linux
    Socket.option("SO_SNDLOWAT", 19, Size(1, 1)).read_only();
    /// Read timeout; then EAGAIN
    Socket.option("SO_RCVTIMEO", 20, Time).key("rcvtimeo")
        .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)");
    /// Write timeout, then EAGAIN; connect() timeout, then EINPROGRESS
    Socket.option("SO_SNDTIMEO", 21, Time).key("sndtimeo")
        .adjusted("rounded up to ticks of the kernel's clock (CONFIG_HZ)");
    /// Binds to one network interface
    Socket.option("SO_BINDTODEVICE", 25, Name)
        .privileged("CAP_NET_RAW, to change it once it is set");
    /// Filters received packets with a classic BPF program
    Socket.structure("SO_ATTACH_FILTER", 26, "struct sock_fprog").write_only();
    /// Removes the filter
    Socket.count("SO_DETACH_FILTER", 27).write_only();
    /// Reports the arrival time with each read, in microseconds
    Socket.flag("SO_TIMESTAMP", 29);
    /// Whether the socket listens
    Socket.flag("SO_ACCEPTCONN", 30).read_only();
    /// SO_SNDBUF beyond net.core.wmem_max
    Socket.option("SO_SNDBUFFORCE", 32, BUFFER).key("sndbufforce").privileged(ADMIN)
        .doubled(LEAST_SEND).read_as(7);
    /// SO_RCVBUF beyond net.core.rmem_max
    Socket.option("SO_RCVBUFFORCE", 33, BUFFER).key("rcvbufforce").privileged(ADMIN)
        .doubled(LEAST_RECEIVE).read_as(8);
    /// As SO_TIMESTAMP, in nanoseconds
    Socket.flag("SO_TIMESTAMPNS", 35);
    /// Mark for routing rules and filters
    Socket.count("SO_MARK", 36).privileged("CAP_NET_ADMIN or CAP_NET_RAW");
    /// Which timestamps of a packet are reported, by which clock
    Socket.option("SO_TIMESTAMPING", 37, Number("flags", 0, INT_MAX));
    /// Protocol number: 6 TCP, 17 UDP
    Socket.count("SO_PROTOCOL", 38).read_only();
    /// Address family: 2 IPv4, 10 IPv6
    Socket.count("SO_DOMAIN", 39).read_only();
    /// Reports the number of dropped datagrams with each datagram
    Socket.flag("SO_RXQ_OVFL", 40);
    /// Reports whether the wireless LAN acknowledged a frame
    Socket.flag("SO_WIFI_STATUS", 41);
    /// Offset for MSG_PEEK; -1: the front
    Socket.option("SO_PEEK_OFF", 42, Number("B", -1, INT_MAX));
    /// The application provides the frame check sequence
    Socket.flag("SO_NOFCS", 43);
    /// Locks the filter
    Socket.flag("SO_LOCK_FILTER", 44);
    /// poll() reports the error queue as ready
    Socket.flag("SO_SELECT_ERR_QUEUE", 45);
    /// Reads busy-poll the device this long before sleeping
    Socket.option("SO_BUSY_POLL", 46, Micros(0, INT_MAX as u64)).default_from("net.core.busy_read");
    /// Maximum pacing rate (without the fq qdisc, counts data only)
    Socket.option("SO_MAX_PACING_RATE", 47, Rate).key("max_pacing_rate");
    /// Supported extensions of classic BPF
    Socket.count("SO_BPF_EXTENSIONS", 48).read_only();
    /// CPU that processes received packets
    Socket.option("SO_INCOMING_CPU", 49, Number("", -1, INT_MAX));
    /// 1: suspect the path, choose another route
    Socket.count("SO_CNX_ADVICE", 53).write_only();
    /// Memory use of the socket, as `ss -m` shows
    Socket.structure("SO_MEMINFO", 55, "__u32 [9]").read_only();
    /// Receive queue (NAPI) of the last packet
    Socket.count("SO_INCOMING_NAPI_ID", 56).read_only();
    /// Unique number of the socket
    Socket.structure("SO_COOKIE", 57, "__u64").read_only();
    /// Enables MSG_ZEROCOPY for send()
    Socket.flag("SO_ZEROCOPY", 60);
    /// Transmit time per datagram
    Socket.structure("SO_TXTIME", 61, "struct sock_txtime");
    /// Binds to one network interface by index
    Socket.count("SO_BINDTOIFINDEX", 62);
    /// Keeps device interrupts off while busy polling
    Socket.flag("SO_PREFER_BUSY_POLL", 69).privileged(ADMIN);
    /// Packets per busy poll
    Socket.option("SO_BUSY_POLL_BUDGET", 70, Number("packets", 0, 65_535))
        .privileged("CAP_NET_ADMIN of the initial user namespace, to raise it").write_only();
    /// Number of the network namespace
    Socket.structure("SO_NETNS_COOKIE", 71, "__u64").read_only();
    /// Buffers without autotuning: 1 send, 2 receive
    Socket.option("SO_BUF_LOCK", 72, Number("bits", 0, 3));
    /// Reserved memory, within a control group
    Socket.option("SO_RESERVE_MEM", 73, Size(0, 1 << 30));
    /// Chooses another route (new hash) on retransmission
    Socket.option("SO_TXREHASH", 74, Number("", -1, 1)).default_from("net.core.txrehash");
    /// Reports the mark of each packet
    Socket.flag("SO_RCVMARK", 75);
    /// Reports a pidfd of the sender
    Socket.flag("SO_PASSPIDFD", 76).adjusted("UNIX sockets only");
    /// Reports the priority of each packet (Linux 6.14)
    Socket.flag("SO_RCVPRIORITY", 82);
    /// Maximum number of connections waiting for accept()
    Listen.option("backlog", 0, Number("connections", 0, INT_MAX)).key("backlog")
        .limited_by("net.core.somaxconn").only(&[SocketRole::Listener]);
}
