//! What an end has received and not read, as far as its windows show.
//!
//! The window that an end advertises is the room it has left. While it reads what arrives, the
//! window's right edge moves on with the acknowledgements; what it has not read makes the window
//! shrink by as much (RFC 9293 section 3.8.6). A system that closes a connection with data unread
//! sends RST in place of FIN (RFC 2525 section 2.17; `tcp_close` in Linux), so that the sender
//! learns of their loss.
//!
//! An end may read in silence: Linux tells of its window only when that has doubled
//! (`tcp_cleanup_rbuf`), others sooner (RFC 9293 section 3.8.6.2.2). So of what the windows shrank
//! by, as much as the last window may have been read since; the rest was not. And what no
//! acknowledgement but the RST itself takes in, more than two full segments, was never processed,
//! let alone read: every second one must be acknowledged (RFC 9293 section 3.8.6.3). The bytes that
//! Linux has a window shrink by are not quite those that came, since it counts what its buffers
//! take: the figure is an estimate, and nothing is said where the windows say nothing.

use tcplab_units::Bytes;
use tcplab_wire::SeqNumber;

use crate::packet::Packet;

/// The windows of one end, in the order they were advertised.
#[derive(Debug, Default)]
pub(crate) struct UnreadEstimate {
    /// The latest window and what it acknowledged; none before the first.
    latest: Option<(u16, SeqNumber)>,
    /// Bytes by which windows shrank as data arrived, less those by which they grew again.
    unread: u64,
    scale: Option<u8>,
    /// The largest segment it takes.
    mss: Option<u16>,
}

impl UnreadEstimate {
    /// The shift of its windows, and the largest segment it said that it takes.
    pub(crate) fn set_scale(&mut self, scale: u8, mss: Option<u16>) {
        self.scale = Some(scale);
        self.mss = mss;
    }

    /// Takes in a packet that the end sent, without SYN, FIN and RST.
    pub(crate) fn follow(&mut self, packet: &Packet) {
        let Some(ack) = packet.ack else { return };
        match &mut self.latest {
            Some((window, acked)) if *window == packet.window => *acked = ack,
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
        let (ack, (window, acked), scale) = (rst.ack?, self.latest?, self.scale?);
        let kept = self.unread.saturating_sub(u64::from(window) << scale);
        let since = u64::from(ack.distance_from(acked).max(0).unsigned_abs());
        let unprocessed = match self.mss {
            Some(mss) if since > 2 * u64::from(mss) => since,
            _ => 0,
        };
        let unread = kept + unprocessed;
        // Windows are told in steps of one scale: less than that is no sign.
        (unread > 1 << scale).then(|| Bytes::new(unread))
    }
}
