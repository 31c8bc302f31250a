//! The few things tcplab asks of rtnetlink(7), synchronously: namespaces belong to threads, and
//! so must the sockets that speak of them.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::RawFd;

#[cfg(test)]
use netlink_packet_core::Emitable;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use crate::netlink_message::{Answer, Link, Request};

/// Speaks for the network namespace of the thread that opened it.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// What is settable of an interface here.
#[derive(Debug, Default)]
pub(crate) struct LinkSettings {
    pub(crate) mtu: Option<u32>,
    pub(crate) queue_len: Option<u32>,
    /// No ARP: the other end of the wire is always the same.
    pub(crate) no_arp: bool,
    /// The hardware address.
    pub(crate) mac: Option<[u8; 6]>,
    /// How many segments the kernel may hand over in one piece.
    pub(crate) segments: Option<u32>,
}

/// A route to be added.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    /// A network and the length of its prefix.
    pub(crate) destination: (Ipv4Addr, u8),
    pub(crate) way: Way,
    pub(crate) priority: u32,
    /// What connections that take it have from their first packet on, unless their program asks for
    /// something else.
    pub(crate) metrics: Vec<RouteMetric>,
}

/// Where a route leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// Through the interface `out` to a gateway.
    Gateway { out: u32, gateway: Ipv4Addr },
    /// To the network of the interface `out`, whose address there is `source`: in place of the
    /// route that came with the address.
    Link { out: u32, source: Ipv4Addr },
    /// Unreachable: senders get an ICMP error.
    Nowhere,
}

impl Route {
    fn message(&self) -> RouteMessage {
        let (destination, prefix_len) = self.destination;
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = prefix_len;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        let attributes = &mut message.attributes;
        if prefix_len > 0 {
            attributes.push(RouteAttribute::Destination(RouteAddress::Inet(destination)));
        }
        match self.way {
            Way::Gateway { out, gateway } => {
                attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(gateway)));
                attributes.push(RouteAttribute::Oif(out));
            }
            Way::Link { out, source } => {
                attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(source)));
                attributes.push(RouteAttribute::Oif(out));
                message.header.protocol = RouteProtocol::Kernel;
                message.header.scope = RouteScope::Link;
            }
            Way::Nowhere => message.header.kind = RouteType::Unreachable,
        }
        attributes.push(RouteAttribute::Priority(self.priority));
        if !self.metrics.is_empty() {
            attributes.push(RouteAttribute::Metrics(self.metrics.clone()));
        }
        message
    }

    /// The message without its header.
    #[cfg(test)]
    pub(crate) fn message_bytes(&self) -> Vec<u8> {
        let message = self.message();
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        bytes
    }
}

/// An interface.
#[expect(clippy::struct_excessive_bools, reason = "the kernel's own flags, each for itself")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) index: u32,
    pub(crate) mtu: u32,
    pub(crate) is_up: bool,
    pub(crate) is_loopback: bool,
    pub(crate) is_ethernet: bool,
    pub(crate) is_in_bridge: bool,
}

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Netlink> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Applies `settings` to the interface `index` and takes it up.
    pub(crate) fn set_up(&mut self, index: u32, settings: &LinkSettings) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        if settings.no_arp {
            message.header.flags |= LinkFlags::Noarp;
            message.header.change_mask |= LinkFlags::Noarp;
        }
        message.attributes.extend(settings.mtu.map(LinkAttribute::Mtu));
        message.attributes.extend(settings.queue_len.map(LinkAttribute::TxQueueLen));
        message.attributes.extend(settings.mac.map(|mac| LinkAttribute::Address(mac.to_vec())));
        message.attributes.extend(settings.segments.map(LinkAttribute::GsoMaxSegs));
        self.ask(Request::Link(libc::RTM_SETLINK, message), 0)
    }

    /// Gives the interface `index` an address in a network of `prefix_len` bits.
    pub(crate) fn add_address(
        &mut self,
        index: u32,
        address: impl Into<IpAddr>,
        prefix_len: u8,
    ) -> io::Result<()> {
        let address = address.into();
        let mut message = AddressMessage::default();
        message.header.family = family_of(address);
        message.header.prefix_len = prefix_len;
        message.header.index = index;
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.ask(Request::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a route. Of two to the same place the one with the lower `priority` holds.
    pub(crate) fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let flags = match route.way {
            Way::Gateway { .. } | Way::Nowhere => NLM_F_CREATE | NLM_F_EXCL,
            Way::Link { .. } => NLM_F_CREATE | NLM_F_REPLACE,
        };
        self.ask(Request::Route(libc::RTM_NEWROUTE, route.message()), flags)
    }

    /// Adds a route to the network of `prefix_len` bits that `destination` is in, through the
    /// interface `out`.
    pub(crate) fn add_network(
        &mut self,
        (destination, prefix_len): (IpAddr, u8),
        out: u32,
        gateway: Option<IpAddr>,
    ) -> io::Result<()> {
        let address = |address| match address {
            IpAddr::V4(address) => RouteAddress::Inet(address),
            IpAddr::V6(address) => RouteAddress::Inet6(address),
        };
        let mut message = RouteMessage::default();
        message.header.address_family = family_of(destination);
        message.header.destination_prefix_length = prefix_len;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Boot;
        message.header.scope =
            if gateway.is_some() { RouteScope::Universe } else { RouteScope::Link };
        message.header.kind = RouteType::Unicast;
        message.attributes =
            vec![RouteAttribute::Destination(address(destination)), RouteAttribute::Oif(out)];
        message.attributes.extend(gateway.map(address).map(RouteAttribute::Gateway));
        self.ask(Request::Route(libc::RTM_NEWROUTE, message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// The metrics of the route that packets to `destination` take.
    pub(crate) fn metrics_to(&mut self, destination: Ipv4Addr) -> io::Result<Vec<RouteMetric>> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = 32;
        message.attributes = vec![RouteAttribute::Destination(RouteAddress::Inet(destination))];
        match self.exchange(Request::Route(libc::RTM_GETROUTE, message), 0)? {
            NetlinkPayload::InnerMessage(Answer::Route(route)) => {
                let metrics = route.attributes.into_iter().find_map(|attribute| match attribute {
                    RouteAttribute::Metrics(metrics) => Some(metrics),
                    _ => None,
                });
                Ok(metrics.unwrap_or_default())
            }
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("unexpected netlink answer {other:?}"))),
        }
    }

    /// Makes a veth pair: `name` with the hardware address `mac` here, `peer` in the network
    /// namespace that `peer_namespace` refers to.
    pub(crate) fn add_veth(
        &mut self,
        name: &str,
        mac: [u8; 6],
        peer: &str,
        peer_namespace: RawFd,
    ) -> io::Result<()> {
        let mut other = LinkMessage::default();
        other.attributes =
            vec![LinkAttribute::IfName(peer.into()), LinkAttribute::NetNsFd(peer_namespace)];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::Address(mac.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
            ]),
        ];
        self.ask(Request::Link(libc::RTM_NEWLINK, message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Takes the interface `index` away, and with it the other end of a pair.
    pub(crate) fn delete(&mut self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.ask(Request::Link(libc::RTM_DELLINK, message), 0)
    }

    /// Whether the interface `index` has a carrier and the kernel acts upon it.
    ///
    /// It notices that both ends of a veth pair are up some time after they are, and drops silently
    /// what is sent until then; this state and the queue for what is sent change in one step, under
    /// the lock that this answer takes, too (net/core/link_watch.c, `linkwatch_do_dev`).
    pub(crate) fn is_operational(&mut self, index: u32) -> io::Result<bool> {
        Ok(self.link(index)?.operational_state == Some(u8::from(State::Up)))
    }

    /// The interface `index`.
    pub(crate) fn interface(&mut self, index: u32) -> io::Result<Interface> {
        let link = self.link(index)?;
        Ok(Interface {
            index,
            mtu: link.mtu.unwrap_or_default(),
            is_up: link.flags.contains(LinkFlags::Up),
            is_loopback: link.flags.contains(LinkFlags::Loopback),
            is_ethernet: link.hardware == libc::ARPHRD_ETHER,
            is_in_bridge: link.has_controller,
        })
    }

    fn link(&mut self, index: u32) -> io::Result<Link> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        match self.exchange(Request::Link(libc::RTM_GETLINK, message), 0)? {
            NetlinkPayload::InnerMessage(Answer::Link(link)) => Ok(link),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("unexpected netlink answer {other:?}"))),
        }
    }

    /// Sends one request and waits for its acknowledgement.
    fn ask(&mut self, request: Request, flags: u16) -> io::Result<()> {
        match self.exchange(request, NLM_F_ACK | flags)? {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            NetlinkPayload::Error(_) => Ok(()),
            other => Err(io::Error::other(format!("unexpected netlink answer {other:?}"))),
        }
    }

    /// Sends one request and waits for its answer.
    fn exchange(&mut self, request: Request, flags: u16) -> io::Result<NetlinkPayload<Answer>> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<Answer>::deserialize(&answer)
            .map_err(|e| io::Error::other(e.to_string()))?;
        Ok(answer.payload)
    }
}
