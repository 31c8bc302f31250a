//! The messages of rtnetlink(7) that tcplab sends, and those that it is answered. The library's
//! `RouteNetlinkMessage` reads and writes all that there are, which would make the program a
//! hundredth larger.

use netlink_packet_core::{
    DecodeError, Emitable, NetlinkDeserializable, NetlinkHeader, NetlinkPayload,
    NetlinkSerializable, NlasIterator, Parseable,
};
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::RouteMessage;

/// What is asked: the type of message (`RTM_…`), where there are several, and the message.
#[derive(Debug)]
pub(crate) enum Request {
    Link(u16, LinkMessage),
    NewAddress(AddressMessage),
    Route(u16, RouteMessage),
}

impl NetlinkSerializable for Request {
    fn message_type(&self) -> u16 {
        match self {
            Request::Link(kind, _) | Request::Route(kind, _) => *kind,
            Request::NewAddress(_) => libc::RTM_NEWADDR,
        }
    }

    fn buffer_len(&self) -> usize {
        match self {
            Request::Link(_, message) => message.buffer_len(),
            Request::NewAddress(message) => message.buffer_len(),
            Request::Route(_, message) => message.buffer_len(),
        }
    }

    fn serialize(&self, buffer: &mut [u8]) {
        match self {
            Request::Link(_, message) => message.emit(buffer),
            Request::NewAddress(message) => message.emit(buffer),
            Request::Route(_, message) => message.emit(buffer),
        }
    }
}

impl From<Request> for NetlinkPayload<Request> {
    fn from(request: Request) -> NetlinkPayload<Request> {
        NetlinkPayload::InnerMessage(request)
    }
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Link(Link),
    Route(RouteMessage),
}

/// What is read of an interface (`struct ifinfomsg`, and attributes `IFLA_…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The hardware, as ARP names it (`ARPHRD_…`).
    pub(crate) hardware: u16,
    pub(crate) flags: LinkFlags,
    pub(crate) mtu: Option<u32>,
    /// `IF_OPER_…` (RFC 2863, ifOperStatus).
    pub(crate) operational_state: Option<u8>,
    /// Whether it is a part of another, such as a bridge.
    pub(crate) has_controller: bool,
}

/// The bytes of `struct ifinfomsg`.
const LINK_HEADER: usize = 16;

impl Link {
    fn parse(payload: &[u8]) -> Result<Link, DecodeError> {
        let Some((header, attributes)) = payload.split_first_chunk::<LINK_HEADER>() else {
            return Err("an interface's header is cut".into());
        };
        let [_, _, one, other, _, _, _, _, a, b, c, d, ..] = *header;
        let mut link = Link {
            hardware: u16::from_ne_bytes([one, other]),
            flags: LinkFlags::from_bits_retain(u32::from_ne_bytes([a, b, c, d])),
            mtu: None,
            operational_state: None,
            has_controller: false,
        };
        for attribute in NlasIterator::new(attributes) {
            let attribute = attribute?;
            match attribute.kind() {
                libc::IFLA_MTU => {
                    link.mtu = attribute.value().try_into().ok().map(u32::from_ne_bytes);
                }
                libc::IFLA_OPERSTATE => link.operational_state = attribute.value().first().copied(),
                libc::IFLA_MASTER => link.has_controller = true,
                _ => {}
            }
        }
        Ok(link)
    }
}

impl NetlinkDeserializable for Answer {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Answer, DecodeError> {
        match header.message_type {
            libc::RTM_NEWLINK => Link::parse(payload).map(Answer::Link),
            libc::RTM_NEWROUTE => RouteMessage::parse(payload).map(Answer::Route),
            kind => Err(format!("a message of type {kind} answers nothing that was asked").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::link::{LinkAttribute, LinkLayerType, State};

    use super::*;

    #[test]
    fn interface_is_read_as_the_library_writes_it() {
        let mut message = LinkMessage::default();
        message.header.link_layer_type = LinkLayerType::Ether;
        message.header.index = 7;
        message.header.flags = LinkFlags::Up | LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Loopback;
        let bytes = |message: &LinkMessage| {
            let mut bytes = vec![0; message.buffer_len()];
            message.emit(&mut bytes);
            bytes
        };
        let bare = Link {
            hardware: libc::ARPHRD_ETHER,
            flags: LinkFlags::Up | LinkFlags::Noarp,
            mtu: None,
            operational_state: None,
            has_controller: false,
        };
        assert_eq!(Link::parse(&bytes(&message)).unwrap(), bare);
        message.attributes = vec![
            LinkAttribute::IfName("eth0".into()),
            LinkAttribute::Mtu(1500),
            LinkAttribute::OperState(State::Up),
            LinkAttribute::Controller(3),
        ];
        let whole = bytes(&message);
        let full =
            Link { mtu: Some(1500), operational_state: Some(6), has_controller: true, ..bare };
        assert_eq!(Link::parse(&whole).unwrap(), full);
        for cut in 0..whole.len() {
            assert!(Link::parse(&whole[..cut]).is_err() || cut >= LINK_HEADER, "{cut}");
        }
    }
}
