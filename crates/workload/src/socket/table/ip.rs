//! `IPPROTO_IP`.

use crate::socket::option::{Level, OptionInfo};
use crate::socket::value::{INT_MAX, Kind};

const fn row(name: &'static str, number: i32, kind: Kind, effect: &'static str) -> OptionInfo {
    OptionInfo::new(Level::Ip, name, number, kind, effect)
}

pub(super) const OPTIONS: &[OptionInfo] = &[
    row("IP_TOS", 1, Kind::Number("", 0, 255), "TOS byte of the IP header (upper six bits: DSCP)")
        .key("ip_tos")
        .adjusted("the kernel keeps the lower two bits (ECN) of a TCP socket (ip_sock_set_tos)"),
    row("IP_TTL", 2, Kind::Number("hops", -1, 255), "Maximum number of hops (TTL); -1: the sysctl")
        .default_from("net.ipv4.ip_default_ttl"),
    row("IP_HDRINCL", 3, Kind::Flag, "Written data include the IP header (raw sockets)"),
    row("IP_OPTIONS", 4, Kind::Structure("IP options"), "IP options of every packet"),
    row(
        "IP_ROUTER_ALERT",
        5,
        Kind::Flag,
        "Receives packets with the Router Alert option (raw sockets)",
    )
    .write_only(),
    row("IP_RECVOPTS", 6, Kind::Flag, "Reports the IP options of each datagram"),
    row("IP_RETOPTS", 7, Kind::Flag, "Reports the IP options unprocessed"),
    row("IP_PKTINFO", 8, Kind::Flag, "Reports interface and destination address of each datagram"),
    row(
        "IP_MTU_DISCOVER",
        10,
        Kind::Number("", 0, 5),
        "Path MTU discovery: 0 never, 1 per route, 2 always (DF), 3 probing",
    ),
    row("IP_RECVERR", 11, Kind::Flag, "Queues ICMP errors for MSG_ERRQUEUE"),
    row("IP_RECVTTL", 12, Kind::Flag, "Reports the remaining hops of each datagram"),
    row("IP_RECVTOS", 13, Kind::Flag, "Reports the TOS byte of each datagram"),
    row("IP_MTU", 14, Kind::Size(0, INT_MAX as u64), "Known path MTU (connected sockets)")
        .read_only(),
    row("IP_FREEBIND", 15, Kind::Flag, "Allows bind() to an address that does not exist yet"),
    row(
        "IP_IPSEC_POLICY",
        16,
        Kind::Structure("struct sadb_x_policy"),
        "IPsec policy of this socket",
    )
    .write_only()
    .privileged("CAP_NET_ADMIN"),
    row(
        "IP_XFRM_POLICY",
        17,
        Kind::Structure("struct xfrm_userpolicy_info"),
        "IPsec policy in Linux's format",
    )
    .write_only()
    .privileged("CAP_NET_ADMIN"),
    row("IP_PASSSEC", 18, Kind::Flag, "Reports the security label of each datagram"),
    row(
        "IP_TRANSPARENT",
        19,
        Kind::Flag,
        "Accepts connections to foreign addresses (transparent proxy)",
    )
    .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row("IP_RECVORIGDSTADDR", 20, Kind::Flag, "Reports the original destination of each datagram"),
    row("IP_MINTTL", 21, Kind::Number("hops", 0, 255), "Drops packets with fewer remaining hops"),
    row("IP_NODEFRAG", 22, Kind::Flag, "Does not reassemble fragments (raw sockets)"),
    row("IP_CHECKSUM", 23, Kind::Flag, "Reports the checksum of each datagram"),
    row(
        "IP_BIND_ADDRESS_NO_PORT",
        24,
        Kind::Flag,
        "bind() to port 0 defers the port choice to connect()",
    ),
    row("IP_RECVFRAGSIZE", 25, Kind::Flag, "Reports the largest fragment of each datagram"),
    row("IP_RECVERR_RFC4884", 26, Kind::Flag, "Queues ICMP errors with the extensions of RFC 4884"),
    row(
        "IP_MULTICAST_IF",
        32,
        Kind::Structure("struct ip_mreqn"),
        "Interface for outgoing multicast",
    ),
    row(
        "IP_MULTICAST_TTL",
        33,
        Kind::Number("hops", -1, 255),
        "Maximum number of hops of multicast",
    ),
    row("IP_MULTICAST_LOOP", 34, Kind::Flag, "Loops own multicast back to this host"),
    row("IP_ADD_MEMBERSHIP", 35, Kind::Structure("struct ip_mreqn"), "Joins a multicast group")
        .write_only(),
    row("IP_DROP_MEMBERSHIP", 36, Kind::Structure("struct ip_mreqn"), "Leaves a multicast group")
        .write_only(),
    row(
        "IP_MULTICAST_ALL",
        49,
        Kind::Flag,
        "Receives all groups that any socket of this host has joined",
    ),
    row("IP_UNICAST_IF", 50, Kind::Number("", 0, INT_MAX), "Outgoing interface, by index"),
    row(
        "IP_LOCAL_PORT_RANGE",
        51,
        Kind::Number("", 0, INT_MAX),
        "Local port range for connect(): upper and lower 16 bits",
    )
    .adjusted("0 until it is set: net.ipv4.ip_local_port_range applies"),
    row("IP_PROTOCOL", 52, Kind::Number("", 0, INT_MAX), "Protocol number (raw sockets)")
        .read_only(),
];
