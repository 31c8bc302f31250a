//! The results of the analyser, for findings, plots, tables and reports.
//!
//! Times are [`Instant`]s since the capture's first packet ([`Trace::epoch_nanos`]), as if the
//! capture's clock had not been set meanwhile (a [`Note`] marks each step); places in
//! the stream are [`Offset`]s relative to the initial sequence number, so the SYN is at 0 and the
//! first data byte at 1, as tcpdump and Wireshark count.

use std::net::SocketAddr;

mod causes;
mod frame;
mod habits;
mod in_frames;
mod known;
mod life;
mod limits;
mod note;
mod occurrences;
mod reset;
mod segment_kind;
mod timing;
mod truth;
mod unusual;

pub use causes::{Backoff, Backoffs, Causes, IgnoredAcks, LossRule, SpuriousRetransmissions};
pub use frame::{FlowId, Frame};
pub use habits::{
    AckBehaviour, ClockSteps, MergedReport, MssChange, SenderMarks, TimestampFaults, TooBigReport,
    Unanswered, WindowUse,
};
pub(crate) use in_frames::place_in;
pub use known::Roles;
pub use life::{
    Close, CloseKind, ConnectionState, EcnAgreement, FastOpen, Handshake, HandshakeKind, Life,
    Refused, StateStep, StepCause, SynOptions, TcpState,
};
pub use limits::{Limit, LimitPeriod, LimitShares, Series, Stall, StallCause, StallSum, Transfer};
pub use note::Note;
pub use occurrences::{Occurred, Occurrences};
pub use reset::{BareReset, ForgedReset, MultipathSign};
pub use segment_kind::SegmentKind;
pub use timing::RoundTrips;
pub use unusual::UnusualPacket;

use serde::Serialize;
use tcplab_units::{Bytes, Endpoint, Instant, Offset, Span};
use tcplab_wire::{SeqNumber, TcpFlags};

/// An analysed capture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The zero of every [`Instant`] here, in nanoseconds since the Unix epoch: the first packet's
    /// time, or the argument of [`with_epoch`](crate::Analyzer::with_epoch).
    pub epoch_nanos: u64,
    /// Frames read.
    pub packets: u64,
    /// Packets other than TCP, by protocol, most frequent first.
    pub others: Vec<OtherPackets>,
    /// TCP connections in the order of their first packet.
    pub connections: Vec<Connection>,
    /// Notes on the capture: truncated, packets dropped, malformed frames.
    pub notes: Vec<Note>,
}

/// Packets of one protocol other than TCP; counted only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OtherPackets {
    /// The protocol, such as `UDP` or `ARP`.
    pub protocol: String,
    /// How many.
    pub packets: u64,
}

/// One TCP connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The end that sent the first SYN; if none was captured, see [`Roles`].
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// How it is known which end is the client.
    pub roles: Roles,
    /// The end whose packets alone were captured, though what it acknowledges shows that the other
    /// end answered. What needs both directions is then left out: flight, limits, stalls, episodes.
    pub one_way: Option<Endpoint>,
    /// First and last packet.
    pub first: Instant,
    /// See `first`.
    pub last: Instant,
    /// First and last frame.
    pub frames: (u64, u64),
    /// Packets of both directions.
    pub packets: u64,
    /// The least RTT of the whole path at any capture point: the handshake's, or the least times to
    /// both ends by handshake and timestamps together if that is less.
    pub round_trip: Option<Span>,
    /// SYN to SYN-ACK to ACK, as far as seen.
    pub handshake: Handshake,
    /// The states it went through and how it ended.
    pub life: Life,
    /// The index of the earlier connection between the same addresses and ports.
    pub reuses: Option<usize>,
    /// Whether that one was still open.
    pub reuses_open: bool,
    /// Data from client to server, and the acknowledgements that answer it.
    pub forward: Flow,
    /// Data from server to client, and the acknowledgements that answer it.
    pub reverse: Flow,
}

impl Connection {
    /// A connection of which only the endpoints are known.
    pub fn between(client: SocketAddr, server: SocketAddr) -> Connection {
        Connection {
            client,
            server,
            first: Instant::ZERO,
            last: Instant::ZERO,
            frames: (0, 0),
            packets: 0,
            roles: Roles::BySyn,
            one_way: None,
            round_trip: None,
            handshake: Handshake::default(),
            life: Life::default(),
            reuses: None,
            reuses_open: false,
            forward: Flow::default(),
            reverse: Flow::default(),
        }
    }
}

/// One direction of a connection: the data segments and the acknowledgements coming back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flow {
    /// The sequence number at [`Offset`] 0: that of the SYN, or the one before the first number
    /// that was captured.
    pub initial_sequence: Option<SeqNumber>,
    /// The capture point relative to this direction's sender.
    pub capture_point: CapturePoint,
    /// The confidence in it.
    pub capture_point_confidence: Confidence,
    /// Every segment with data, SYN or FIN, in capture order.
    pub segments: Vec<Segment>,
    /// Every packet of the opposite direction, as an acknowledgement, in capture order.
    pub acks: Vec<Ack>,
    /// Resets of both ends that acknowledge nothing, in capture order.
    pub resets: Vec<BareReset>,
    /// Packets of its sender that none of these shows as it was sent, in capture order.
    pub unusual: Vec<UnusualPacket>,
    /// Recovery episodes in order of time.
    pub episodes: Vec<Episode>,
    /// Stalls in order of time.
    pub stalls: Vec<Stall>,
    /// Limits over time, without gaps.
    pub limits: Vec<LimitPeriod>,
    /// Sums over the flow.
    pub totals: Totals,
    /// Causes of segments that are not new data in order.
    pub causes: Causes,
    /// Round trips of its data.
    pub round_trips: RoundTrips,
    /// The window that its receiver advertised.
    pub windows: WindowUse,
    /// How its receiver acknowledged.
    pub acking: AckBehaviour,
    /// Other facts about its sender.
    pub marks: SenderMarks,
    /// The sums over `stalls`, for each cause that occurred.
    pub stall_sums: Vec<StallSum>,
    /// The sums over `limits`.
    pub shares: LimitShares,
    /// RFC 6349's metrics.
    pub transfer: Transfer,
    /// Data over time.
    pub series: Series,
    /// What shows timestamps in the wrong byte order.
    pub timestamp_faults: TimestampFaults,
    /// The last packet of its receiver, and what followed.
    pub unanswered: Unanswered,
}

/// A range of the stream, `start` included, `end` excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// First byte.
    pub start: Offset,
    /// The byte after the last.
    pub end: Offset,
}

impl Range {
    /// How many bytes it covers.
    pub fn len(self) -> u64 {
        self.end.since(self.start).as_u64()
    }
    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
    /// Whether some byte is in both.
    pub fn overlaps(self, other: Range) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// One packet that carries data, a SYN or a FIN.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "three flags of the header, and the path's drop")]
pub struct Segment {
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame number, from 1.
    pub frame: u64,
    /// As in its header.
    pub flags: TcpFlags,
    /// Sequence space it covers (SYN and FIN count one each).
    pub range: Range,
    /// Data bytes.
    pub payload: Bytes,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// PSH.
    pub psh: bool,
    /// New data, or a retransmission and why.
    pub kind: SegmentKind,
    /// The timer that sent it, where no acknowledgement did; a probe may carry new data.
    pub timer: Option<Timer>,
    /// What proves `kind`; nothing needs proof for new data in order.
    pub proof: Proof,
    /// Bytes sent and neither acknowledged nor SACKed, this segment included, after it was sent.
    pub in_flight: Bytes,
    /// What the capture's comments say of it.
    pub comment: Option<String>,
    /// Whether the path dropped it, by a recording's ground truth ([`Connection::mark_dropped`]).
    pub dropped: bool,
}

/// The evidence for the kind of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// The kind of evidence.
    pub by: Sign,
    /// The decisive frame: triggering ACK, later packet, original, or last before silence.
    pub frame: Option<u64>,
    /// For timers: the silence, or the timer's time; out of order: since the later packet.
    pub waited: Span,
    /// Which transmission of this data it is: 1 the first, 3 if a retransmission was lost.
    pub nth: u32,
    /// The evidence that it was spurious, once known.
    pub spurious: Option<Spurious>,
}

/// Kinds of evidence for a segment's kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Sign {
    /// It needs no proof.
    #[default]
    None,
    /// Three duplicate acknowledgements (RFC 5681 section 3.2).
    DuplicateAcks,
    /// Three segments, or more than two segments' bytes, SACKed above it (RFC 6675 section 4).
    Sack,
    /// One sent later arrived, and the reordering window has passed (RACK, RFC 8985 section 6.2).
    Rack,
    /// A partial acknowledgement in recovery (RFC 6582 section 3.2, step 3).
    PartialAck,
    /// ICMP said that it was too large for the path (RFC 1191, RFC 8201).
    PacketTooBig,
    /// Silence for as long as a timer takes.
    Silence,
    /// A timer's time, although ACKs had revealed the loss to the sender.
    IgnoredAcks,
    /// The acknowledgements after a timeout.
    AfterTimeout,
    /// Its IP identification is older than that of the packet before it, newer, or the same.
    IpId,
    /// Its timestamp is older than that of the packet before it, newer, or the same.
    Timestamp,
    /// The time since the gap appeared: too short for a retransmission, or long enough.
    Time,
    /// The capture point stands beside the sender, where nothing can overtake.
    AtSender,
    /// The window of the other end was closed.
    ZeroWindow,
    /// It lies just below what was acknowledged, after idle time.
    BelowAcknowledged,
}

/// The evidence that a retransmission was spurious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spurious {
    /// A D-SACK (RFC 2883) in this frame.
    DSack {
        /// Its frame.
        frame: u64,
    },
    /// The acknowledgement in this frame echoes the original's timestamp (Eifel, RFC 3522).
    Echo {
        /// Its frame.
        frame: u64,
    },
    /// At this capture point the data had been acknowledged before.
    Acknowledged,
}

/// The confidence of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// No evidence.
    #[default]
    None,
    /// Weak evidence.
    Low,
    /// Several pieces of evidence.
    Medium,
    /// Practically certain.
    High,
}

/// A timer at the sender that runs out and sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The tail loss probe's (RFC 8985 section 7): one new segment, or the newest one again.
    Probe,
    /// The retransmission timer (RFC 6298): the oldest unacknowledged segment again.
    Retransmission,
}

/// The place of the capture relative to a direction's sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CapturePoint {
    /// Unknown; treated as at the sender.
    #[default]
    Unknown,
    /// At the sender of the data: every transmission is captured, losses lie behind.
    Sender,
    /// Between both: losses before and behind.
    Middle,
    /// At the receiver: lost packets were never captured.
    Receiver,
}

/// One packet seen as an acknowledgement.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Ack {
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame number, from 1.
    pub frame: u64,
    /// As in its header.
    pub flags: TcpFlags,
    /// Everything before this was received.
    pub ack: Offset,
    /// Advertised window in bytes, scaled; `None` of a reset, and where the scale was not seen
    /// unless it is zero.
    pub window: Option<Bytes>,
    /// SACK blocks in the order of the option, without the D-SACK block.
    pub sack: Vec<Range>,
    /// The D-SACK block (RFC 2883): received twice.
    pub dsack: Option<Range>,
    /// A duplicate acknowledgement (RFC 5681 section 2, with or without SACK blocks).
    pub duplicate: bool,
    /// The packet is a copy of an earlier one, made by the network or the capture: counted nowhere.
    pub copied: bool,
    /// The packet is a reset (RST).
    pub reset: bool,
    /// Its window field is zero, whatever that means (in a reset nothing).
    pub zero: bool,
    /// It carries data of its own.
    pub has_data: bool,
    /// Bytes of the other end sent and neither acknowledged nor SACKed, after it.
    pub in_flight: Bytes,
    /// What the capture's comments say of it.
    pub comment: Option<String>,
    /// Whether the path dropped it, by a recording's ground truth ([`Connection::mark_dropped`]).
    pub dropped: bool,
}

impl Flow {
    /// The ACKs that are the third duplicate (RFC 5681 section 3.2).
    pub fn third_duplicates(&self) -> impl Iterator<Item = &Ack> {
        let (mut number, mut duplicates) = (Offset::ZERO, 0_u64);
        self.acks.iter().filter(move |ack| {
            if ack.ack != number {
                (number, duplicates) = (ack.ack, 0);
            }
            duplicates += u64::from(ack.duplicate);
            ack.duplicate && duplicates == 3
        })
    }
}

/// A recovery episode: from the first evidence of loss until the loss is repaired.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// The type, of the three of the interruption paper.
    pub kind: EpisodeKind,
    /// Transmissions that were lost, in the order they were sent: data and FIN. (A lost SYN is the
    /// handshake's affair, a lost acknowledgement leaves no mark of its own at the sender.)
    pub lost: Vec<LostSegment>,
    /// When the first of them had been sent.
    pub first_lost_sent: Instant,
    /// When the sender got the first evidence: an ACK or the time of a probe or timeout.
    pub evidence_at: Instant,
    /// The evidence.
    pub evidence: Evidence,
    /// The first retransmission, time and frame.
    pub first_retransmission: Option<(Instant, u64)>,
    /// When the cumulative acknowledgement passed everything lost; `None` if it never did.
    pub repaired_at: Option<Instant>,
    /// Retransmitted packets and bytes during the episode, repeats counted.
    pub retransmissions: u64,
    /// See `retransmissions`.
    pub retransmitted: Bytes,
    /// Of these, how many a timer sent, probes included.
    pub timeouts: u64,
    /// Tail loss probes during the episode, those with new data included.
    pub probes: u64,
    /// Of the retransmissions, how many a D-SACK proved spurious.
    pub spurious: u64,
    /// The paper's time lag: how long the sender had sent nothing when its recovery began with the
    /// first retransmission, or with the probe before it. `None` if it never began.
    pub silence: Option<Span>,
    /// Frames at the capture point from the first lost to the repairing acknowledgement, inclusive.
    pub frames: (u64, u64),
}

impl Flow {
    /// The share of the segments on the wire that were retransmissions, 0 to 1; 0 without segments.
    pub fn retransmitted_share(&self) -> f64 {
        self.causes.retransmissions() as f64 / self.totals.wire_segments.max(1) as f64
    }
}

impl Totals {
    /// The segments with data on the wire, of [`Totals::data_segments`] packets.
    pub fn wire_data_segments(&self) -> u64 {
        let without_data = self.segments.saturating_sub(self.data_segments);
        self.wire_segments.saturating_sub(without_data)
    }
}

impl Episode {
    /// From the first evidence to the repair; to the last packet where it was never repaired.
    pub fn duration(&self, last: Instant) -> Span {
        self.repaired_at.unwrap_or(last).since(self.evidence_at)
    }
}

/// One lost transmission of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostSegment {
    /// The range it covered; of a packet that offloading made of several segments, those missing.
    pub range: Range,
    /// When it passed the capture point.
    pub sent_at: Instant,
    /// Its frame.
    pub frame: u64,
}

/// The three types of "Experimental Analysis of TCP Behaviors against Bursty Packet Losses
/// Caused by Transmission Interruption": by "whether timeout retransmission is used or not for the
/// first missing data segment" (section V), whatever revealed its loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EpisodeKind {
    /// The first lost segment was retransmitted on SACK, duplicate ACKs or ICMP.
    WithoutTimeLag,
    /// A timer retransmitted it, or sent an earlier segment or a tail loss probe before its
    /// retransmission.
    WithTimeLag,
    /// As `WithTimeLag`, then one retransmission per timeout, repeatedly (section IV.C).
    Intermittent,
    /// Its retransmission was not captured.
    Unknown,
}

impl EpisodeKind {
    /// The paper's words.
    pub fn name(self) -> &'static str {
        match self {
            EpisodeKind::WithoutTimeLag => "without time lag",
            EpisodeKind::WithTimeLag => "with time lag",
            EpisodeKind::Intermittent => "intermittent",
            EpisodeKind::Unknown => "unknown",
        }
    }
}

/// The first evidence of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// An acknowledgement with SACK blocks above a gap, for data sent before the silence.
    Sack {
        /// Its frame.
        frame: u64,
    },
    /// Duplicate acknowledgements without SACK.
    DuplicateAcks {
        /// The first one's frame.
        frame: u64,
    },
    /// ICMP's word that it was too large for the path (RFC 1191, RFC 8201).
    PacketTooBig {
        /// The message's frame.
        frame: u64,
    },
    /// The retransmission timeout (RFC 6298): the oldest segment was retransmitted unprompted.
    Timeout {
        /// The retransmission's frame.
        frame: u64,
    },
    /// A tail loss probe (RFC 8985 section 7): new data or the newest segment, unprompted.
    Probe {
        /// The probe's frame.
        frame: u64,
    },
}

/// Sums over one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets with data, SYN or FIN: those that can be retransmitted.
    pub segments: u64,
    /// Their segments on the wire, where offloading made larger packets of several.
    pub wire_segments: u64,
    /// Packets with data.
    pub data_segments: u64,
    /// Data bytes, repeats counted.
    pub data: Bytes,
    /// Data bytes, each counted once.
    pub unique: Bytes,
    /// Retransmitted packets, SYN and FIN included, also with uncaptured originals.
    pub retransmissions: u64,
    /// The bytes they repeat.
    pub retransmitted: Bytes,
    /// Packets of the opposite direction without data.
    pub pure_acks: u64,
    /// Duplicate acknowledgements.
    pub duplicate_acks: u64,
    /// The most bytes in flight at any time.
    pub max_in_flight: Bytes,
    /// The largest advertised window, if its scale is known.
    pub max_window: Option<Bytes>,
}
