//! Whether only one end's packets pass the capture point although the other end answers.
//!
//! An end that gets nothing repeats its acknowledgement number and the timestamp that it echoes. Of
//! an end whose packets alone are captured, each change of either is a packet of the other end that
//! was not captured; so is an acknowledgement after its SYN.

use tcplab_units::Endpoint;
use tcplab_wire::SeqNumber;

use crate::fold::folded;
use crate::packet::Packet;

/// The packets of both ends, as far as one alone was captured.
#[derive(Debug, Default)]
pub(crate) struct OneWay {
    client: bool,
    server: bool,
    /// The last acknowledgement and echo of the end that was captured.
    last: Option<(SeqNumber, Option<u32>)>,
    /// It sent a SYN without ACK.
    asked: bool,
    /// What it acknowledged or echoed shows packets of the other end.
    answered: bool,
}
folded! { OneWay { client, server, last, asked, answered } }

impl OneWay {
    #[inline(always)]
    pub(crate) fn follow(&mut self, packet: &Packet, forward: bool) {
        if !(self.client && self.server) {
            self.first_packets(packet, forward);
        }
    }

    fn first_packets(&mut self, packet: &Packet, forward: bool) {
        *(if forward { &mut self.client } else { &mut self.server }) = true;
        let Some(ack) = packet.ack.filter(|_| !packet.rst()) else {
            self.asked |= packet.syn();
            return;
        };
        let now = (ack, packet.timestamps.map(|(_, echo)| echo));
        self.answered |= self.asked || self.last.is_some_and(|last| last != now);
        self.last = Some(now);
    }

    /// The end whose packets alone were captured, if the other one is known to have answered.
    pub(crate) fn end(&self) -> Option<Endpoint> {
        match (self.client, self.server) {
            (true, false) if self.answered => Some(Endpoint::Client),
            (false, true) if self.answered => Some(Endpoint::Server),
            _ => None,
        }
    }
}
