//! Which frames are analysed, and their link types.

use std::net::SocketAddr;

use tcplab_trace::{Filter, Frame};
use tcplab_units::Span;
use tcplab_wire::{FrameView, LinkType};

/// Whether the filter admits a frame, this long after the first.
pub(super) fn is_admitted(filter: Option<&Filter>, frame: &Frame<'_>, at: Span) -> bool {
    let Some(filter) = filter else { return true };
    let ends = || {
        let tcp = FrameView::new(frame.link, frame.captured, frame.original_len).tcp()?;
        let ends = [(tcp.src(), tcp.src_port()), (tcp.dst(), tcp.dst_port())];
        Some(ends.map(SocketAddr::from))
    };
    filter.admits(if filter.is_of_time_only() { None } else { ends() }, at)
}

/// The name of a link type.
pub(super) fn name_of_link(link: LinkType) -> String {
    match link {
        LinkType::Null | LinkType::Loop => "loopback".to_owned(),
        LinkType::Ethernet => "Ethernet".to_owned(),
        LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6 => "IP without link".to_owned(),
        LinkType::LinuxSll | LinkType::LinuxSll2 => "Linux \"any\"".to_owned(),
        LinkType::Ppp | LinkType::PppHdlc => "PPP".to_owned(),
        LinkType::Pppoe => "PPPoE".to_owned(),
        LinkType::CiscoHdlc => "Cisco HDLC".to_owned(),
        LinkType::Fddi => "FDDI".to_owned(),
        LinkType::Wifi | LinkType::Radiotap => "802.11".to_owned(),
        LinkType::Nflog => "Linux netfilter log".to_owned(),
        LinkType::Other(number) => format!("link type {number}"),
    }
}
