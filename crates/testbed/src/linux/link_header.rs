//! The header before a packet in an Ethernet frame.

use tcplab_path::{Direction, Verdict};

use std::collections::VecDeque;

/// Both addresses, a tag that the network card took off, another in the frame, and the EtherType.
const LONGEST: usize = 12 + 4 + 4 + 2;
/// EtherTypes of tags (IEEE 802.1Q).
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// The header of a frame, tags included; empty for a device that carries packets without frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LinkHeader {
    bytes: [u8; LONGEST],
    len: u8,
}

impl LinkHeader {
    /// Length without any tag.
    pub(crate) const SHORTEST: usize = 14;

    /// The header of a frame, and its length in the frame. `taken_off` is the outermost tag where
    /// it is not in the frame any more. None for what is no frame.
    pub(crate) fn of(frame: &[u8], taken_off: Option<[u8; 4]>) -> Option<(LinkHeader, usize)> {
        let ether_type = |at: usize| Some([*frame.get(at)?, *frame.get(at + 1)?]);
        let mut len = LinkHeader::SHORTEST;
        // Of more tags than one, the inner ones are what is carried.
        if TAGS.contains(&ether_type(12)?) && ether_type(16).is_some() {
            len += 4;
        }
        let mut header = LinkHeader::default();
        header.push(&frame[..12]);
        header.push(&taken_off.unwrap_or_default()[..taken_off.map_or(0, |tag| tag.len())]);
        header.push(&frame[12..len]);
        Some((header, len))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Whether an IP packet follows, as one does where there are no frames.
    pub(crate) fn is_ip(&self) -> bool {
        self.as_bytes().last_chunk().is_none_or(|ether_type| [IPV4, IPV6].contains(ether_type))
    }

    /// That of an answer, which goes back.
    fn reversed(mut self) -> LinkHeader {
        if self.len > 0 {
            let (destination, rest) = self.bytes.split_at_mut(6);
            destination.swap_with_slice(&mut rest[..6]);
        }
        self
    }

    fn push(&mut self, more: &[u8]) {
        let from = usize::from(self.len);
        self.bytes[from..from + more.len()].copy_from_slice(more);
        self.len += more.len() as u8;
    }
}

/// The headers of packets whose bytes the path has, by their numbers, which count up. The path
/// knows packets only; copies and answers go by the header of their origin.
pub(crate) struct LinkHeaders {
    first: u64,
    kept: VecDeque<(Direction, LinkHeader)>,
}

/// As many as 3 Gbit/s bring in a second. What is older and still on the path is lost.
const MOST: usize = 1 << 18;

impl LinkHeaders {
    pub(crate) fn new() -> LinkHeaders {
        LinkHeaders { first: 1, kept: VecDeque::new() }
    }

    /// Keeps the header of the packet `id`, the next one.
    pub(crate) fn keep(&mut self, id: u64, direction: Direction, header: LinkHeader) {
        // Numbers may have been left out.
        if id != self.first + self.kept.len() as u64 {
            self.kept.clear();
        }
        if self.kept.is_empty() {
            self.first = id;
        }
        if self.kept.len() == MOST {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back((direction, header));
    }

    /// The header for a packet that was judged.
    pub(crate) fn find(&self, verdict: &Verdict) -> Option<LinkHeader> {
        let id = verdict.origin.unwrap_or(verdict.id);
        let index = usize::try_from(id.checked_sub(self.first)?).ok()?;
        let (direction, header) = *self.kept.get(index)?;
        Some(if direction == verdict.direction { header } else { header.reversed() })
    }
}

#[cfg(test)]
mod tests {
    use tcplab_path::Fate;
    use tcplab_units::{Bytes, Instant};

    use super::*;

    const ADDRESSES: [u8; 12] = [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16];

    fn frame(rest: &[u8]) -> Vec<u8> {
        [&ADDRESSES[..], rest].concat()
    }

    #[test]
    fn headers_are_found_with_their_tags() {
        let tag = [0x81, 0x00, 0x00, 0x07];
        for (rest, taken_off, written, in_frame, is_ip) in [
            (&[8, 0, 0x45][..], None, &[8, 0][..], 14, true),
            (&[8, 6, 0, 1], None, &[8, 6], 14, false),
            (&[0x86, 0xdd, 0x60], Some(tag), &[0x81, 0, 0, 7, 0x86, 0xdd], 14, true),
            (&[0x81, 0, 0, 9, 8, 0, 0x45], None, &[0x81, 0, 0, 9, 8, 0], 18, true),
            (
                &[0x81, 0, 0, 9, 8, 0, 0x45],
                Some([0x88, 0xa8, 0, 5]),
                &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 9, 8, 0],
                18,
                true,
            ),
            // Cut off in the tag: whatever it is, it is no IP.
            (&[0x81, 0, 0, 9], None, &[0x81, 0], 14, false),
        ] {
            let (header, len) = LinkHeader::of(&frame(rest), taken_off).unwrap();
            assert_eq!(header.as_bytes(), frame(written), "{rest:?}");
            assert_eq!((len, header.is_ip()), (in_frame, is_ip), "{rest:?}");
        }
        assert_eq!(LinkHeader::of(&[0; 13], None), None);
        assert!(LinkHeader::default().is_ip());
    }

    #[test]
    fn copies_go_by_their_origin_and_answers_back() {
        let (header, _) = LinkHeader::of(&frame(&[8, 0]), None).unwrap();
        let verdict = |id, origin, direction| Verdict {
            id,
            direction,
            size: Bytes::new(100),
            entered: Instant::ZERO,
            transmission: None,
            left: Instant::ZERO,
            fate: Fate::Delivered,
            origin,
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        };
        let mut headers = LinkHeaders::new();
        headers.keep(5, Direction::Forward, header);
        headers.keep(6, Direction::Reverse, LinkHeader::default());
        let find = |id, origin, direction| headers.find(&verdict(id, origin, direction));
        assert_eq!(find(5, None, Direction::Forward), Some(header));
        assert_eq!(find(1 << 63, Some(5), Direction::Forward), Some(header));
        let back = find(1 << 63, Some(5), Direction::Reverse).unwrap();
        assert_eq!(back.as_bytes()[..12], [&ADDRESSES[6..], &ADDRESSES[..6]].concat());
        assert_eq!(find(4, None, Direction::Forward), None);
        assert_eq!(find(7, None, Direction::Forward), None);
    }
}
