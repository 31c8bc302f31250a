//! The results of joining two captures.

use std::net::SocketAddr;

use serde::Serialize;
use tcplab_units::{Bytes, Endpoint, Instant, Span};

/// Two captures, joined.
///
/// Every [`Instant`] counts from the client capture's first frame on the client capture's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Joined {
    /// The zero of time, nanoseconds since the Unix epoch by the client capture's clock.
    #[serde(rename = "zero_unix_ns")]
    pub epoch_nanos: u64,
    /// The contents of each capture.
    #[serde(with = "tcplab_units::ends")]
    pub captures: [CaptureSummary; 2],
    /// How the two clocks stand to one another.
    pub clock: ClockEstimate,
    /// Connections in the order in which either capture showed them.
    pub connections: Vec<JoinedConnection>,
    /// Notes on the captures.
    pub notes: Vec<String>,
}

/// The contents of one capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CaptureSummary {
    /// Frames of whatever kind.
    pub packets: u64,
    /// Of these, of TCP.
    pub tcp: u64,
    /// When the first was captured, nanoseconds since the Unix epoch by its own clock.
    #[serde(rename = "first_unix_ns")]
    pub first_nanos: Option<u64>,
    /// The last.
    #[serde(rename = "last_unix_ns")]
    pub last_nanos: Option<u64>,
}

/// The server capture's clock, seen from the client capture's.
///
/// The offset is what makes the least delays of both directions equal: no capture distinguishes an
/// asymmetric path from a wrong clock. The skew is the slope of the lower hull of the delays (Moon,
/// Skelly and Towsley, "Estimation and Removal of Clock Skew from Network Delay Measurements",
/// INFOCOM 1999), of the direction whose least delay is the steadier one. Where a clock was set
/// during the capture no offset holds for all of it: everything is none, and a note says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ClockEstimate {
    /// How far the server capture's clock is ahead when time is zero, nanoseconds; if packets went
    /// one way only, that at which the fastest took no time. 0 if both captures have one clock.
    #[serde(rename = "offset_ns")]
    pub offset_nanos: Option<i64>,
    /// The offset may be wrong by so much either way, half the least round trip between the capture
    /// points; none where packets went one way only: then nothing bounds it.
    #[serde(rename = "error_ns", with = "tcplab_units::number")]
    pub error: Option<Span>,
    /// The sum of the least delays of both directions, which no offset changes.
    #[serde(rename = "rtt_min_ns", with = "tcplab_units::number")]
    pub least_round_trip: Option<Span>,
    /// Both captures were taken by one clock: the delays are measured, and nothing is assumed.
    #[serde(rename = "one_clock")]
    pub is_one: bool,
    /// How much faster the server capture's clock runs, ppm; 0 if less than `skew_error`.
    pub skew_ppm: f64,
    /// The error of the skew, by the variation of the least delays; none with few samples.
    pub skew_error_ppm: Option<f64>,
}

/// A connection at both captures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinedConnection {
    /// The end that sent the first SYN; without one, that at the client's capture point.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// The capture point at the client: the server's for connections opened from there.
    pub client_at: Endpoint,
    /// Its first frame in each capture, counted from 1; none where that shows nothing of it.
    #[serde(with = "tcplab_units::ends")]
    pub first_frames: [Option<u64>; 2],
    /// Packets from the client.
    pub forward: Crossing,
    /// Packets from the server.
    pub reverse: Crossing,
}

/// The packets of one direction between the captures, counted as segments on the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Crossing {
    /// Passed the capture point on the sender's side.
    pub sent: u64,
    /// Of these, with data.
    pub sent_data: u64,
    /// Passed both captures, each counted once.
    pub arrived: u64,
    /// Never passed the capture point on the receiver's side, although that was capturing, or were
    /// damaged.
    pub lost: u64,
    /// Of these, with data.
    pub lost_data: u64,
    /// The data in them.
    #[serde(with = "tcplab_units::number")]
    pub lost_bytes: Bytes,
    /// The first [`Crossing::LISTED`] of them, in the order sent.
    pub losses: Vec<Loss>,
    /// Not in the receiver's capture, and yet the receiver acknowledged them: that capture missed
    /// them. (Where several transmissions of the same data are missing, they all count here. A
    /// missed acknowledgement looks like a lost one.)
    pub not_captured_at_receiver: u64,
    /// In the receiver's capture only: the sender's missed them.
    pub not_captured_at_sender: u64,
    /// Outside the common time of both captures, in flight at the end of one, or of a
    /// connection that was answered in one capture and never passed the other: unknown.
    pub not_judged: u64,
    /// Passed the capture point on the receiver's side with a wrong checksum, so that the receiver
    /// drops them: each is the rest of a lost packet.
    pub damaged: u64,
    /// Copies that the network made.
    pub duplicated: u64,
    /// Arrived after something that was sent later (RFC 4737 section 3.3: type-P-reordered).
    #[serde(rename = "out_of_order")]
    pub reordered: u64,
    /// The most packets that one arrived behind (RFC 4737 section 4.2.2: extent); at most 4,096.
    pub out_of_order_max: u64,
    /// The frames, in the receiver's capture, of the first 10 that were reordered.
    #[serde(rename = "out_of_order_frames")]
    pub reordered_frames: Vec<u64>,
    /// Segments with data or FIN that repeat what had been sent before.
    pub retransmissions: u64,
    /// Of these, those whose data arrived by an earlier transmission.
    #[serde(rename = "retransmissions_spurious")]
    pub spurious: u64,
    /// The first [`Crossing::LISTED`] repeats.
    pub retransmission_list: Vec<Retransmission>,
    /// What devices between the captures changed in the headers of arrived packets: the first
    /// [`Crossing::CHANGES`] kinds, in the order in which they appear.
    pub changes: Vec<Change>,
    /// How long packets took, the clocks corrected; none where none arrived, or no offset fits.
    pub delay: Option<Delays>,
    /// The delay over time, at most [`Crossing::POINTS`] intervals.
    pub series: Vec<DelayPoint>,
}

impl Crossing {
    /// As many losses and retransmissions are listed one by one.
    pub const LISTED: usize = 10_000;
    /// As many kinds of changes at most are told apart.
    pub const CHANGES: usize = 64;
    /// As many intervals at most has a series.
    pub const POINTS: usize = 512;

    /// What was sent, with nothing said of where it went.
    pub(super) fn unjudged(self) -> Crossing {
        Crossing {
            sent: self.sent,
            sent_data: self.sent_data,
            not_captured_at_sender: self.not_captured_at_sender,
            not_judged: self.not_judged + self.lost,
            retransmissions: self.retransmissions,
            ..Crossing::default()
        }
    }
}

/// A field that differs between the captures in the same way in some packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What was changed.
    pub field: ChangedField,
    /// Its value where it was sent; none if it was not there, or if values are not told apart.
    pub sent: Option<u32>,
    /// Its value where it arrived.
    pub arrived: Option<u32>,
    /// Packets that were changed so.
    pub packets: u64,
    /// The frame of the first one in the capture on the sender's side.
    pub frame: u64,
    /// Its frame in the other capture.
    pub arrived_frame: u64,
}

/// A field that devices on the way change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedField {
    /// Time to live, or hop limit: routers subtract 1.
    Ttl,
    /// The differentiated services codepoint.
    Dscp,
    /// The ECN codepoint of the IP header, 0 to 3; 3 is CE (congestion experienced).
    Ecn,
    /// The flags AE (4), CWR (2) and ECE (1) of TCP, added.
    EcnFlags,
    /// The window, as in the header; values are not told apart.
    Window,
    /// The timestamps option: 1 where it is; 1 and 1 if its values were changed.
    Timestamps,
    /// The number of SACK blocks; equal if their values were changed.
    Sack,
    /// The maximum segment size of a SYN.
    Mss,
    /// The window scale of a SYN.
    WindowScale,
    /// The SACK-permitted option of a SYN: 1 where it is.
    SackPermitted,
    /// The Fast Open option of a SYN: 1 where it is.
    FastOpen,
    /// An option of Multipath TCP in a SYN: 1 where it is.
    Multipath,
}

impl ChangedField {
    /// All, in their order.
    pub const ALL: [ChangedField; 12] = [
        ChangedField::Ttl,
        ChangedField::Dscp,
        ChangedField::Ecn,
        ChangedField::EcnFlags,
        ChangedField::Window,
        ChangedField::Timestamps,
        ChangedField::Sack,
        ChangedField::Mss,
        ChangedField::WindowScale,
        ChangedField::SackPermitted,
        ChangedField::FastOpen,
        ChangedField::Multipath,
    ];
}

/// A segment that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// When it passed the capture point on the sender's side.
    #[serde(rename = "at_ns")]
    pub at: Instant,
    /// Its frame there.
    pub frame: u64,
    /// Its sequence number, as in the header.
    pub sequence: u32,
    /// Its data.
    #[serde(rename = "payload_bytes", with = "tcplab_units::number")]
    pub payload: Bytes,
    /// It carries data or FIN: it will have to be retransmitted.
    pub takes_room: bool,
    /// The value of its acknowledgement field.
    pub acknowledges: Option<u32>,
}

/// A segment that was retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Retransmission {
    /// Its frame in the capture on the sender's side.
    pub frame: u64,
    /// Some of its data had not arrived by any earlier transmission, and never did.
    pub needed: bool,
}

/// One-way delays, the clocks corrected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delays {
    /// Least.
    #[serde(rename = "min_ns", with = "tcplab_units::number")]
    pub min: Span,
    /// Half took no longer; of at most 2,048 packets taken evenly.
    #[serde(rename = "median_ns", with = "tcplab_units::number")]
    pub median: Span,
    /// 95 of 100 took no longer; of the same.
    #[serde(rename = "p95_ns", with = "tcplab_units::number")]
    pub p95: Span,
    /// Most.
    #[serde(rename = "max_ns", with = "tcplab_units::number")]
    pub max: Span,
}

/// Delays of the packets that arrived in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DelayPoint {
    /// The interval's beginning.
    #[serde(rename = "at_ns")]
    pub at: Instant,
    /// How many arrived.
    pub packets: u64,
    /// Least.
    #[serde(rename = "min_ns", with = "tcplab_units::number")]
    pub min: Span,
    /// Arithmetic mean.
    #[serde(rename = "mean_ns", with = "tcplab_units::number")]
    pub mean: Span,
    /// Most.
    #[serde(rename = "max_ns", with = "tcplab_units::number")]
    pub max: Span,
}

/// The analysis of the sender's capture alone, checked against both captures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Repeats that were needed, and were not said to be spurious.
    pub needed: u64,
    /// Repeats that were spurious, and were said to be.
    pub spurious: u64,
    /// Needed, and said to be spurious: a mistake.
    pub falsely_spurious: u64,
    /// Spurious, and nothing said so: D-SACK and timestamps do not report each.
    pub spurious_unreported: u64,
    /// Repeats that the analysis took for something else.
    pub retransmissions_missed: u64,
    /// What the analysis took for retransmissions, and is none.
    pub retransmissions_false: u64,
    /// Frames with data or FIN that were lost, and were said to be.
    pub losses_found: u64,
    /// Lost, and not said to be.
    pub losses_missed: u64,
    /// Said to be lost, and arrived.
    pub losses_false: u64,
}
