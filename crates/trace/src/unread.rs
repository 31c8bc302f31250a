//! What an end has received and not read, as far as its windows show.
//!
//! The window that an end advertises is the room it has left. While it reads what arrives, the
//! window's right edge moves on with the acknowledgements; what it has not read makes the window
//! shrink by as much (RFC 9293 section 3.8.6). A system that closes a connection with data unread
//! sends RST in place of FIN (RFC 2525 section 2.17; `tcp_close` in Linux), so that the sender
//! learns of their loss.

use tcplab_units::Bytes;
use tcplab_wire::SeqNumber;

use crate::packet::Packet;

/// The windows of one end, in the order they were advertised.
#[derive(Debug, Default)]
pub(crate) struct Buffered {
    /// The latest window and what it acknowledged; none before the first outside a SYN.
    latest: Option<(u16, SeqNumber)>,
    /// Bytes by which windows shrank as data arrived, less those by which they grew again.
    unread: u64,
    scale: Option<u8>,
}

impl Buffered {
    /// The shift of its windows.
    pub(crate) fn scaled(&mut self, scale: u8) {
        self.scale = Some(scale);
    }

    /// Takes in a packet that the end sent.
    pub(crate) fn follow(&mut self, packet: &Packet) {
        let Some(ack) = packet.ack else { return };
        match &mut self.latest {
            Some((window, acked)) if *window == packet.window => *acked = ack,
            _ if packet.syn() || packet.rst() => {}
            Some(_) => self.changed(packet.window, ack),
            None => self.latest = Some((packet.window, ack)),
        }
    }

    fn changed(&mut self, window: u16, ack: SeqNumber) {
        let (Some((before, acked)), Some(scale)) = (self.latest, self.scale) else {
            self.latest = Some((window, ack));
            return;
        };
        if window > before {
            self.unread = self.unread.saturating_sub(u64::from(window - before) << scale);
        } else {
            // A window that shrinks by more than what arrived was taken back, not filled.
            let arrived = u64::from(ack.distance_from(acked).max(0).unsigned_abs());
            self.unread += (u64::from(before - window) << scale).min(arrived);
        }
        self.latest = Some((window, ack));
    }

    /// What it had not read when it sent this RST. One without ACK is no socket's last word but
    /// the answer to a segment that came too late (RFC 9293 section 3.10.7.1), and says nothing.
    pub(crate) fn unread(&self, rst: &Packet) -> Option<Bytes> {
        let (ack, (_, acked), scale) = (rst.ack?, self.latest?, self.scale?);
        // Windows are told in steps of one scale: less than that is no sign.
        if self.unread <= 1 << scale {
            return None;
        }
        let arrived_since = ack.distance_from(acked).max(0).unsigned_abs();
        Some(Bytes::new(self.unread + u64::from(arrived_since)))
    }
}
