//! `IPPROTO_IPV6`.

use crate::socket::option::{Level, OptionInfo};
use crate::socket::value::{INT_MAX, Kind};

const fn row(name: &'static str, number: i32, kind: Kind, effect: &'static str) -> OptionInfo {
    OptionInfo::new(Level::Ipv6, name, number, kind, effect)
}

pub(super) const OPTIONS: &[OptionInfo] = &[
    row(
        "IPV6_ADDRFORM",
        1,
        Kind::Number("", 0, INT_MAX),
        "Converts a socket with an IPv4 peer to IPv4",
    ),
    row(
        "IPV6_UNICAST_HOPS",
        16,
        Kind::Number("hops", -1, 255),
        "Maximum number of hops (TTL); -1: the sysctl",
    )
    .default_from("net.ipv6.conf.default.hop_limit"),
    row("IPV6_MULTICAST_IF", 17, Kind::Number("", 0, INT_MAX), "Interface for outgoing multicast"),
    row(
        "IPV6_MULTICAST_HOPS",
        18,
        Kind::Number("hops", -1, 255),
        "Maximum number of hops of multicast",
    ),
    row("IPV6_MULTICAST_LOOP", 19, Kind::Flag, "Loops own multicast back to this host"),
    row("IPV6_ADD_MEMBERSHIP", 20, Kind::Structure("struct ipv6_mreq"), "Joins a multicast group")
        .write_only(),
    row(
        "IPV6_DROP_MEMBERSHIP",
        21,
        Kind::Structure("struct ipv6_mreq"),
        "Leaves a multicast group",
    )
    .write_only(),
    row(
        "IPV6_MTU_DISCOVER",
        23,
        Kind::Number("", 0, 5),
        "Path MTU discovery: 0 never, 1 per route, 2 always, 3 probing",
    ),
    row("IPV6_MTU", 24, Kind::Size(0, INT_MAX as u64), "Known path MTU (connected sockets)"),
    row("IPV6_RECVERR", 25, Kind::Flag, "Queues ICMPv6 errors for MSG_ERRQUEUE"),
    row("IPV6_V6ONLY", 26, Kind::Flag, "IPv6 only: another socket may use the same IPv4 port")
        .default_from("net.ipv6.bindv6only"),
    row("IPV6_FLOWINFO_SEND", 33, Kind::Flag, "Takes the flow label from the address"),
    row(
        "IPV6_RECVPKTINFO",
        49,
        Kind::Flag,
        "Reports interface and destination address of each datagram",
    ),
    row("IPV6_RECVHOPLIMIT", 51, Kind::Flag, "Reports the remaining hops of each datagram"),
    row("IPV6_RECVHOPOPTS", 53, Kind::Flag, "Reports the hop-by-hop options of each datagram"),
    row("IPV6_RECVRTHDR", 56, Kind::Flag, "Reports the routing header of each datagram"),
    row("IPV6_RECVDSTOPTS", 58, Kind::Flag, "Reports the destination options of each datagram"),
    row("IPV6_RECVPATHMTU", 60, Kind::Flag, "Reports changes of the path MTU"),
    row("IPV6_PATHMTU", 61, Kind::Structure("struct ip6_mtuinfo"), "Path MTU (connected sockets)")
        .read_only(),
    row("IPV6_DONTFRAG", 62, Kind::Flag, "Never fragments datagrams"),
    row("IPV6_RECVTCLASS", 66, Kind::Flag, "Reports the traffic class of each datagram"),
    row(
        "IPV6_TCLASS",
        67,
        Kind::Number("", -1, 255),
        "Traffic class of the IPv6 header (as IP_TOS)",
    ),
    row("IPV6_AUTOFLOWLABEL", 70, Kind::Flag, "Derives flow labels from the connection")
        .default_from("net.ipv6.auto_flowlabels"),
    row(
        "IPV6_ADDR_PREFERENCES",
        72,
        Kind::Number("bits", 0, INT_MAX),
        "Preferences for the source address",
    ),
    row(
        "IPV6_MINHOPCOUNT",
        73,
        Kind::Number("hops", 0, 255),
        "Drops packets with fewer remaining hops",
    ),
    row(
        "IPV6_RECVORIGDSTADDR",
        74,
        Kind::Flag,
        "Reports the original destination of each datagram",
    ),
    row(
        "IPV6_TRANSPARENT",
        75,
        Kind::Flag,
        "Accepts connections to foreign addresses (transparent proxy)",
    )
    .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row("IPV6_UNICAST_IF", 76, Kind::Number("", 0, INT_MAX), "Outgoing interface, by index"),
    row("IPV6_RECVFRAGSIZE", 77, Kind::Flag, "Reports the largest fragment of each datagram"),
    row("IPV6_FREEBIND", 78, Kind::Flag, "Allows bind() to an address that does not exist yet"),
];
