//! The advertised window and its effect on the sender.

use std::mem::take;

use tcplab_units::{Bytes, Instant, Offset, Span};
use tcplab_wire::SeqNumber;

use crate::fold::folded;
use crate::observers::event::{AckEvent, SendEvent};
use crate::packet::Packet;
use crate::{Flow, Occurrences, SegmentKind, WindowUse};

mod scale;
#[cfg(test)]
mod tests;

use scale::ScaleGuess;

/// The windows advertised after the handshake; bytes, or unscaled where the scale is unknown.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    advertised: Option<Advertised>,
    /// Bytes per unit of the header's window; 0 while unknown.
    unit: u32,
    first: u32,
    min: u32,
    max: u32,
    /// Since when it is closed.
    closed: Option<Instant>,
    /// The last packet of either direction while it was closed.
    latest: Instant,
    zero_for: Span,
    longest_zero: Span,
    zero: Occurrences,
    full: Occurrences,
    updates: Occurrences,
    silly: Occurrences,
    shrunk: Occurrences,
    probes: Occurrences,
    /// The end of the stream, its FIN included.
    last: Option<Offset>,
    guess: Option<Box<ScaleGuess>>,
}
folded! {
    Windows {
        advertised, unit, first, min, max, closed, latest, zero_for, longest_zero, zero, full,
        updates, silly, shrunk, probes, last, guess
    }
}

/// The window that counts.
#[derive(Debug, Clone, Copy)]
struct Advertised {
    window: u32,
    /// Whether that is bytes.
    scaled: bool,
    ack: Offset,
    /// The end of the segment that advertised it (its start is SND.WL1 of RFC 9293 section 3.3.1).
    told_until: SeqNumber,
    /// Its IP identification and timestamp.
    id: Option<u16>,
    clock: Option<u32>,
}
folded! { Advertised { window, scaled, ack, told_until, id, clock } }

/// A packet late by fewer others is recognised by its IP identification.
const OVERTAKEN: i16 = 8;

impl Advertised {
    fn edge(&self) -> Offset {
        Offset::new(self.ack.as_u64() + u64::from(self.window))
    }
    /// Whether `heard` is older: then its window no longer counts (RFC 9293 section 3.10.7.4). An
    /// ACK sent before data that were captured first begins below their end.
    #[inline(always)]
    fn outlives(&self, heard: &AckEvent<'_>) -> bool {
        let is_older = heard.packet.end().distance_from(self.told_until) < 0;
        heard.ack < self.ack || (heard.ack == self.ack && is_older)
    }
    /// Whether an ACK that offers less was sent before it, by the sender's marks: neither numbers
    /// of RFC 9293 tell, where both are equal.
    fn overtook(&self, other: &Advertised) -> bool {
        let steps = |id: u16| other.id.map(|other| other.wrapping_sub(id) as i16);
        let by_id = self.id.and_then(steps).is_some_and(|step| (-OVERTAKEN..0).contains(&step));
        let ticks = |clock: u32| other.clock.map(|other| other.wrapping_sub(clock) as i32);
        let by_clock = self.clock.and_then(ticks).is_some_and(|ticks| ticks < 0);
        other.edge() < self.edge() && (by_id || by_clock)
    }
}

impl Windows {
    /// A packet of the direction; `full` is the size of a full segment.
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>, full: Option<u64>) {
        if self.closed.is_some() {
            self.latest = sent.packet.at;
        }
        if sent.packet.fin() {
            self.last = Some(sent.range.end);
        }
        if sent.kind == SegmentKind::WindowProbe {
            self.probes.add(sent.packet.at, sent.packet.frame);
            return;
        }
        let Some(advertised) = &self.advertised else { return };
        if sent.kind != SegmentKind::New || sent.payload == 0 {
            return;
        }
        let edge = advertised.edge();
        if !advertised.scaled {
            let flight = sent.range.end.since(advertised.ack).as_u64();
            self.guess.get_or_insert_default().sent(advertised.window, flight, advertised.ack);
        } else if sent.range.end <= edge
            && edge.since(sent.range.end).as_u64() < sent.payload.min(full.unwrap_or(1))
        {
            // It has no room for another one like this.
            self.full.add(sent.packet.at, sent.packet.frame);
        }
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>, full: Option<u64>) {
        let packet = heard.packet;
        // A SYN's window is not scaled, a reset's means nothing.
        if packet.syn() || packet.rst() {
            return;
        }
        // Once its FIN is acknowledged, nothing is left that a window would let the peer send (RFC
        // 9293 section 3.6, case 1).
        if self.last.is_some_and(|last| heard.ack >= last) {
            self.reopen(packet.at);
            return;
        }
        let scaled = heard.window.is_some();
        let raw = u32::from(packet.window);
        let window = heard.window.map_or(raw, |w| u32::try_from(w.as_u64()).unwrap_or(u32::MAX));
        if self.unit == 0 && raw > 0 {
            self.unit = window / raw;
        }
        let (ack, told_until) = (heard.ack, packet.end());
        let clock = packet.timestamps.map(|(value, _)| value);
        let new = Advertised { window, scaled, ack, told_until, id: packet.ip_id, clock };
        match self.advertised {
            None => {
                (self.first, self.min) = (window, window);
            }
            Some(old) if old.outlives(heard) || old.overtook(&new) => return,
            Some(old) if ack != old.ack || window != old.window => {
                self.compare(old, new, *heard, full.unwrap_or(1));
            }
            Some(_) => {}
        }
        self.advertised = Some(new);
        self.min = self.min.min(window);
        self.max = self.max.max(window);
        if window == 0 || self.closed.is_some() {
            self.open_or_close(heard.packet);
        }
    }

    /// Until then a closed window stayed closed.
    pub(crate) fn on_reset(&mut self, at: Instant) {
        self.latest = at;
    }

    /// Whether this is the window that counts, and open.
    pub(crate) fn stand(&self, ack: Offset, window: Option<Bytes>) -> bool {
        let same = |old: &Advertised| {
            let bytes = window.map(|window| u32::try_from(window.as_u64()).unwrap_or(u32::MAX));
            old.scaled && old.ack == ack && Some(old.window) == bytes
        };
        self.closed.is_none() && self.unit > 0 && self.advertised.as_ref().is_some_and(same)
    }

    /// A repeated ACK with an [unchanged](Windows::stand) window.
    pub(crate) fn on_repeated_ack(&mut self, packet: &Packet) {
        if let Some(advertised) = &mut self.advertised
            && packet.end().distance_from(advertised.told_until) >= 0
        {
            advertised.told_until = packet.end();
        }
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        let Some(last) = self.advertised else {
            flow.windows.probes = take(&mut self.probes);
            return;
        };
        let still_closed = self.closed.map_or(Span::ZERO, |since| self.latest.since(since));
        let guessed = self.guess.as_ref().and_then(|guess| guess.scale());
        let shift = if last.scaled { Some(0) } else { guessed };
        let bytes = |window: u32| shift.map(|shift| Bytes::new(u64::from(window) << shift));
        flow.windows = WindowUse {
            scale_known: shift.is_some(),
            scale_negotiated: last.scaled,
            first: bytes(self.first),
            min: bytes(self.min),
            max: bytes(self.max),
            limiting: None,
            last: bytes(last.window),
            zero_windows: take(&mut self.zero),
            zero_window_time: self.zero_for + still_closed,
            zero_window_max: self.longest_zero.max(still_closed),
            window_full: take(&mut self.full),
            updates: take(&mut self.updates),
            silly_windows: take(&mut self.silly),
            windows_shrunk: take(&mut self.shrunk),
            probes: take(&mut self.probes),
        };
    }

    #[inline(always)]
    fn compare(&mut self, old: Advertised, new: Advertised, heard: AckEvent<'_>, full: u64) {
        let (at, frame) = (heard.packet.at, heard.packet.frame);
        let same_ack = new.ack == old.ack;
        let has_news = heard.effect.sacked || heard.dsack.is_some();
        if same_ack && new.window > 0 && heard.packet.is_bare() && !has_news {
            self.updates.add(at, frame);
        }
        if !new.scaled {
            return;
        }
        // By less than the unit the edge moves by rounding alone (RFC 7323 section 2.4).
        let unit = u64::from(self.unit.max(1));
        let (before, now, window) = (old.edge(), new.edge(), u64::from(new.window));
        if now.since(before).as_u64() >= unit {
            let small = window < full && window < u64::from(self.max / 2);
            if small && window > 0 {
                self.silly.add(at, frame);
            }
        } else if before.since(now).as_u64() >= unit {
            self.shrunk.add(at, frame);
        }
    }

    #[cold]
    fn open_or_close(&mut self, packet: &Packet) {
        let at = packet.at;
        self.latest = at;
        match self.closed {
            None => {
                self.closed = Some(at);
                self.zero.add(at, packet.frame);
            }
            Some(_) if packet.window > 0 => self.reopen(at),
            Some(_) => {}
        }
    }

    #[inline]
    fn reopen(&mut self, at: Instant) {
        if let Some(since) = self.closed.take() {
            self.zero_for += at.since(since);
            self.longest_zero = self.longest_zero.max(at.since(since));
        }
    }
}
