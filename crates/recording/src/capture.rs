//! The capture at one endpoint: frames in order, held back until the path has judged them.

use std::collections::VecDeque;
use std::io;

use tcplab_capture::{Direction, Interface, Packet, PcapngWriter, Section, Statistics, UnixTime};
use tcplab_path::{Fate, Verdict};
use tcplab_units::Instant;

use crate::write::Output;
use crate::{Endpoint, RecordingError};

/// `LINKTYPE_RAW`: each packet starts with its IP header.
const RAW_IP: u16 = 101;

/// One endpoint's capture, being written.
#[derive(Debug)]
pub(crate) struct EndCapture {
    writer: PcapngWriter<Output>,
    name: &'static str,
    interface: u32,
    epoch_nanos: u64,
    /// Frames not written yet, in order of time.
    held: VecDeque<Frame>,
    /// The number of the next frame to be written, from 1.
    next_frame: u64,
    /// The id of the last packet sent.
    last_id: u64,
}

#[derive(Debug)]
struct Frame {
    at: Instant,
    bytes: Vec<u8>,
    /// Of a received frame, that of the frame sent before it: so ids never fall along the queue.
    id: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It came in.
    Received,
    /// It went out, and the path has it.
    Sent,
    /// It went out, and the path is done with it.
    Judged(Verdict),
    /// It went out, and nobody will ever say what became of it.
    Unknown,
}

impl EndCapture {
    pub(crate) fn start(
        output: Output,
        epoch_nanos: u64,
        endpoint: Endpoint,
        address: &str,
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
            snap_len: 0,
        };
        let start = |output| {
            let mut writer = PcapngWriter::new(output, &section)?;
            let interface = writer.add_interface(&interface)?;
            Ok((writer, interface))
        };
        let (writer, interface) = start(output).map_err(cannot_write(name))?;
        let held = VecDeque::new();
        Ok(EndCapture { writer, name, interface, epoch_nanos, held, next_frame: 1, last_id: 0 })
    }

    /// The endpoint sent packet `id`.
    pub(crate) fn left(&mut self, at: Instant, id: u64, bytes: Vec<u8>) {
        self.last_id = id;
        self.held.push_back(Frame { at, bytes, id, state: State::Sent });
    }

    /// The endpoint was handed a packet.
    pub(crate) fn entered(&mut self, at: Instant, bytes: Vec<u8>) {
        self.held.push_back(Frame { at, bytes, id: self.last_id, state: State::Received });
    }

    /// The path is done with a packet that this endpoint sent.
    pub(crate) fn judged(&mut self, verdict: &Verdict) {
        let first = self.held.partition_point(|frame| frame.id < verdict.id);
        if let Some(frame) = self.held.get_mut(first).filter(|frame| frame.id == verdict.id) {
            frame.state = State::Judged(*verdict);
        }
    }

    /// No more verdicts will come.
    pub(crate) fn give_up_waiting(&mut self) {
        for frame in &mut self.held {
            if matches!(frame.state, State::Sent) {
                frame.state = State::Unknown;
            }
        }
    }

    /// Writes frames up to the first whose verdict is still awaited; `judged` is given the frame
    /// number of each that has one.
    pub(crate) fn settle(
        &mut self,
        mut judged: impl FnMut(u64, &Verdict) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        while let Some(frame) = self.held.front() {
            let (direction, comment) = match &frame.state {
                State::Sent => return Ok(()),
                State::Received => (Direction::Inbound, None),
                State::Unknown => (Direction::Outbound, Some("its fate is not known".to_owned())),
                State::Judged(verdict) => {
                    judged(self.next_frame, verdict)?;
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
                original_len: frame.bytes.len() as u32,
                direction: Some(direction),
                comments: comments.as_slice(),
            };
            self.writer.write_packet(&packet).map_err(cannot_write(self.name))?;
            self.next_frame += 1;
            self.held.pop_front();
        }
        Ok(())
    }

    /// Ends the capture; `lost` frames never got into it. Gives the file back, not yet synced.
    pub(crate) fn finish(mut self, end: Instant, lost: u64) -> Result<Output, RecordingError> {
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
