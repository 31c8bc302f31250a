//! Where the tap stood.

use crate::Tap;
use crate::connection::ConnectionState;

/// How much longer one half of the handshake must take than the other to tell where the tap stood.
const NEARER: u64 = 4;

impl ConnectionState {
    /// Where the tap stood, seen from the sender of one direction. The half of the handshake that
    /// crosses the network takes longer than the one that is answered on the spot.
    pub(crate) fn tap(&self, forward: bool) -> Tap {
        let halves = (self.last_syn, self.last_syn_ack, self.opened);
        let at_client = match halves {
            (Some(syn), Some(syn_ack), Some(opened)) => {
                let (beyond, before) = (syn_ack.since(syn), opened.since(syn_ack));
                if beyond > before * NEARER {
                    Some(true)
                } else if before > beyond * NEARER {
                    Some(false)
                } else {
                    None
                }
            }
            _ => None,
        };
        let handshake = match at_client {
            Some(at_client) if at_client == forward => Tap::Sender,
            Some(_) => Tap::Receiver,
            None => Tap::Unknown,
        };
        let flow = if forward { &self.forward } else { &self.reverse };
        flow.tap(handshake)
    }
}
