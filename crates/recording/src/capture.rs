//! The capture at one endpoint: frames in order, each written once its verdict is known.

use std::collections::VecDeque;
use std::io;

use tcplab_capture::{Direction, Interface, Packet, PcapngWriter, Section, Statistics, UnixTime};
use tcplab_path::{Fate, Verdict};
use tcplab_units::{Endpoint, Instant};

use crate::RecordingError;
use crate::output::Output;

/// `LINKTYPE_RAW`: each packet starts with its IP header.
const RAW_IP: u16 = 101;

/// The comment of a packet on which no verdict is known: it may have reached the other end.
pub const NO_VERDICT: &str = "no verdict recorded";

/// Buffers to reuse; those of a longer queue are freed.
const MOST_SPARE: usize = 4096;

/// A packet, or its first bytes.
#[derive(Debug, Clone, Copy)]
pub struct Captured<'a> {
    /// Its first bytes, or all.
    pub bytes: &'a [u8],
    /// Its length on the wire, bytes.
    pub original_len: u32,
}

/// One endpoint's capture, being written.
#[derive(Debug)]
pub(crate) struct EndCapture {
    writer: PcapngWriter<Output>,
    name: &'static str,
    interface: u32,
    epoch_nanos: u64,
    /// Bytes that it keeps of a frame at most.
    snap_len: usize,
    /// Frames not written yet, in order of time.
    held: VecDeque<Frame>,
    /// The number of the next frame to be written, from 1.
    next_frame: u64,
    /// The id of the last packet sent.
    last_id: u64,
    /// Frames that are missing because writing could not keep up.
    missed: u64,
    /// Buffers of written frames, for reuse.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Frame {
    at: Instant,
    bytes: Vec<u8>,
    original_len: u32,
    /// Of a received frame, that of the frame sent before it: so ids never fall along the queue.
    id: u64,
    state: State,
    /// Why it was sent, if the endpoint reports it.
    because: Option<&'static str>,
}

#[derive(Debug)]
enum State {
    /// Received.
    Received,
    /// Sent; the path has not decided yet.
    Sent,
    /// Sent, with the verdict of the path.
    Decided(Verdict),
    /// Sent, and its verdict was lost.
    VerdictLost,
    /// Sent onto a path that gives no verdicts.
    Unobserved,
}

impl EndCapture {
    pub(crate) fn start(
        output: Output,
        epoch_nanos: u64,
        endpoint: Endpoint,
        address: &str,
        snap_len: u32,
    ) -> Result<EndCapture, RecordingError> {
        let section = Section {
            hardware: None,
            os: None,
            application: Some(concat!("tcplab ", env!("CARGO_PKG_VERSION"))),
        };
        let name = endpoint.name();
        let interface = Interface {
            name: Some(name.into()),
            description: Some(format!("packets as they leave and enter the {name}, {address}")),
            link_type: RAW_IP,
            snap_len,
        };
        let start = |output| {
            let mut writer = PcapngWriter::new(output, &section)?;
            let interface = writer.add_interface(&interface)?;
            Ok((writer, interface))
        };
        let (writer, interface) = start(output).map_err(cannot_write(name))?;
        Ok(EndCapture {
            writer,
            name,
            interface,
            epoch_nanos,
            snap_len: if snap_len == 0 { usize::MAX } else { snap_len as usize },
            held: VecDeque::new(),
            next_frame: 1,
            last_id: 0,
            missed: 0,
            spare: Vec::new(),
        })
    }

    /// The endpoint sent packet `id`.
    pub(crate) fn left(
        &mut self,
        at: Instant,
        id: u64,
        packet: Captured<'_>,
        because: Option<&'static str>,
    ) {
        self.last_id = id;
        self.hold(at, packet, State::Sent, because);
    }

    /// The endpoint received a packet.
    pub(crate) fn entered(&mut self, at: Instant, packet: Captured<'_>) {
        self.hold(at, packet, State::Received, None);
    }

    /// The endpoint sent a packet onto a path that gives no verdicts.
    pub(crate) fn left_unobserved(&mut self, at: Instant, packet: Captured<'_>) {
        self.hold(at, packet, State::Unobserved, None);
    }

    /// The verdict on a packet that this endpoint sent; whether the packet waits here for it.
    pub(crate) fn verdict(&mut self, verdict: &Verdict) -> bool {
        let Some(index) = self.waiting(verdict.id) else { return false };
        self.held[index].state = State::Decided(*verdict);
        true
    }

    /// The packet `id` that this endpoint sent, as long as it waits for its verdict.
    pub(crate) fn sent(&self, id: u64) -> Option<Captured<'_>> {
        let Frame { bytes, original_len, .. } = &self.held[self.waiting(id)?];
        Some(Captured { bytes, original_len: *original_len })
    }

    /// Counts missing frames.
    pub(crate) fn missed(&mut self, frames: u64) {
        self.missed += frames;
    }

    /// Bytes that it keeps of a frame at most.
    pub(crate) fn snap_len(&self) -> usize {
        self.snap_len
    }

    pub(crate) fn frames_missed(&self) -> u64 {
        self.missed
    }

    fn hold(
        &mut self,
        at: Instant,
        packet: Captured<'_>,
        state: State,
        because: Option<&'static str>,
    ) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(&packet.bytes[..packet.bytes.len().min(self.snap_len)]);
        let (original_len, id) = (packet.original_len, self.last_id);
        self.held.push_back(Frame { at, bytes, original_len, id, state, because });
    }

    fn waiting(&self, id: u64) -> Option<usize> {
        // Most packets leave the path in the order in which they came to it.
        let first = match self.held.front()? {
            front if front.id == id => 0,
            _ => self.held.partition_point(|frame| frame.id < id),
        };
        let frame = self.held.get(first)?;
        (frame.id == id && matches!(frame.state, State::Sent)).then_some(first)
    }

    /// No more verdicts will come on packets before `id`.
    pub(crate) fn give_up_waiting(&mut self, id: u64) {
        for frame in self.held.iter_mut().take_while(|frame| frame.id < id) {
            if matches!(frame.state, State::Sent) {
                frame.state = State::VerdictLost;
            }
        }
    }

    /// Writes frames up to the first that waits for its verdict; `decided` is called with the frame
    /// number, the verdict and the cause of sending of each that has one.
    pub(crate) fn settle(
        &mut self,
        mut decided: impl FnMut(u64, &Verdict, Option<&'static str>) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        while let Some(frame) = self.held.front() {
            let (direction, comment) = match &frame.state {
                State::Sent => return Ok(()),
                State::Received => (Direction::Inbound, None),
                State::Unobserved => (Direction::Outbound, None),
                State::VerdictLost => (Direction::Outbound, Some(NO_VERDICT.to_owned())),
                State::Decided(verdict) => {
                    decided(self.next_frame, verdict, frame.because)?;
                    let comment =
                        (verdict.fate != Fate::Delivered).then(|| verdict.fate.to_string());
                    (Direction::Outbound, comment)
                }
            };
            let comments = comment.as_deref();
            let packet = Packet {
                interface: self.interface,
                time: UnixTime::from_nanos(self.epoch_nanos + frame.at.as_nanos()),
                captured: &frame.bytes,
                original_len: frame.original_len,
                direction: Some(direction),
                comments: comments.as_slice(),
            };
            self.writer.write_packet(&packet).map_err(cannot_write(self.name))?;
            self.next_frame += 1;
            if let Some(Frame { mut bytes, .. }) = self.held.pop_front()
                && self.spare.len() < MOST_SPARE
            {
                bytes.clear();
                self.spare.push(bytes);
            }
        }
        Ok(())
    }

    /// Flushes what was written to the file.
    pub(crate) fn flush(&mut self) -> Result<(), RecordingError> {
        self.writer.flush().map_err(cannot_write(self.name))
    }

    /// Ends the capture; `lost` frames were lost by the world. Gives the file back, not yet synced.
    pub(crate) fn finish(mut self, end: Instant, lost: u64) -> Result<Output, RecordingError> {
        let lost = lost + self.missed;
        let counted = Statistics {
            start: Some(UnixTime::from_nanos(self.epoch_nanos)),
            end: Some(UnixTime::from_nanos(self.epoch_nanos + end.as_nanos())),
            received: Some(self.next_frame - 1 + lost),
            dropped: Some(lost),
            dropped_by_os: None,
        };
        self.writer
            .write_statistics(self.interface, &counted)
            .and_then(|()| self.writer.finish())
            .map_err(cannot_write(self.name))
    }
}

/// Writing to an [`Output`] through the capture's writer gives plain I/O errors.
fn cannot_write(name: &'static str) -> impl FnOnce(io::Error) -> RecordingError {
    move |source| RecordingError::File {
        verb: "write",
        path: format!("{name}.pcapng").into(),
        source,
    }
}
