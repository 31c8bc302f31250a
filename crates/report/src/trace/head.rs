//! The capture itself, above its connections.

use std::collections::BTreeMap;
use std::fmt::Write;
use tcplab_trace::{Note, OtherPackets};
use tcplab_units::Span;
use tcplab_units::rounded::grouped;

use super::numbers::span;
use crate::grid::{Look, Style};

/// The most files that are named.
const NAMES: usize = 20;
/// The most kinds of notes that are printed.
const NOTES: usize = 12;
/// The most other protocols that are named.
const OTHERS: usize = 4;
/// The most frames per note.
const FRAMES: usize = 5;

/// A capture apart from its connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureHead {
    /// The files, or the interface.
    pub names: Vec<String>,
    /// All packets.
    pub packets: u64,
    /// Those that are not TCP.
    pub others: Vec<OtherPackets>,
    /// The first packet, nanoseconds since the Unix epoch.
    pub started: Option<u64>,
    /// From the first TCP packet to the last.
    pub lasted: Span,
    /// The known link types.
    pub links: Vec<String>,
    /// The filter, if there is one.
    pub filter: Option<String>,
    /// Notes on the capture itself.
    pub notes: Vec<Note>,
}

impl CaptureHead {
    pub(crate) fn write(&self, out: &mut String, look: Look) {
        let (named, more) = self.names.split_at(self.names.len().min(NAMES));
        let more =
            if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        look.paragraph(out, "", &(named.join(" + ") + &more));
        let mut facts = vec![match self.packets {
            1 => "1 packet".to_owned(),
            n => format!("{} packets", grouped(n)),
        }];
        facts.extend(self.not_tcp());
        if !self.lasted.is_zero() {
            facts.push(span(self.lasted));
        }
        if let Some(started) = self.started.and_then(date) {
            facts.push(format!("from {started}"));
        }
        facts.extend(self.links.iter().cloned());
        if let Some(filter) = &self.filter {
            facts.push(format!("filter {filter}"));
        }
        look.paragraph(out, "", &facts.join(", "));
        out.push_str(&notes_text(&self.notes, look));
    }

    /// `12 not TCP (10 UDP, 2 ARP)`.
    fn not_tcp(&self) -> Option<String> {
        let all: u64 = self.others.iter().map(|other| other.packets).sum();
        let named = self.others.iter().take(OTHERS);
        let mut named: Vec<String> =
            named.map(|other| format!("{} {}", grouped(other.packets), other.protocol)).collect();
        if self.others.len() > OTHERS {
            named.push("…".to_owned());
        }
        (all > 0).then(|| format!("{} not TCP ({})", grouped(all), named.join(", ")))
    }
}

/// Remarks on a capture, a line each, those of the same kind together.
pub fn notes_text(notes: &[Note], look: Look) -> String {
    let mut text = String::new();
    let mut kinds: BTreeMap<usize, (&str, Vec<u64>)> = BTreeMap::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for note in notes {
        let place = places.len();
        let place = *places.entry(&note.text).or_insert(place);
        kinds.entry(place).or_insert((&note.text, Vec::new())).1.extend(note.frame);
    }
    for (what, frames) in kinds.values().take(NOTES) {
        let named: Vec<String> = frames.iter().take(FRAMES).map(|f| grouped(*f)).collect();
        let line = match (&named[..], frames.len()) {
            ([], _) => (*what).to_owned(),
            ([one], 1) => format!("frame {one}: {what}"),
            (some, all) if all > FRAMES => format!("frames {}…: {what}", some.join(", ")),
            (some, _) => format!("frames {}: {what}", some.join(", ")),
        };
        let mut lines = String::new();
        look.paragraph(&mut lines, "! ", &line);
        for line in lines.lines() {
            let _ = writeln!(text, "{}", look.paint(line, Style::Odd));
        }
    }
    if kinds.len() > NOTES {
        let _ = writeln!(text, "! {} more kinds of notes (--json)", kinds.len() - NOTES);
    }
    text
}

/// `2026-03-01 09:30:00 UTC`.
pub(super) fn date(nanos: u64) -> Option<String> {
    let at = jiff::Timestamp::from_nanosecond(i128::from(nanos)).ok()?;
    Some(at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
