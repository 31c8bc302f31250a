//! Names of link types.

use tcplab_wire::LinkType;

/// The name of a link type.
pub(super) fn name_of_link(link: LinkType) -> String {
    match link {
        LinkType::Null | LinkType::Loop => "loopback".to_owned(),
        LinkType::Ethernet => "Ethernet".to_owned(),
        LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6 => "IP without link".to_owned(),
        LinkType::LinuxSll | LinkType::LinuxSll2 => "Linux \"any\"".to_owned(),
        LinkType::Ppp | LinkType::PppHdlc | LinkType::PppDirected => "PPP".to_owned(),
        LinkType::Atm => "ATM".to_owned(),
        LinkType::Firewire => "IP over IEEE 1394".to_owned(),
        LinkType::Erf => "ERF".to_owned(),
        LinkType::Pppoe => "PPPoE".to_owned(),
        LinkType::CiscoHdlc => "Cisco HDLC".to_owned(),
        LinkType::Arcnet | LinkType::LinuxArcnet => "ARCNET".to_owned(),
        LinkType::JuniperEthernet => "Juniper Ethernet".to_owned(),
        LinkType::Infiniband => "IP over InfiniBand".to_owned(),
        LinkType::TokenRing => "Token Ring".to_owned(),
        LinkType::Fddi => "FDDI".to_owned(),
        LinkType::Wifi | LinkType::Radiotap | LinkType::Prism | LinkType::Avs => {
            "802.11".to_owned()
        }
        LinkType::FrameRelay => "frame relay".to_owned(),
        LinkType::Enc => "OpenBSD enc".to_owned(),
        LinkType::Pflog => "BSD packet filter log".to_owned(),
        LinkType::Ppi => "PPI".to_owned(),
        LinkType::Pktap => "Darwin PKTAP".to_owned(),
        LinkType::Nflog => "Linux netfilter log".to_owned(),
        LinkType::Other(number) => format!("link type {number}"),
    }
}
