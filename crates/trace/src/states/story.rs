//! The walks in sentences.

use tcplab_units::{Endpoint, Span};

use super::{Basis, Event, SeenFrom, StateWalk, StateWalks, TimeWait, WhyTimeWait};
use crate::{CloseKind, HandshakeKind, TcpState};

/// Without further data an application closes sooner.
const ANSWER: Span = Span::from_millis(1);

impl StateWalks {
    /// How it opened and closed, who is in TIME-WAIT and why, and what is inferred.
    pub fn story(&self) -> Vec<String> {
        let mut story = vec![self.opened().to_owned()];
        let gave_up: Vec<String> =
            self.both().into_iter().filter_map(StateWalk::timed_out).collect();
        if self.close.is_some() || gave_up.is_empty() {
            story.push(self.closed());
        }
        story.extend(gave_up);
        story.extend(self.half_closed());
        story.extend(self.waiting());
        story.extend(self.inferred());
        story
    }

    fn opened(&self) -> &'static str {
        match self.opening {
            HandshakeKind::Unseen => "The connection was open before the capture began.",
            HandshakeKind::Unanswered => "Active open by the client; no answer.",
            HandshakeKind::Refused => "Active open by the client; refused with RST.",
            HandshakeKind::HalfOpen if self.client.gave_up() => {
                "Active open by the client, passive open by the server; the client was CLOSED when \
                 the SYN-ACK arrived, and answered it with RST (RFC 9293 section 3.10.7.1)."
            }
            HandshakeKind::HalfOpen => {
                "Active open by the client, passive open by the server; the client's ACK is \
                 missing: half open at the server."
            }
            HandshakeKind::ThreeWay => {
                "Active open by the client, passive open by the server: three-way handshake (RFC \
                 9293 figure 6)."
            }
            HandshakeKind::Simultaneous => {
                "Simultaneous open: each end sent its SYN before the other's arrived (RFC 9293 \
                 figure 7)."
            }
            HandshakeKind::Split => {
                "Active open by the client; the server sent ACK and SYN in \
                                     separate segments."
            }
        }
    }

    fn closed(&self) -> String {
        let Some(close) = self.close else {
            return "Not closed within the capture.".into();
        };
        let (first, second) = (close.by.name(), close.by.other().name());
        match close.kind {
            CloseKind::Graceful => format!(
                "Closed by the {first} (active close), then by the {second} (passive close)."
            ),
            CloseKind::Simultaneous => {
                "Simultaneous close: each end sent its FIN before the other's arrived (RFC 9293 \
                 figure 13)."
                    .into()
            }
            CloseKind::HalfClosed => format!(
                "Half closed: the {first} sent FIN, the {second} did not within the capture."
            ),
            CloseKind::Reset => format!("Reset by the {first}."),
            CloseKind::ResetAfterFin => {
                let by = close.reset_by.unwrap_or(close.by).name();
                format!("Closed by the {first} with FIN, then reset by the {by}.")
            }
        }
    }

    /// How long it was half closed, by a capture at the end that closed last.
    fn half_closed(&self) -> Option<String> {
        let walk =
            self.both().into_iter().find(|walk| walk.entered(TcpState::LastAck).is_some())?;
        let place = walk.edges.iter().position(|edge| edge.to == TcpState::CloseWait)?;
        let beside = walk.seen_from == SeenFrom::Beside;
        let stayed = walk.stayed(place).filter(|stayed| beside && *stayed >= ANSWER)?;
        Some(format!(
            "Half closed for {:.6} s, while the {} could still send.",
            stayed.as_secs_f64(),
            walk.end.name()
        ))
    }

    fn waiting(&self) -> Vec<String> {
        let opened = self.both().iter().any(|w| w.entered(TcpState::Established).is_some());
        let (over, lasting): (Vec<&TimeWait>, Vec<&TimeWait>) = self
            .time_wait
            .iter()
            .partition(|wait| self.of_end(wait.end).time_wait_ended().is_some());
        let mut sentences: Vec<String> =
            over.into_iter().filter_map(|wait| self.of_end(wait.end).left_time_wait()).collect();
        sentences.extend(match lasting[..] {
            [_, _] => Some(
                "TIME-WAIT at both ends: each acknowledged the other's FIN last and may have to \
                 retransmit that ACK (RFC 9293 section 3.6: 2 MSL; Linux: 60 s)."
                    .to_owned(),
            ),
            [one] => {
                let why = match one.why {
                    WhyTimeWait::ClosedFirst => ", which closed first",
                    WhyTimeWait::ClosedAtOnce => "",
                };
                Some(format!(
                    "TIME-WAIT at the {}{why}: it may have to retransmit its ACK of the {}'s FIN, \
                     and old packets must expire before the ports are reused (RFC 9293 section \
                     3.6: 2 MSL; Linux: 60 s).",
                    one.end.name(),
                    one.end.other().name()
                ))
            }
            _ if self.time_wait.is_empty()
                && opened
                && self.close.is_some_and(|close| close.reset_by.is_some()) =>
            {
                Some(self.no_time_wait())
            }
            _ => None,
        });
        sentences
    }

    fn no_time_wait(&self) -> String {
        let Some(closed) = self.both().into_iter().find(|walk| walk.met_fin_closed()) else {
            return "No TIME-WAIT after RST.".into();
        };
        let (end, other) = (closed.end.name(), closed.end.other().name());
        format!(
            "The {end} answered the {other}'s FIN with an RST without ACK, as an end does that is \
             CLOSED (RFC 9293 section 3.10.7.1): no TIME-WAIT."
        )
    }

    fn inferred(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let beside = |end| self.of_end(end).seen_from == SeenFrom::Beside;
        let unseen = match (beside(Endpoint::Client), beside(Endpoint::Server)) {
            (true, true) => None,
            (true, false) => Some("the server"),
            (false, true) => Some("the client"),
            (false, false) => Some("either end"),
        };
        if let Some(unseen) = unseen {
            sentences.push(format!(
                "Not captured at {unseen}: times there are those at the capture point; arrival is \
                 inferred from the next packet sent."
            ));
        }
        for walk in self.both() {
            sentences.extend(walk.missing());
        }
        sentences
    }
}

impl StateWalk {
    /// Whether it was CLOSED again before its SYN was answered.
    fn gave_up(&self) -> bool {
        let last = self.edges.last();
        last.is_some_and(|it| (it.from, it.event) == (TcpState::SynSent, Event::ResetSent))
    }

    /// That it gave up, if it did.
    fn timed_out(&self) -> Option<String> {
        let last = self.edges.last().filter(|edge| edge.event == Event::UserTimeout)?;
        Some(format!(
            "The {} gave up by user timeout, at {:.6} s at the latest: its call or its socket \
             shows it, no packet does (RFC 9293 section 3.10.8).",
            self.end.name(),
            last.at?.as_secs_f64()
        ))
    }

    /// How its TIME-WAIT ended, if it did.
    fn left_time_wait(&self) -> Option<String> {
        let (event, stayed) = self.time_wait_ended()?;
        let (end, stayed) = (self.end.name(), stayed.as_secs_f64());
        Some(match event {
            Event::ResetReceived => {
                format!("An RST ended TIME-WAIT at the {end} after {stayed:.6} s (RFC 1337).")
            }
            _ => format!(
                "The {end} had left TIME-WAIT when it sent RST, {stayed:.6} s after the FIN."
            ),
        })
    }

    /// Edges whose packet was not captured, except those that have none.
    fn missing(&self) -> Option<String> {
        let has_none = |event| matches!(event, Event::PassiveOpen | Event::UserTimeout);
        let is_missing =
            |edge: &&super::Edge| edge.basis == Basis::Missing && !has_none(edge.event);
        let edges: Vec<String> = self
            .edges
            .iter()
            .filter(is_missing)
            .map(|edge| format!("{} ({})", edge.to.name(), edge.event.words()))
            .collect();
        (!edges.is_empty()).then(|| {
            format!(
                "The packet that led the {} to {} was not captured; later packets show the state.",
                self.end.name(),
                edges.join(", ")
            )
        })
    }
}
