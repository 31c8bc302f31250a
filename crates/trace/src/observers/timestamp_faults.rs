//! Timestamps whose bytes are in the wrong order: as written, and as the other end reads them.

use std::mem::take;

use tcplab_units::{Instant, Offset, Span};

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::packet::Packet;
use crate::{ClockSteps, Flow, Occurrences, TimestampFaults};

/// A step of a clock that is larger is no step of a clock: 4.6 h of milliseconds. A small step of a
/// value whose bytes are reversed is at least as large.
const LARGE: u32 = 1 << 24;

/// What one direction's packets and their ACKs show.
#[derive(Debug, Default)]
pub(crate) struct TimestampOrders {
    /// The clock of the data's sender, by its data.
    sender: ClockOrder,
    /// That of their receiver, by ACKs of something new.
    receiver: ClockOrder,
    reading: ReadingOrder,
}
folded! { TimestampOrders { sender, receiver, reading } }

/// The order in which an end writes its own clock.
#[derive(Debug, Default)]
struct ClockOrder {
    last: Option<u32>,
    /// Steps that are those of a clock as written.
    plain: u64,
    /// Steps that are those of a clock only with their bytes reversed.
    reversed: Occurrences,
    /// Of these, steps that go back as written: PAWS refuses the packet (RFC 7323 section 5.3).
    back: u64,
}
folded! { ClockOrder { last, plain, reversed, back } }

impl ClockOrder {
    #[inline(always)]
    fn see(&mut self, packet: &Packet) {
        let Some((value, _)) = packet.timestamps else { return };
        let Some(last) = self.last.replace(value) else { return };
        if value == last {
            return;
        }
        if value.wrapping_sub(last) < LARGE {
            self.plain += 1;
        } else if value.swap_bytes().wrapping_sub(last.swap_bytes()) < LARGE {
            self.reversed.add(packet.at, packet.frame);
            self.back += u64::from((value.wrapping_sub(last) as i32) < 0);
        }
    }

    fn sums(&mut self) -> ClockSteps {
        ClockSteps { plain: self.plain, reversed: take(&mut self.reversed), back: self.back }
    }
}

/// The order in which the receiver of the data reads the sender's clock.
#[derive(Debug, Default)]
struct ReadingOrder {
    /// The last transmission of the first byte that is missing.
    edge: Option<Edge>,
    /// The receiver's echo (its `TS.Recent`) when it answered an earlier transmission of it and did
    /// not take it.
    answered: Option<u32>,
    /// Such transmissions that are older than the echo only with their bytes reversed.
    refused: Occurrences,
    /// The time until they were sent again.
    waited: Span,
    /// Such transmissions that are not older even so: lost.
    refused_otherwise: u64,
    /// Later transmissions that were taken, though older with their bytes reversed.
    taken_otherwise: u64,
}
folded! { ReadingOrder { edge, answered, refused, waited, refused_otherwise, taken_otherwise } }

#[derive(Debug, Clone, Copy)]
struct Edge {
    start: Offset,
    value: u32,
    at: Instant,
    frame: u64,
    /// The echo of the last ACK since then that acknowledges nothing new.
    echo: Option<u32>,
}
folded! { Edge { start, value, at, frame, echo } }

impl Edge {
    /// Whether it is older than `echo` for who reads both with their bytes reversed, and not else.
    fn is_older_reversed(&self, echo: u32) -> bool {
        let is_older = |value: u32, echo: u32| (value.wrapping_sub(echo) as i32) < 0;
        is_older(self.value.swap_bytes(), echo.swap_bytes()) && !is_older(self.value, echo)
    }
}

impl TimestampOrders {
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        if sent.payload == 0 {
            return;
        }
        self.sender.see(sent.packet);
        if sent.range.start == sent.una {
            self.reading.edge_sent(*sent);
        }
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        if heard.ack > heard.before {
            self.receiver.see(heard.packet);
            self.reading.taken();
        } else if let Some(edge) = &mut self.reading.edge
            && heard.packet.is_bare()
            && heard.sack.is_empty()
        {
            edge.echo = heard.packet.echo();
        }
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        flow.timestamp_faults = TimestampFaults {
            sender: self.sender.sums(),
            receiver: self.receiver.sums(),
            refused: take(&mut self.reading.refused),
            refused_for: self.reading.waited,
            refused_otherwise: self.reading.refused_otherwise,
            taken_otherwise: self.reading.taken_otherwise,
        };
    }
}

impl ReadingOrder {
    #[inline(never)]
    fn edge_sent(&mut self, sent: SendEvent<'_>) {
        let Some((value, _)) = sent.packet.timestamps else { return };
        let (at, frame, start) = (sent.packet.at, sent.packet.frame, sent.range.start);
        let edge = Edge { start, value, at, frame, echo: None };
        let Some(before) = self.edge.replace(edge).filter(|before| before.start == start) else {
            self.answered = None;
            return;
        };
        let Some(echo) = before.echo else { return };
        self.answered = Some(echo);
        if before.is_older_reversed(echo) {
            self.refused.add(before.at, before.frame);
            self.waited += at.since(before.at);
        } else {
            self.refused_otherwise += 1;
        }
    }

    /// Something new was acknowledged: the last transmission at the edge was taken.
    #[inline(always)]
    fn taken(&mut self) {
        if let (Some(edge), Some(echo)) = (self.edge.take(), self.answered.take()) {
            self.taken_otherwise += u64::from(edge.is_older_reversed(echo));
        }
    }
}
