//! What leaves a connection.

use tcplab_wire::TcpFlags;

use crate::{Data, Segment, SendCause};

/// A segment, or several of them as one burst, and why it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// The header and the data. Of a burst, the header is that of the first segment, except for PSH
    /// and FIN, which belong to the last.
    pub segment: Segment,
    /// Of a burst, the data that follows where it lies in other blocks.
    pub rest: Vec<Data>,
    /// Why it leaves.
    pub cause: SendCause,
    /// The data bytes at which a burst is cut into segments.
    pub mss: u32,
    /// Whether ECE, CWR and AE are a counter that all its segments carry (RFC 9768 section 3.2.2).
    pub is_accurate: bool,
}

impl Transmit {
    /// One segment.
    pub(crate) fn single(segment: Segment, cause: SendCause) -> Transmit {
        Transmit { segment, rest: Vec::new(), cause, mss: u32::MAX, is_accurate: false }
    }

    /// Data bytes of all segments.
    pub fn len(&self) -> u32 {
        self.segment.len() + self.rest.iter().map(Data::len).sum::<u32>()
    }

    /// Whether it carries no data.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many segments the wire will see.
    pub fn segments(&self) -> u32 {
        self.len().div_ceil(self.mss.max(1)).max(1)
    }

    /// All of a burst as one segment, larger than the wire would let it be, as a capture on the
    /// sending host shows it.
    pub fn whole(&self) -> Segment {
        let data = Pieces::of(self).take(self.len());
        Segment { ecn: self.segment.ecn, data, ..Segment::bare(self.segment.header) }
    }

    /// The segments as the wire will see them, as a network card cuts them (`tcp_gso_segment`):
    /// CWR goes with the first, PSH and FIN go with the last, and the urgent pointer with all whose
    /// first byte lies before its target.
    pub fn cut(&self) -> impl Iterator<Item = Segment> + '_ {
        let (len, mss) = (self.len(), self.mss.max(1));
        let count = self.segments();
        let mut pieces = Pieces::of(self);
        (0..count).map(move |index| {
            let from = index * mss;
            let to = len.min(from.saturating_add(mss));
            let mut header = self.segment.header;
            header.seq = header.seq.advanced_by(from);
            if index > 0 && !self.is_accurate {
                header.flags = header.flags.without(TcpFlags::CWR);
            }
            if index + 1 < count {
                header.flags = header.flags.without(TcpFlags::FIN | TcpFlags::PSH);
            }
            let pointer = u32::from(header.urgent_pointer);
            if pointer > from {
                header.urgent_pointer = (pointer - from) as u16;
            } else {
                header.urgent_pointer = 0;
                header.flags = header.flags.without(TcpFlags::URG);
            }
            let data = pieces.take(to - from);
            Segment { ecn: self.segment.ecn, data, ..Segment::bare(header) }
        })
    }
}

/// The data of a burst, block by block.
struct Pieces<'a> {
    current: &'a Data,
    /// What was taken of it.
    taken: u32,
    others: std::slice::Iter<'a, Data>,
}

impl<'a> Pieces<'a> {
    fn of(transmit: &'a Transmit) -> Pieces<'a> {
        Pieces { current: &transmit.segment.data, taken: 0, others: transmit.rest.iter() }
    }

    /// The next `len` bytes; copied only when they lie in several blocks.
    fn take(&mut self, len: u32) -> Data {
        let end = self.taken + len;
        if end <= self.current.len() {
            let data = self.current.part(self.taken..end);
            self.taken = end;
            return data;
        }
        Data::filled(len, |mut room| {
            while !room.is_empty() {
                let left = &self.current.as_slice()[self.taken as usize..];
                let count = left.len().min(room.len());
                let (filled, behind) = room.split_at_mut(count);
                filled.copy_from_slice(&left[..count]);
                self.taken += count as u32;
                room = behind;
                if !room.is_empty() {
                    let Some(next) = self.others.next() else { break };
                    (self.current, self.taken) = (next, 0);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use tcplab_wire::{SeqNumber, TcpRepr};

    use super::*;

    #[test]
    fn burst_is_cut_like_tso() {
        let flags = TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR | TcpFlags::URG;
        let header = TcpRepr {
            seq: SeqNumber::new(u32::MAX),
            flags,
            urgent_pointer: 1500,
            ..TcpRepr::default()
        };
        let bytes: Vec<_> = (0..2500).map(|n| n as u8).collect();
        let data = Data::copy_of(&bytes);
        let segment = Segment { data: data.part(0..700), ..Segment::bare(header) };
        let rest = vec![data.part(700..1500), data.part(1500..2500)];
        let burst =
            Transmit { segment, rest, cause: SendCause::New, mss: 1000, is_accurate: false };
        let cut: Vec<_> = burst
            .cut()
            .map(|cut| {
                let header = cut.header;
                (header.seq.as_u32(), cut.len(), header.flags.to_string(), header.urgent_pointer)
            })
            .collect();
        assert_eq!(burst.segments(), 3);
        let joined: Vec<_> = burst.cut().flat_map(|cut| cut.data.as_slice().to_vec()).collect();
        assert_eq!(joined, bytes);
        assert_eq!((burst.whole().data.as_slice(), burst.len()), (&bytes[..], 2500));
        assert_eq!(
            cut,
            [
                (u32::MAX, 1000, "[.UW]".into(), 1500),
                (999, 1000, "[.U]".into(), 500),
                (1999, 500, "[FP.]".into(), 0),
            ]
        );
    }

    #[test]
    fn burst_without_data_is_one_segment() {
        let bare = Segment::bare(TcpRepr { flags: TcpFlags::ACK, ..TcpRepr::default() });
        let ack = Transmit::single(bare.clone(), SendCause::Ack);
        assert_eq!(ack.cut().collect::<Vec<_>>(), [bare]);
    }
}
