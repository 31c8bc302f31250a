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
        "Turns a socket with an IPv4 peer into one of IPv4",
    ),
    row(
        "IPV6_UNICAST_HOPS",
        16,
        Kind::Number("hops", -1, 255),
        "How many routers a packet passes at most; -1: as the sysctl says",
    )
    .default_from("net.ipv6.conf.default.hop_limit"),
    row("IPV6_MULTICAST_IF", 17, Kind::Number("", 0, INT_MAX), "Where multicast goes out"),
    row("IPV6_MULTICAST_HOPS", 18, Kind::Number("hops", -1, 255), "How far multicast goes"),
    row("IPV6_MULTICAST_LOOP", 19, Kind::Flag, "Own multicast is heard on this host"),
    row("IPV6_ADD_MEMBERSHIP", 20, Kind::Structure("struct ipv6_mreq"), "Joins a multicast group")
        .write_only(),
    row("IPV6_DROP_MEMBERSHIP", 21, Kind::Structure("struct ipv6_mreq"), "Leaves it").write_only(),
    row(
        "IPV6_MTU_DISCOVER",
        23,
        Kind::Number("", 0, 5),
        "How the path's MTU is found: 0 not, 1 as the route says, 2 always, 3 probing",
    ),
    row(
        "IPV6_MTU",
        24,
        Kind::Size(0, INT_MAX as u64),
        "The path's MTU as it is known (connected sockets)",
    ),
    row(
        "IPV6_RECVERR",
        25,
        Kind::Flag,
        "Keeps errors that come as ICMPv6, to be read with MSG_ERRQUEUE",
    ),
    row("IPV6_V6ONLY", 26, Kind::Flag, "Speaks IPv6 only, and leaves the port of IPv4 to others")
        .default_from("net.ipv6.bindv6only"),
    row("IPV6_FLOWINFO_SEND", 33, Kind::Flag, "The flow label comes with the address"),
    row(
        "IPV6_RECVPKTINFO",
        49,
        Kind::Flag,
        "Tells where each datagram came in, and to which address",
    ),
    row("IPV6_RECVHOPLIMIT", 51, Kind::Flag, "Tells the hops that each datagram had left"),
    row("IPV6_RECVHOPOPTS", 53, Kind::Flag, "Tells the hop-by-hop options of each datagram"),
    row("IPV6_RECVRTHDR", 56, Kind::Flag, "Tells the routing header of each datagram"),
    row("IPV6_RECVDSTOPTS", 58, Kind::Flag, "Tells the destination options of each datagram"),
    row("IPV6_RECVPATHMTU", 60, Kind::Flag, "Tells when the path's MTU changes"),
    row(
        "IPV6_PATHMTU",
        61,
        Kind::Structure("struct ip6_mtuinfo"),
        "The path's MTU (connected sockets)",
    )
    .read_only(),
    row("IPV6_DONTFRAG", 62, Kind::Flag, "Datagrams are never fragmented"),
    row("IPV6_RECVTCLASS", 66, Kind::Flag, "Tells the traffic class of each datagram"),
    row("IPV6_TCLASS", 67, Kind::Number("", -1, 255), "The traffic class: IP_TOS of IPv6"),
    row("IPV6_AUTOFLOWLABEL", 70, Kind::Flag, "Flow labels are made up from the connection")
        .default_from("net.ipv6.auto_flowlabels"),
    row(
        "IPV6_ADDR_PREFERENCES",
        72,
        Kind::Number("bits", 0, INT_MAX),
        "Which of its own addresses is chosen",
    ),
    row(
        "IPV6_MINHOPCOUNT",
        73,
        Kind::Number("hops", 0, 255),
        "Packets with fewer hops left are dropped",
    ),
    row(
        "IPV6_RECVORIGDSTADDR",
        74,
        Kind::Flag,
        "Tells the address a datagram was sent to at first",
    ),
    row("IPV6_TRANSPARENT", 75, Kind::Flag, "Takes connections to addresses that are not its own")
        .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row("IPV6_UNICAST_IF", 76, Kind::Number("", 0, INT_MAX), "Where packets go out, by number"),
    row("IPV6_RECVFRAGSIZE", 77, Kind::Flag, "Tells the largest fragment of each datagram"),
    row("IPV6_FREEBIND", 78, Kind::Flag, "Lets bind() take an address that is not there yet"),
];
