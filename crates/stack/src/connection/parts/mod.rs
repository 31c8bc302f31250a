//! What a connection remembers. None of these knows the connection.

pub(super) mod accurate;
mod limits;
mod timestamps;

use std::collections::VecDeque;

use tcplab_units::{Instant, Span};
use tcplab_wire::{Cookie, SeqUnwrapper};

pub(super) use self::limits::Limit;
use self::limits::Limits;
pub(super) use self::timestamps::Timestamps;
use super::transmit::Transmit;
use crate::config::Config;
use crate::fast_open::FastLesson;
use crate::jiffies::Jiffies;
use crate::{BufferPool, Data, Segment};

/// Counters that no other part has.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) segments_out: u64,
    pub(super) segments_in: u64,
    pub(super) data_segments_in: u64,
    pub(super) bytes_acked: u64,
    pub(super) bytes_received: u64,
    /// The largest window that the peer ever offered (`max_window`).
    pub(super) largest_window: u64,
    /// Segments that an acknowledgement with ECE delivered.
    pub(super) delivered_ce: u64,
    pub(super) last_ack: Instant,
    pub(super) last_sent: Instant,
    pub(super) limits: Limits,
}

impl Counters {
    pub(super) fn segment_arrived(&mut self, segment: &Segment) {
        self.segments_in += 1;
        self.data_segments_in += u64::from(!segment.is_empty());
    }
}

/// The handshake: its timer and Fast Open.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Handshake {
    /// Whether this end sent the first SYN.
    pub(super) is_active: bool,
    pub(super) fast: Fast,
    /// When the SYN or SYN-ACK is retransmitted.
    pub(super) retransmit_at: Option<Instant>,
    pub(super) timeout: Span,
    /// SYNs or SYN-ACKs retransmitted (`num_retrans`).
    pub(super) retransmissions: u8,
    /// How often the timer expired (`num_timeout`); more than retransmissions if TCP_DEFER_ACCEPT
    /// ignored an acknowledgement.
    pub(super) timeouts: u8,
    /// Whether it did (`acked`).
    pub(super) was_acknowledged: bool,
    /// When it was first sent, and the timestamp clock then.
    pub(super) sent: Instant,
    pub(super) first_clock: u32,
    /// The peer's window, from its SYN.
    pub(super) peer_window: u64,
    /// The window scale that this end offers.
    pub(super) scale: u8,
    /// The segment being worked on ended it.
    pub(super) ends_now: bool,
    /// The next acknowledgement tells with which codepoint the peer's SYN arrived (RFC 9768).
    pub(super) reflects: bool,
    /// Data of a SYN that crossed the own one; it is taken once the connection is made.
    pub(super) early: Data,
}

impl Handshake {
    pub(super) fn new(config: &Config, is_active: bool) -> Handshake {
        Handshake { is_active, timeout: config.timeout.initial, ..Handshake::default() }
    }
}

/// Fast Open (RFC 7413).
#[derive(Debug, Default)]
pub(super) struct Fast {
    /// The cookie that the first SYN, or the SYN-ACK, carries.
    pub(super) cookie: Option<Cookie>,
    /// Data bytes that go with the first SYN.
    pub(super) with_syn: u32,
    /// The application has more data.
    pub(super) more: bool,
    /// The application has the connection, but the SYN-ACK is not acknowledged.
    pub(super) pending: bool,
    /// The data of the SYN was taken (TCPI_OPT_SYN_DATA).
    pub(super) taken: bool,
    pub(super) lesson: Option<FastLesson>,
}

/// Sequence numbers as 64-bit positions: 0 is the SYN.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The own.
    pub(super) own: SeqUnwrapper,
    /// The peer's, once its SYN arrived.
    pub(super) peer: Option<SeqUnwrapper>,
}

/// Timers and times.
#[derive(Debug)]
pub(super) struct Timers {
    pub(super) jiffies: Jiffies,
    pub(super) keep_alive: KeepAlive,
    /// When FIN-WAIT-2 or TIME-WAIT is over.
    pub(super) over_at: Option<Instant>,
    /// When a possible attack was last answered.
    pub(super) last_challenge: Option<Instant>,
}

impl Timers {
    pub(super) fn new(jiffies: Jiffies) -> Timers {
        Timers { jiffies, keep_alive: KeepAlive::default(), over_at: None, last_challenge: None }
    }
}

/// Keep-alive probes.
#[derive(Debug, Default)]
pub(super) struct KeepAlive {
    pub(super) at: Option<Instant>,
    /// Probes not answered.
    pub(super) probes: u8,
}

/// What the application did with its end.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Writer {
    /// It closed its half; the FIN follows the last byte written.
    pub(super) closed_half: bool,
    /// It reads no more, and this counts (`RCV_SHUTDOWN`).
    pub(super) reads_no_more: bool,
    /// It released the connection (`SOCK_DEAD`).
    pub(super) orphaned: bool,
    /// An ACK arrived while it had more data than the buffer had room for.
    pub(super) space_made: bool,
    /// The last write announced more (MSG_MORE).
    pub(super) more_follows: bool,
    /// Position after the last urgent byte written (`snd_up`).
    pub(super) urgent_end: u64,
    /// Data was pushed up to here (`pushed_seq`).
    pub(super) pushed_to: u64,
    /// Data up to here leaves in spite of cork and MSG_MORE (`TCP_NAGLE_PUSH`).
    pub(super) uncorked_to: u64,
    /// How many congestion windows the send buffer should hold.
    pub(super) windows_of_buffer: u32,
}

impl Writer {
    pub(super) fn new(windows_of_buffer: u32) -> Writer {
        Writer { pushed_to: 1, windows_of_buffer, ..Writer::default() }
    }
}

/// Segments that leave before anything else.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) queue: VecDeque<Transmit>,
    /// The buffers shared with the machine's other connections, if they are limited.
    pub(super) pool: Option<BufferPool>,
    /// Bytes that options take in a full segment now, besides those that are in every one.
    pub(super) taken: u32,
    /// The device below drops what it is given.
    pub(super) device_full: bool,
}
