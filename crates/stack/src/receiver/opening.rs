//! What a handshake brings besides an agreement.

use super::Receiver;
use crate::Data;

impl Receiver {
    /// Data that came with the SYN, and perhaps a FIN: in order, and nothing is learnt from it
    /// (`tcp_fastopen_add_skb`). Whether the peer has closed.
    pub(crate) fn take_with_syn(&mut self, data: &Data, fin: bool) -> bool {
        if !data.is_empty() {
            let charge = self.window.charge_of(data.len());
            self.push_in_order(data.clone(), charge, true);
        }
        let closed = fin && self.finish();
        self.window.begin_at(self.next);
        closed
    }

    /// The peer's SYN came twice, the second time with its ACK: both ends opened at once. It is
    /// acknowledged, and reported as a duplicate (`tcp_data_queue`).
    pub(crate) fn hear_syn_again(&mut self) {
        self.note_twice(0, 1);
        self.acks.schedule_now();
    }
}
