//! Packets on their way into an endpoint: segments become super-packets again.

use std::io::{self, IoSlice};
use std::ops::RangeInclusive;

use tcplab_path::Verdict;
use tcplab_units::{Instant, Span};
use tcplab_wire::offload::{Merge, Piece, VnetHeader};
use tcplab_wire::{ChecksumState, FrameView};

use super::store::{Place, Store};
use crate::device::Device;
use crate::link_header::LinkHeader;

/// Stretches of memory that one write may gather.
const MOST_STRETCHES: usize = 48;
/// The longest packet that an IPv4 header can describe.
const LONGEST: usize = 65_535;

/// Packets that are handed to an endpoint in one write.
///
/// Segments of one flow that follow one another, and whose instants lie within a window, become
/// one super-packet: a network card that moderates its interrupts and the kernel's generic receive
/// offload would hand them over so. The bridge does not wait for the window to fill: what is due is
/// handed over at once, so segments meet here only when they are due together or the bridge is
/// behind.
pub(super) struct Outgoing {
    /// Segments due within this of the first; none: every packet alone.
    window: Option<Span>,
    /// Those that wait, with their verdicts.
    held: Vec<Held>,
    stretches: Vec<Stretch>,
    /// All stretches, except the last one while `is_open`.
    merge: Merge,
    is_open: bool,
    /// When the first one was due.
    since: Instant,
    /// Bytes, headers counted with each.
    len: usize,
    /// What goes before them, which all have in common.
    link: LinkHeader,
    /// Scratch: headers.
    header: Vec<u8>,
}

/// One packet, or several segments of a super-packet.
pub(super) struct Held {
    /// Of the first segment; the others differ in number and size only.
    pub(super) verdict: Verdict,
    pub(super) load: Load,
    pub(super) segments: usize,
}

/// Where a packet's bytes are.
pub(super) enum Load {
    /// In the store, as a segment of something.
    Stored(Place),
    /// Here.
    Owned(Vec<u8>),
}

/// Bytes that lie together.
#[derive(Clone, Copy)]
enum Stretch {
    /// Segments of one super-packet, first and last.
    Stored { serial: u64, from: usize, to: usize },
    /// The one in `held` with this index.
    Owned(usize),
}

impl Outgoing {
    pub(super) fn new(window: Option<Span>) -> Outgoing {
        Outgoing {
            window,
            held: Vec::new(),
            stretches: Vec::new(),
            merge: Merge::new(),
            is_open: false,
            since: Instant::ZERO,
            len: 0,
            link: LinkHeader::default(),
            header: Vec::new(),
        }
    }

    /// What goes before those that wait.
    pub(super) fn link(&self) -> LinkHeader {
        self.link
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether a packet due at `due` may go in the same write as those that wait.
    pub(super) fn takes(
        &mut self,
        store: &Store,
        load: &Load,
        link: &LinkHeader,
        due: Instant,
    ) -> bool {
        let Some(last) = self.stretches.last().copied() else { return true };
        if self.link != *link {
            return false;
        }
        if self.window.is_none_or(|window| due.since(self.since) > window) {
            return false;
        }
        if let (Stretch::Stored { serial, to, .. }, Load::Stored(place)) = (last, load)
            && *place == (Place { serial, segment: to + 1 })
        {
            let size = store.look(serial).size(place.segment);
            return self.stretches.len() == 1 || self.len + size <= LONGEST;
        }
        if self.stretches.len() == MOST_STRETCHES {
            return false;
        }
        self.close(store);
        let mut header = std::mem::take(&mut self.header);
        let bytes = match load {
            Load::Stored(_) => &[],
            Load::Owned(bytes) => &bytes[..],
        };
        let stretch = match *load {
            Load::Stored(Place { serial, segment }) => {
                Stretch::Stored { serial, from: segment, to: segment }
            }
            Load::Owned(_) => Stretch::Owned(0),
        };
        let takes =
            piece(store, stretch, bytes, &mut header).is_some_and(|piece| self.merge.takes(piece));
        self.header = header;
        takes
    }

    /// Adds a packet that it takes.
    pub(super) fn push(&mut self, store: &Store, load: Load, link: LinkHeader, verdict: Verdict) {
        if self.held.is_empty() {
            (self.since, self.len, self.is_open) = (verdict.left, 0, false);
            self.link = link;
        }
        match &load {
            Load::Stored(place) => {
                self.len += store.look(place.serial).size(place.segment);
                match self.stretches.last_mut() {
                    Some(Stretch::Stored { serial, to, .. })
                        if *place == (Place { serial: *serial, segment: *to + 1 }) =>
                    {
                        *to += 1;
                    }
                    _ => {
                        let Place { serial, segment } = *place;
                        self.stretches.push(Stretch::Stored { serial, from: segment, to: segment });
                    }
                }
            }
            Load::Owned(bytes) => {
                self.len += bytes.len();
                self.stretches.push(Stretch::Owned(self.held.len()));
            }
        }
        self.is_open = true;
        self.held.push(Held { verdict, load, segments: 1 });
    }

    /// Adds segments of a super-packet, whose verdicts differ only in number and size. Call it when
    /// nothing waits.
    pub(super) fn push_run(
        &mut self,
        store: &Store,
        serial: u64,
        segments: RangeInclusive<usize>,
        verdict: Verdict,
    ) {
        let (from, to) = segments.into_inner();
        let look = store.look(serial);
        (self.since, self.len, self.is_open) = (verdict.left, look.packet.len(), true);
        self.link = look.link;
        self.stretches.push(Stretch::Stored { serial, from, to });
        let load = Load::Stored(Place { serial, segment: from });
        self.held.push(Held { verdict, load, segments: to - from + 1 });
    }

    /// Hands them over as one packet; false if the endpoint's kernel had no room. They wait until
    /// they are [taken away](Outgoing::clear).
    pub(super) fn hand_over(&mut self, store: &Store, device: &mut Device) -> io::Result<bool> {
        match self.stretches[..] {
            [Stretch::Owned(index)] => {
                let bytes = owned(&self.held, index);
                device.send(VnetHeader::COMPLETE, &self.link, &[IoSlice::new(bytes)])
            }
            [Stretch::Stored { serial, from, to }] => {
                let look = store.look(serial);
                match look.layout {
                    Some(layout) if !look.is_whole(&(from..=to)) => {
                        let segments = from..=to;
                        let header = layout.write_header(look.packet, &segments, &mut self.header);
                        let (from, to) = layout.data(&segments);
                        let data = &look.packet[from..to];
                        let parts = [IoSlice::new(&self.header), IoSlice::new(data)];
                        device.send(header, &self.link, &parts)
                    }
                    _ => device.send(look.header, &self.link, &[IoSlice::new(look.packet)]),
                }
            }
            _ => self.hand_over_merged(store, device),
        }
    }

    fn hand_over_merged(&mut self, store: &Store, device: &mut Device) -> io::Result<bool> {
        self.close(store);
        let header = self.merge.finish();
        let mut parts = [IoSlice::new(&[]); MOST_STRETCHES + 1];
        parts[0] = IoSlice::new(self.merge.header());
        for (part, stretch) in parts[1..].iter_mut().zip(&self.stretches) {
            *part = IoSlice::new(match *stretch {
                Stretch::Stored { serial, from, to } => {
                    let look = store.look(serial);
                    let (from, to) = look.layout.map_or((0, 0), |layout| layout.data(&(from..=to)));
                    &look.packet[from..to]
                }
                // What merges has headers as long as the first.
                Stretch::Owned(index) => &owned(&self.held, index)[self.merge.header().len()..],
            });
        }
        device.send(header, &self.link, &parts[..=self.stretches.len()])
    }

    /// Takes all away that waits, in order.
    pub(super) fn clear(&mut self) -> std::vec::Drain<'_, Held> {
        self.stretches.clear();
        self.held.drain(..)
    }

    /// Makes the last stretch part of the merged ones.
    fn close(&mut self, store: &Store) {
        let Some(last) = self.stretches.last().copied().filter(|_| self.is_open) else { return };
        let mut header = std::mem::take(&mut self.header);
        let bytes = match last {
            Stretch::Owned(index) => owned(&self.held, index),
            Stretch::Stored { .. } => &[],
        };
        // What is no piece of a stream stands alone: nothing is merged with an empty one.
        let piece = piece(store, last, bytes, &mut header).unwrap_or(Piece {
            header: &[],
            data_len: 0,
            step: 0,
        });
        if self.stretches.len() == 1 {
            self.merge.begin(piece);
        } else {
            self.merge.add(piece);
        }
        self.header = header;
        self.is_open = false;
    }
}

fn owned(held: &[Held], index: usize) -> &[u8] {
    match &held[index].load {
        Load::Owned(bytes) => bytes,
        Load::Stored(_) => &[],
    }
}

/// What merging needs to know of some segments; none if they are not to be merged. `owned` are
/// the bytes of what is not in the store; `header` is scratch.
fn piece<'a>(
    store: &Store,
    stretch: Stretch,
    owned: &'a [u8],
    header: &'a mut Vec<u8>,
) -> Option<Piece<'a>> {
    match stretch {
        Stretch::Stored { serial, from, to } => {
            let look = store.look(serial);
            let layout = look.layout?;
            let segments = from..=to;
            layout.write_header(look.packet, &segments, header);
            let (start, end) = layout.data(&segments);
            Some(Piece { header, data_len: end - start, step: layout.step() })
        }
        Stretch::Owned(_) => {
            let view = FrameView::of_packet(owned);
            let tcp = view.tcp().filter(|_| view.anomaly().is_none())?;
            // A wrong checksum must stay to be seen.
            if tcp.checksum_state() != ChecksumState::Right
                || !tcp.ip().header_checksum_is_right()
                || tcp.ip().total_len() as usize != owned.len()
            {
                return None;
            }
            let data_len = tcp.payload_len() as usize;
            let header = &owned[..owned.len() - data_len];
            Some(Piece { header, data_len, step: data_len })
        }
    }
}
