//! Which frames make up each connection: what an index of a capture needs, so that
//! [`replay`](super::replay()) finds in them what the whole capture shows of the connection.

use crate::Trace;

/// A frame's connection is told at most so many frames after the frame: with threads, after four
/// rounds of 1,024 frames and the one that is being filled.
pub const LOG_LAG: u64 = 1 << 13;

/// Receives the frames of all connections while a capture is analysed.
///
/// A connection is only what its frames make it, and a few things about the capture: its zero of
/// time, and in which frames duplicates are usual. Connections that more acts on are
/// [left out](FrameLog::leaves_out), and captures whose times are corrected are
/// [given up](FrameLog::gives_up).
pub trait FrameLog: std::fmt::Debug + Send {
    /// A frame begins at this byte of the capture file, where its reader could
    /// [jump](tcplab_capture::Reader::jump_to). Frames come in order.
    fn begins(&mut self, frame: u64, position: u64);
    /// The latest frame that [began](Self::begins) is a fragment: a connection that owns it cannot
    /// be found by single frames.
    fn is_fragment(&mut self);
    /// From this frame on, duplicates are usual, or no longer.
    fn copies_are_usual(&mut self, frame: u64, usual: bool);
    /// A connection began with the ends of an earlier one.
    fn reuses(&mut self, connection: usize, earlier: usize);
    /// A frame is of this connection. These come in order, at most [`LOG_LAG`] frames after
    /// the latest that began.
    fn owns(&mut self, connection: usize, frame: u64);
    /// A connection depends on more than its frames: it had its ends while an earlier one or a
    /// later one was open.
    fn leaves_out(&mut self, connection: usize);
    /// No connection can be found by its frames alone.
    fn gives_up(&mut self);
    /// All was read; the trace is without connections, of which there are so many.
    fn finish(self: Box<Self>, trace: &Trace, connections: usize);
}
