//! The limits of a direction's rate over time.
//!
//! The time between two sendings is judged when it is over, by what the sender might have sent
//! and what made it send ([`sender`]); over a round trip, by whether the path was full; and
//! written down ([`ledger`]). Ancestors: T-RAT (Zhang, Breslau, Paxson, Shenker, "On the
//! Characteristics and Origins of Internet Flow Rates") and Siekkinen et al., "A root cause
//! analysis toolkit for TCP", which judge flights or seconds; the single gap as the unit follows
//! Linux's own accounts of what a socket waits for (`tcp_chrono_start`), so that the two can be
//! compared.

mod autosize;
mod away;
mod capacity;
mod departure;
mod gap;
mod growth;
mod ledger;
mod pace;
mod sender;

use std::collections::VecDeque;

use tcplab_units::{Instant, Rate, Span};

use crate::fold::folded;
use crate::observers::event::{AckEvent, Event, SendEvent};
use crate::packet::Packet;
use crate::{Flow, SegmentKind};
use departure::{Answer, Departure, USUAL_SEGMENT};
use sender::Sender;

/// ACKs in flight to the sender are distinguished by this fraction of the distance.
const PARTS: u64 = 16;
/// Bytes of the timestamp option with padding (RFC 7323 appendix A).
const TIMESTAMPS: u64 = 12;

/// The observer. A direction without data costs next to nothing.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// The sender's reaction time to an ACK, as seen at the capture point.
    reaction: Span,
    /// The receiver's MSS.
    offered: Option<u16>,
    sender: Option<Box<Sender>>,
    /// The last acknowledgement of new data.
    last: Option<(Instant, u64)>,
    /// Away from the sender: ACKs that have not reached it yet.
    under_way: VecDeque<Answer>,
}
folded! { Limits { reaction, offered, sender, last, under_way } }

impl Limits {
    /// How long the sender takes to react, seen from here.
    pub(crate) fn opened(&mut self, reaction: Span, events: &mut Vec<Event>) {
        if reaction == self.reaction {
            return;
        }
        self.reaction = reaction;
        if let Some(sender) = &mut self.sender {
            for answer in self.under_way.drain(..) {
                sender.heard(&answer, events);
            }
            sender.is_found(reaction);
        }
    }

    /// A SYN of the receiver.
    pub(crate) fn on_peer_syn(&mut self, syn: &Packet) {
        self.offered = syn.mss.or(self.offered);
    }

    /// The path's capacity from the spacing of acknowledged data.
    pub(crate) fn capacity(&self) -> Option<Rate> {
        self.sender.as_ref().and_then(|sender| sender.capacity())
    }

    /// Whether no data were sent yet: ACKs do not matter then.
    pub(crate) fn is_idle(&self) -> bool {
        self.sender.is_none()
    }

    #[inline(always)]
    pub(crate) fn on_send(
        &mut self,
        sent: &SendEvent<'_>,
        full: Option<u64>,
        events: &mut Vec<Event>,
    ) {
        let repeat = match sent.kind {
            SegmentKind::New => false,
            SegmentKind::FastRetransmission
            | SegmentKind::TimeoutRetransmission
            | SegmentKind::AfterTimeoutRetransmission
            | SegmentKind::UnexplainedRetransmission
            | SegmentKind::RepeatedControl
            | SegmentKind::WindowProbe => true,
            SegmentKind::FillsGap
            | SegmentKind::OutOfOrder
            | SegmentKind::NetworkDuplicate
            | SegmentKind::LinkRetry
            | SegmentKind::CaptureDuplicate
            | SegmentKind::KeepAlive => return,
        };
        // An empty probe, too, shows that data wait (RFC 9293 section 3.8.6.1).
        let is_probe = sent.kind == SegmentKind::WindowProbe && self.sender.is_some();
        if sent.payload == 0 && !is_probe {
            return;
        }
        let away = !self.reaction.is_zero();
        if away {
            self.deliver(sent.packet.at, events);
        }
        if self.sender.is_none() {
            self.begin(*sent);
        }
        let Some(sender) = &mut self.sender else { return };
        if sent.packet.coarse {
            sender.is_timed_coarsely();
        }
        let departure = Departure {
            at: sent.packet.at,
            frame: sent.packet.frame,
            end: sent.range.start.as_u64() + sent.payload,
            payload: sent.payload,
            repeat,
            fast: matches!(
                sent.kind,
                SegmentKind::FastRetransmission | SegmentKind::UnexplainedRetransmission
            ) || sent.reduced,
            window_probe: sent.kind == SegmentKind::WindowProbe,
            timer: sent.timer,
            in_flight: (!away).then_some(sent.in_flight),
            echo: sent.packet.echo(),
        };
        sender.sent(&departure, full, events);
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>, events: &mut Vec<Event>) {
        let Some(sender) = &mut self.sender else { return };
        if heard.fresh > 0 {
            self.last = Some((heard.packet.at, heard.packet.frame));
        }
        let away = !self.reaction.is_zero();
        let answer = Answer {
            at: heard.packet.at + self.reaction + sender.queue(),
            frame: heard.packet.frame,
            ack: heard.ack.as_u64(),
            fresh: heard.fresh,
            delivered: heard.high.as_u64().saturating_sub(heard.in_flight),
            edge: heard.window.map(|window| heard.ack.as_u64() + window.as_u64()),
            in_flight: (!away).then_some(heard.in_flight),
            with_data: heard.packet.payload > 0,
            sample: heard.effect.round_trip,
        };
        if !away {
            sender.heard(&answer, events);
            return;
        }
        if let Some((value, _)) = heard.packet.timestamps {
            sender.is_asked(value, heard.packet.at);
        }
        self.hear_later(answer, heard.packet.at, events);
    }

    /// Away from the sender: the acknowledgement, which passes `now`, will reach it later.
    #[inline(never)]
    fn hear_later(&mut self, answer: Answer, now: Instant, events: &mut Vec<Event>) {
        let Some(sender) = &mut self.sender else { return };
        match self.under_way.back_mut() {
            Some(last) if answer.at.since(last.at) < self.reaction / PARTS => {
                *last = Answer {
                    at: last.at,
                    fresh: last.fresh + answer.fresh,
                    with_data: last.with_data || answer.with_data,
                    ..answer
                };
            }
            _ => self.under_way.push_back(answer),
        }
        // Older ones have arrived even if nothing was sent since.
        while self.under_way.front().is_some_and(|first| first.at <= now) {
            let Some(first) = self.under_way.pop_front() else { break };
            sender.heard(&first, events);
        }
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow, events: &mut Vec<Event>) {
        let Some(sender) = &mut self.sender else { return };
        for answer in self.under_way.drain(..) {
            sender.heard(&answer, events);
        }
        sender.finish(self.last, flow, events);
    }

    #[cold]
    fn begin(&mut self, sent: SendEvent<'_>) {
        let cut = if sent.packet.timestamps.is_some() { TIMESTAMPS } else { 0 };
        let offered =
            self.offered.map_or(USUAL_SEGMENT, |mss| u64::from(mss) - cut.min(mss.into()));
        self.sender = Some(Box::new(Sender::new(&sent, offered.max(1), self.reaction)));
    }

    /// The acknowledgements that have reached the sender when it sends this. The reaction is
    /// the shortest seen; the packet may have been a little faster.
    #[inline(never)]
    fn deliver(&mut self, sent: Instant, events: &mut Vec<Event>) {
        let Some(sender) = &mut self.sender else { return };
        let until = sent + self.reaction / PARTS;
        while self.under_way.front().is_some_and(|first| first.at <= until) {
            let Some(first) = self.under_way.pop_front() else { break };
            let at = first.at.min(sent);
            sender.heard(&Answer { at, ..first }, events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observers::stalls::Stalls;
    use crate::observers::throughput::Throughput;
    use crate::observers::transfer::TransferSums;

    #[test]
    fn direction_state_stays_small() {
        // Without the histogram of spacings, which comes with the first train.
        let limits = size_of::<Limits>() + size_of::<Sender>();
        let others = size_of::<Stalls>() + size_of::<TransferSums>() + size_of::<Throughput>();
        assert!(limits + others < 1_250, "{limits} and {others} bytes");
    }
}
