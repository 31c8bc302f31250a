//! Estimates the data an endpoint received but did not read, from its windows.
//!
//! The advertised window is the free buffer. While the application reads, its right edge advances
//! with the ACKs; unread data shrinks it (RFC 9293 section 3.8.6). A system that closes with unread
//! data sends RST instead of FIN (RFC 2525 section 2.17; `tcp_close` in Linux).
//!
//! Linux updates the window only when it doubled (`tcp_cleanup_rbuf`), others sooner (RFC 9293
//! section 3.8.6.2.2). So up to the last window may have been read since; the rest was not. Data
//! acknowledged only by the RST, beyond two full segments, was never processed (every second
//! segment must be acknowledged, RFC 9293 section 3.8.6.3). Linux accounts buffer overhead, so the
//! figure is an estimate; without evidence there is none.

use tcplab_units::Bytes;
use tcplab_wire::SeqNumber;

use crate::fold::folded;
use crate::packet::Packet;

/// The advertised windows of one endpoint, in order.
#[derive(Debug, Default)]
pub(crate) struct UnreadEstimate {
    /// The latest window and its ACK; none before the first.
    latest: Option<(u16, SeqNumber)>,
    /// Bytes by which windows shrank as data arrived, less later growth.
    unread: u64,
    scale: Option<u8>,
    /// Its MSS.
    mss: Option<u16>,
}
folded! { UnreadEstimate { latest, unread, scale, mss } }

impl UnreadEstimate {
    pub(crate) fn set_scale(&mut self, scale: u8, mss: Option<u16>) {
        self.scale = Some(scale);
        self.mss = mss;
    }

    /// Follows a packet it sent without SYN, FIN and RST.
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
            // A window that shrinks by more than arrived was shrunk, not filled.
            let arrived = u64::from(ack.distance_from(acked).max(0).unsigned_abs());
            self.unread += (u64::from(before - window) << scale).min(arrived);
        }
        self.latest = Some((window, ack));
    }

    /// The unread data at this RST; one without ACK shows nothing (RFC 9293 section 3.10.7.1).
    pub(crate) fn unread(&self, rst: &Packet) -> Option<Bytes> {
        let (ack, (window, acked), scale) = (rst.ack?, self.latest?, self.scale?);
        let kept = self.unread.saturating_sub(u64::from(window) << scale);
        let since = u64::from(ack.distance_from(acked).max(0).unsigned_abs());
        let unprocessed = match self.mss {
            Some(mss) if since > 2 * u64::from(mss) => since,
            _ => 0,
        };
        let unread = kept + unprocessed;
        // Windows are multiples of the scale: less is no evidence.
        (unread > 1 << scale).then(|| Bytes::new(unread))
    }
}
