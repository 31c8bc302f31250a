//! `IPPROTO_IPV6`.

use crate::socket::option::Level::Ipv6;
use crate::socket::value::INT_MAX;
use crate::socket::value::Kind::{Number, Size};

define! {
    /// Converts a socket with an IPv4 peer to IPv4
    Ipv6.count("IPV6_ADDRFORM", 1);
    /// Maximum number of hops (TTL); -1: the sysctl
    Ipv6.option("IPV6_UNICAST_HOPS", 16, Number("hops", -1, 255))
        .default_from("net.ipv6.conf.default.hop_limit");
    /// Interface for outgoing multicast
    Ipv6.count("IPV6_MULTICAST_IF", 17);
    /// Maximum number of hops of multicast
    Ipv6.option("IPV6_MULTICAST_HOPS", 18, Number("hops", -1, 255));
    /// Loops own multicast back to this host
    Ipv6.flag("IPV6_MULTICAST_LOOP", 19);
    /// Joins a multicast group
    Ipv6.structure("IPV6_ADD_MEMBERSHIP", 20, "struct ipv6_mreq").write_only();
    /// Leaves a multicast group
    Ipv6.structure("IPV6_DROP_MEMBERSHIP", 21, "struct ipv6_mreq").write_only();
    /// Path MTU discovery: 0 never, 1 per route, 2 always, 3 probing
    Ipv6.option("IPV6_MTU_DISCOVER", 23, Number("", 0, 5));
    /// Known path MTU (connected sockets)
    Ipv6.option("IPV6_MTU", 24, Size(0, INT_MAX as u64));
    /// Queues ICMPv6 errors for MSG_ERRQUEUE
    Ipv6.flag("IPV6_RECVERR", 25);
    /// IPv6 only: another socket may use the same IPv4 port
    Ipv6.flag("IPV6_V6ONLY", 26).default_from("net.ipv6.bindv6only");
    /// Takes the flow label from the address
    Ipv6.flag("IPV6_FLOWINFO_SEND", 33);
    /// Reports interface and destination address of each datagram
    Ipv6.flag("IPV6_RECVPKTINFO", 49);
    /// Reports the remaining hops of each datagram
    Ipv6.flag("IPV6_RECVHOPLIMIT", 51);
    /// Reports the hop-by-hop options of each datagram
    Ipv6.flag("IPV6_RECVHOPOPTS", 53);
    /// Reports the routing header of each datagram
    Ipv6.flag("IPV6_RECVRTHDR", 56);
    /// Reports the destination options of each datagram
    Ipv6.flag("IPV6_RECVDSTOPTS", 58);
    /// Reports changes of the path MTU
    Ipv6.flag("IPV6_RECVPATHMTU", 60);
    /// Path MTU (connected sockets)
    Ipv6.structure("IPV6_PATHMTU", 61, "struct ip6_mtuinfo").read_only();
    /// Never fragments datagrams
    Ipv6.flag("IPV6_DONTFRAG", 62);
    /// Reports the traffic class of each datagram
    Ipv6.flag("IPV6_RECVTCLASS", 66);
    /// Traffic class of the IPv6 header (as IP_TOS)
    Ipv6.option("IPV6_TCLASS", 67, Number("", -1, 255));
    /// Derives flow labels from the connection
    Ipv6.flag("IPV6_AUTOFLOWLABEL", 70).default_from("net.ipv6.auto_flowlabels");
    /// Preferences for the source address
    Ipv6.option("IPV6_ADDR_PREFERENCES", 72, Number("bits", 0, INT_MAX));
    /// Drops packets with fewer remaining hops
    Ipv6.option("IPV6_MINHOPCOUNT", 73, Number("hops", 0, 255));
    /// Reports the original destination of each datagram
    Ipv6.flag("IPV6_RECVORIGDSTADDR", 74);
    /// Accepts connections to foreign addresses (transparent proxy)
    Ipv6.flag("IPV6_TRANSPARENT", 75).privileged("CAP_NET_ADMIN or CAP_NET_RAW");
    /// Outgoing interface, by index
    Ipv6.count("IPV6_UNICAST_IF", 76);
    /// Reports the largest fragment of each datagram
    Ipv6.flag("IPV6_RECVFRAGSIZE", 77);
    /// Allows bind() to an address that does not exist yet
    Ipv6.flag("IPV6_FREEBIND", 78);
}
