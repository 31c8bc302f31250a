//! `IPPROTO_IP`.

use crate::socket::option::{Level, OptionInfo};
use crate::socket::value::{INT_MAX, Kind};

const fn row(name: &'static str, number: i32, kind: Kind, effect: &'static str) -> OptionInfo {
    OptionInfo::new(Level::Ip, name, number, kind, effect)
}

pub(super) const OPTIONS: &[OptionInfo] = &[
    row(
        "IP_TOS",
        1,
        Kind::Number("", 0, 255),
        "The second byte of the IP header: the class of service (DSCP, upper six bits)",
    )
    .key("ip_tos")
    .adjusted("of a TCP socket the lower two bits (ECN) are the kernel's (ip_sock_set_tos)"),
    row(
        "IP_TTL",
        2,
        Kind::Number("hops", -1, 255),
        "How many routers a packet passes at most; -1: as the sysctl says",
    )
    .default_from("net.ipv4.ip_default_ttl"),
    row("IP_HDRINCL", 3, Kind::Flag, "What is written has its IP header (raw sockets)"),
    row("IP_OPTIONS", 4, Kind::Structure("IP options"), "The options that every packet carries"),
    row("IP_ROUTER_ALERT", 5, Kind::Flag, "Gets packets that ask routers to look (raw sockets)")
        .write_only(),
    row("IP_RECVOPTS", 6, Kind::Flag, "Tells the IP options of each datagram"),
    row("IP_RETOPTS", 7, Kind::Flag, "The same, unprocessed"),
    row("IP_PKTINFO", 8, Kind::Flag, "Tells where each datagram came in, and to which address"),
    row(
        "IP_MTU_DISCOVER",
        10,
        Kind::Number("", 0, 5),
        "Whether packets may be fragmented: 0 yes, 1 as the route says, 2 never, 3 probing",
    ),
    row(
        "IP_RECVERR",
        11,
        Kind::Flag,
        "Keeps errors that come as ICMP, to be read with MSG_ERRQUEUE",
    ),
    row("IP_RECVTTL", 12, Kind::Flag, "Tells the hops that each datagram had left"),
    row("IP_RECVTOS", 13, Kind::Flag, "Tells the class of service of each datagram"),
    row(
        "IP_MTU",
        14,
        Kind::Size(0, INT_MAX as u64),
        "The path's MTU as it is known (connected sockets)",
    )
    .read_only(),
    row("IP_FREEBIND", 15, Kind::Flag, "Lets bind() take an address that is not there yet"),
    row("IP_IPSEC_POLICY", 16, Kind::Structure("struct sadb_x_policy"), "IPsec for this socket")
        .write_only()
        .privileged("CAP_NET_ADMIN"),
    row(
        "IP_XFRM_POLICY",
        17,
        Kind::Structure("struct xfrm_userpolicy_info"),
        "The same in Linux's own form",
    )
    .write_only()
    .privileged("CAP_NET_ADMIN"),
    row("IP_PASSSEC", 18, Kind::Flag, "Tells the security label of each datagram"),
    row("IP_TRANSPARENT", 19, Kind::Flag, "Takes connections to addresses that are not its own")
        .privileged("CAP_NET_ADMIN or CAP_NET_RAW"),
    row("IP_RECVORIGDSTADDR", 20, Kind::Flag, "Tells the address a datagram was sent to at first"),
    row("IP_MINTTL", 21, Kind::Number("hops", 0, 255), "Packets with fewer hops left are dropped"),
    row("IP_NODEFRAG", 22, Kind::Flag, "Fragments stay fragments (raw sockets)"),
    row("IP_CHECKSUM", 23, Kind::Flag, "Tells the checksum of each datagram"),
    row("IP_BIND_ADDRESS_NO_PORT", 24, Kind::Flag, "bind() to port 0 leaves the port to connect()"),
    row("IP_RECVFRAGSIZE", 25, Kind::Flag, "Tells the largest fragment of each datagram"),
    row("IP_RECVERR_RFC4884", 26, Kind::Flag, "Keeps errors with the extensions of RFC 4884"),
    row("IP_MULTICAST_IF", 32, Kind::Structure("struct ip_mreqn"), "Where multicast goes out"),
    row("IP_MULTICAST_TTL", 33, Kind::Number("hops", -1, 255), "How far multicast goes"),
    row("IP_MULTICAST_LOOP", 34, Kind::Flag, "Own multicast is heard on this host"),
    row("IP_ADD_MEMBERSHIP", 35, Kind::Structure("struct ip_mreqn"), "Joins a multicast group")
        .write_only(),
    row("IP_DROP_MEMBERSHIP", 36, Kind::Structure("struct ip_mreqn"), "Leaves it").write_only(),
    row(
        "IP_MULTICAST_ALL",
        49,
        Kind::Flag,
        "Hears all groups that anybody on this host has joined",
    ),
    row("IP_UNICAST_IF", 50, Kind::Number("", 0, INT_MAX), "Where packets go out, by number"),
    row(
        "IP_LOCAL_PORT_RANGE",
        51,
        Kind::Number("", 0, INT_MAX),
        "The ports that connect() chooses from: upper and lower 16 bits",
    )
    .adjusted("0 until it is set: as net.ipv4.ip_local_port_range says"),
    row("IP_PROTOCOL", 52, Kind::Number("", 0, INT_MAX), "The protocol (raw sockets)").read_only(),
];
