//! Reads tcplab's captures frame by frame.

use std::path::Path;

use tcplab_capture::{Direction, Reader, Statistics};
use tcplab_wire::{FrameView, TcpFlags};

#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// From 1.
    pub(crate) number: u64,
    /// Since the Unix epoch.
    pub(crate) nanos: u64,
    /// The IP packet.
    pub(crate) bytes: Vec<u8>,
    pub(crate) direction: Direction,
    pub(crate) comments: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) frames: Vec<Frame>,
    pub(crate) statistics: Vec<Option<Statistics>>,
}

impl Tap {
    pub(crate) fn read(path: &Path) -> Tap {
        let mut reader = Reader::open(path).unwrap();
        let mut frames = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            let number = frames.len() as u64 + 1;
            assert_eq!(record.original_len as usize, record.captured.len(), "frame {number}");
            frames.push(Frame {
                number,
                nanos: record.time.expect("ours have a time").as_nanos(),
                bytes: record.captured.to_vec(),
                direction: record.direction().expect("ours have a direction"),
                comments: record.comments().map(std::borrow::Cow::into_owned).collect(),
            });
        }
        Tap { frames, statistics: reader.statistics().to_vec() }
    }

    /// The frames of this direction.
    pub(crate) fn going(&self, direction: Direction) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.direction == direction)
    }

    /// The endpoint's packets with data, SYN or FIN.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        let mut initial = None;
        let mut highest = 0;
        let mut sent = Vec::new();
        for frame in self.going(Direction::Outbound) {
            let tcp = FrameView::of_packet(&frame.bytes).tcp().expect("only TCP travels here");
            let isn = *initial.get_or_insert(tcp.seq().as_u32());
            let length = tcp.sequence_len();
            if length == 0 {
                continue;
            }
            // Transfers of these tests are far shorter than 2³¹ bytes.
            let start = tcp.seq().as_u32().wrapping_sub(isn);
            let syn = tcp.flags().contains(TcpFlags::SYN);
            sent.push(Sent { frame: frame.number, start, syn, again: start < highest });
            highest = highest.max(start + length);
        }
        sent
    }
}

/// A packet with data, SYN or FIN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) frame: u64,
    /// Relative sequence number; the SYN's is 0.
    pub(crate) start: u32,
    pub(crate) syn: bool,
    /// Whether it is a retransmission.
    pub(crate) again: bool,
}
