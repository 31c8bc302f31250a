//! The packets of a direction by their frames.
//!
//! Packets come in order of time. Where the capture is a little out of that order, their frames
//! are, but none is far from its place.

use tcplab_units::Instant;

use crate::{Ack, Flow, Segment};

/// No packet is farther from the place that its frame would have.
const FARTHEST: usize = 1 << 12;

impl Segment {
    /// Where it stands among the packets of its connection: by time, then by frame.
    pub fn order(&self) -> (Instant, u64) {
        (self.at, self.frame)
    }

    /// The place of the segment in this frame, of those of a direction.
    pub fn place_among(segments: &[Segment], frame: u64) -> Option<usize> {
        place_in(segments, frame, |segment| segment.frame)
    }
}

impl Ack {
    /// Where it stands among the packets of its connection: by time, then by frame.
    pub fn order(&self) -> (Instant, u64) {
        (self.at, self.frame)
    }
}

impl Flow {
    /// The place of the segment in this frame.
    pub fn place_of_segment(&self, frame: u64) -> Option<usize> {
        Segment::place_among(&self.segments, frame)
    }
    /// The segment in this frame.
    pub fn segment_in(&self, frame: u64) -> Option<&Segment> {
        self.place_of_segment(frame).map(|place| &self.segments[place])
    }
    /// The segment in this frame, to be changed.
    pub fn segment_in_mut(&mut self, frame: u64) -> Option<&mut Segment> {
        self.place_of_segment(frame).map(|place| &mut self.segments[place])
    }
    /// The acknowledgement in this frame.
    pub fn ack_in(&self, frame: u64) -> Option<&Ack> {
        place_in(&self.acks, frame, |ack| ack.frame).map(|place| &self.acks[place])
    }
}

/// The place of what is in this frame, of things that are nearly in order of frames.
pub(crate) fn place_in<T>(all: &[T], frame: u64, frame_of: impl Fn(&T) -> u64) -> Option<usize> {
    let near = match all.binary_search_by_key(&frame, &frame_of) {
        Ok(place) => return Some(place),
        Err(near) => near,
    };
    let from = near.saturating_sub(FARTHEST);
    let until = near.saturating_add(FARTHEST).min(all.len());
    all[from..until].iter().position(|it| frame_of(it) == frame).map(|place| from + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_nearly_ordered_frames() {
        let frames = [2_u64, 1, 3, 9, 5, 7, 6, 12];
        for (place, frame) in frames.into_iter().enumerate() {
            assert_eq!(place_in(&frames, frame, |it| *it), Some(place), "{frame}");
        }
        for missing in [0, 4, 8, 10, 13] {
            assert_eq!(place_in(&frames, missing, |it| *it), None);
        }
    }
}
