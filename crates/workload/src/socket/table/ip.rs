//! `IPPROTO_IP`.

use crate::socket::option::Level::Ip;
use crate::socket::value::INT_MAX;
use crate::socket::value::Kind::{Number, Size};

define! {
    /// TOS byte of the IP header (upper six bits: DSCP)
    Ip.option("IP_TOS", 1, Number("", 0, 255)).key("ip_tos")
        .adjusted("the kernel keeps the lower two bits (ECN) of a TCP socket (ip_sock_set_tos)");
    /// Maximum number of hops (TTL); -1: the sysctl
    Ip.option("IP_TTL", 2, Number("hops", -1, 255)).default_from("net.ipv4.ip_default_ttl")
        .adjusted("0 is refused (EINVAL)");
    /// Written data include the IP header (raw sockets)
    Ip.flag("IP_HDRINCL", 3);
    /// IP options of every packet
    Ip.structure("IP_OPTIONS", 4, "IP options");
    /// Receives packets with the Router Alert option (raw sockets)
    Ip.flag("IP_ROUTER_ALERT", 5).write_only();
    /// Reports the IP options of each datagram
    Ip.flag("IP_RECVOPTS", 6);
    /// Reports the IP options unprocessed
    Ip.flag("IP_RETOPTS", 7);
    /// Reports interface and destination address of each datagram
    Ip.flag("IP_PKTINFO", 8);
    /// Path MTU discovery: 0 never, 1 per route, 2 always (DF), 3 probing
    Ip.option("IP_MTU_DISCOVER", 10, Number("", 0, 5));
    /// Queues ICMP errors for MSG_ERRQUEUE
    Ip.flag("IP_RECVERR", 11);
    /// Reports the remaining hops of each datagram
    Ip.flag("IP_RECVTTL", 12);
    /// Reports the TOS byte of each datagram
    Ip.flag("IP_RECVTOS", 13);
    /// Known path MTU (connected sockets)
    Ip.option("IP_MTU", 14, Size(0, INT_MAX as u64)).read_only();
    /// Allows bind() to an address that does not exist yet
    Ip.flag("IP_FREEBIND", 15);
    /// IPsec policy of this socket
    Ip.structure("IP_IPSEC_POLICY", 16, "struct sadb_x_policy").write_only()
        .privileged("CAP_NET_ADMIN");
    /// IPsec policy in Linux's format
    Ip.structure("IP_XFRM_POLICY", 17, "struct xfrm_userpolicy_info").write_only()
        .privileged("CAP_NET_ADMIN");
    /// Reports the security label of each datagram
    Ip.flag("IP_PASSSEC", 18);
    /// Accepts connections to foreign addresses (transparent proxy)
    Ip.flag("IP_TRANSPARENT", 19).privileged("CAP_NET_ADMIN or CAP_NET_RAW");
    /// Reports the original destination of each datagram
    Ip.flag("IP_RECVORIGDSTADDR", 20);
    /// Drops packets with fewer remaining hops
    Ip.option("IP_MINTTL", 21, Number("hops", 0, 255));
    /// Does not reassemble fragments (raw sockets)
    Ip.flag("IP_NODEFRAG", 22);
    /// Reports the checksum of each datagram
    Ip.flag("IP_CHECKSUM", 23);
    /// bind() to port 0 defers the port choice to connect()
    Ip.flag("IP_BIND_ADDRESS_NO_PORT", 24);
    /// Reports the largest fragment of each datagram
    Ip.flag("IP_RECVFRAGSIZE", 25);
    /// Queues ICMP errors with the extensions of RFC 4884
    Ip.flag("IP_RECVERR_RFC4884", 26);
    /// Interface for outgoing multicast
    Ip.structure("IP_MULTICAST_IF", 32, "struct ip_mreqn");
    /// Maximum number of hops of multicast
    Ip.option("IP_MULTICAST_TTL", 33, Number("hops", -1, 255));
    /// Loops own multicast back to this host
    Ip.flag("IP_MULTICAST_LOOP", 34);
    /// Joins a multicast group
    Ip.structure("IP_ADD_MEMBERSHIP", 35, "struct ip_mreqn").write_only();
    /// Leaves a multicast group
    Ip.structure("IP_DROP_MEMBERSHIP", 36, "struct ip_mreqn").write_only();
    /// Receives all groups that any socket of this host has joined
    Ip.flag("IP_MULTICAST_ALL", 49);
    /// Outgoing interface, by index
    Ip.count("IP_UNICAST_IF", 50);
    /// Local port range for connect(): upper and lower 16 bits
    Ip.option("IP_LOCAL_PORT_RANGE", 51, Number("", 0, 4_294_967_295))
        .adjusted("0 until it is set: net.ipv4.ip_local_port_range applies");
    /// Protocol number (raw sockets)
    Ip.count("IP_PROTOCOL", 52).read_only();
}
