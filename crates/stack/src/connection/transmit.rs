//! What leaves a connection.

use tcplab_wire::TcpFlags;

use crate::{Segment, SendCause};

/// A segment, or several of them as one burst, and why it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// The header and the data. Of a burst, the header is that of the first segment, but for PSH
    /// and FIN, which belong to the last.
    pub segment: Segment,
    /// Why it leaves.
    pub cause: SendCause,
    /// The data bytes at which a burst is cut into segments.
    pub mss: u32,
}

impl Transmit {
    /// How many segments the wire will see.
    pub fn segments(&self) -> u32 {
        self.segment.len().div_ceil(self.mss.max(1)).max(1)
    }

    /// The segments as the wire will see them, as a network card cuts them (`tcp_gso_segment`):
    /// CWR goes with the first, PSH and FIN go with the last, and the urgent pointer with all whose
    /// first byte lies before its target.
    pub fn cut(&self) -> impl Iterator<Item = Segment> + '_ {
        let (len, mss) = (self.segment.len(), self.mss.max(1));
        let count = self.segments();
        (0..count).map(move |index| {
            let from = index * mss;
            let to = len.min(from.saturating_add(mss));
            let mut header = self.segment.header;
            header.seq = header.seq.advanced_by(from);
            if index > 0 {
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
            Segment { header, ecn: self.segment.ecn, data: self.segment.data.part(from..to) }
        })
    }
}

#[cfg(test)]
mod tests {
    use tcplab_wire::{SeqNumber, TcpRepr};

    use super::*;
    use crate::Data;

    #[test]
    fn a_burst_is_cut_as_a_card_does() {
        let flags = TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR | TcpFlags::URG;
        let header = TcpRepr {
            seq: SeqNumber::new(u32::MAX),
            flags,
            urgent_pointer: 1500,
            ..TcpRepr::default()
        };
        let data = Data::copy_of(&[7; 2500]);
        let segment = Segment { data, ..Segment::bare(header) };
        let burst = Transmit { segment, cause: SendCause::New, mss: 1000 };
        let cut: Vec<_> = burst
            .cut()
            .map(|cut| {
                let header = cut.header;
                (header.seq.as_u32(), cut.len(), header.flags.to_string(), header.urgent_pointer)
            })
            .collect();
        assert_eq!(burst.segments(), 3);
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
    fn what_carries_no_data_is_one_segment() {
        let bare = Segment::bare(TcpRepr { flags: TcpFlags::ACK, ..TcpRepr::default() });
        let ack = Transmit { segment: bare.clone(), cause: SendCause::Ack, mss: 1448 };
        assert_eq!(ack.cut().collect::<Vec<_>>(), [bare]);
    }
}
