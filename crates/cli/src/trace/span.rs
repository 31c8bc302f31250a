//! A part of a connection: from a time or frame to another.

use std::borrow::Cow;

use anyhow::{Result, bail};
use tcplab_trace::{Connection, Flow};
use tcplab_units::Instant;

use crate::arguments::Place;

/// Which packets to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    from: Option<Place>,
    to: Option<Place>,
}

impl Part {
    /// From `from` to `to`, both included; an error where no packet of the connection is.
    pub(super) fn new(
        connection: &Connection,
        from: Option<Place>,
        to: Option<Place>,
    ) -> Result<Part> {
        let part = Part::of_any(from, to);
        let flows = [&connection.forward, &connection.reverse];
        if !part.is_whole() && flows.iter().all(|flow| part.frames(flow).is_none()) {
            let (first, last) = connection.frames;
            bail!(
                "no packet of the connection lies between --from and --to: it has frames {first} \
                 to {last}, {:.6} s to {:.6} s",
                connection.first.as_secs_f64(),
                connection.last.as_secs_f64()
            );
        }
        Ok(part)
    }

    /// From `from` to `to`, both included, of connections that may have no packet there.
    pub(super) fn of_any(from: Option<Place>, to: Option<Place>) -> Part {
        Part { from, to }
    }

    /// Whether it leaves nothing out.
    pub(super) fn is_whole(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    fn holds(&self, at: Instant, frame: u64) -> bool {
        let passed = at.since(Instant::ZERO);
        let begun = self.from.is_none_or(|from| match from {
            Place::Time(from) => from <= passed,
            Place::Frame(from) => from <= frame,
        });
        let over = self.to.is_some_and(|to| match to {
            Place::Time(to) => passed > to,
            Place::Frame(to) => frame > to,
        });
        begun && !over
    }

    /// The first and last frame in it that belong to `flow`; none if none does.
    pub(super) fn frames(&self, flow: &Flow) -> Option<(u64, u64)> {
        let segments = flow.segments.iter().map(|segment| (segment.at, segment.frame));
        let acks = flow.acks.iter().map(|ack| (ack.at, ack.frame));
        let resets = flow.resets.iter().map(|reset| (reset.at, reset.frame));
        let packets = segments.chain(acks).chain(resets);
        let held = packets.filter(|&(at, frame)| self.holds(at, frame));
        held.fold(None, |span, (_, frame)| {
            let (first, last) = span.unwrap_or((frame, frame));
            Some((first.min(frame), last.max(frame)))
        })
    }

    /// The packets in it, and the episodes of which some packet is in it.
    pub(super) fn of<'a>(&self, connection: &'a Connection) -> Cow<'a, Connection> {
        if self.is_whole() {
            return Cow::Borrowed(connection);
        }
        let mut part = connection.clone();
        for flow in [&mut part.forward, &mut part.reverse] {
            let frames = self.frames(flow);
            flow.segments.retain(|segment| self.holds(segment.at, segment.frame));
            flow.acks.retain(|ack| self.holds(ack.at, ack.frame));
            flow.resets.retain(|reset| self.holds(reset.at, reset.frame));
            flow.episodes.retain(|episode| {
                let (begin, end) = episode.frames;
                frames.is_some_and(|(first, last)| begin <= last && first <= end)
            });
        }
        Cow::Owned(part)
    }
}
