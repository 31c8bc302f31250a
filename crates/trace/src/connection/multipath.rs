//! What a subflow of Multipath TCP tells of the end of the connection that it is part of.

use tcplab_units::Endpoint;

use crate::MultipathSign;
use crate::fold::folded;
use crate::packet::{MultipathOption, Packet};

/// The first packets that end something.
#[derive(Debug, Default)]
pub(super) struct MultipathEnds {
    pub(super) fast_close: Option<MultipathSign>,
    pub(super) address_removed: Option<MultipathSign>,
}
folded! { MultipathEnds { fast_close, address_removed } }

impl MultipathEnds {
    #[inline]
    pub(super) fn follow(&mut self, packet: &Packet, forward: bool) {
        let sign = match packet.multipath {
            None | Some(MultipathOption::Other) => return,
            Some(MultipathOption::FastClose) => &mut self.fast_close,
            Some(MultipathOption::RemoveAddress) => &mut self.address_removed,
        };
        let by = if forward { Endpoint::Client } else { Endpoint::Server };
        sign.get_or_insert(MultipathSign { by, at: packet.at, frame: packet.frame });
    }
}
