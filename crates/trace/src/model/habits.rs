//! Windows and ACKs of the receiver; marks of the sender.

use tcplab_units::{Bytes, Instant, Span};

use super::Occurrences;

/// The advertised window and its effect on the sender.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowUse {
    /// Whether the window scale is known, from the handshake or the data.
    pub scale_known: bool,
    /// Whether it is known from the handshake, so that each window was known when it came. Limits
    /// need that: without it a full window looks like a full congestion window.
    pub scale_negotiated: bool,
    /// The first window after the handshake; windows of SYNs and resets do not count.
    pub first: Option<Bytes>,
    /// The smallest, zero windows included.
    pub min: Option<Bytes>,
    /// The largest.
    pub max: Option<Bytes>,
    /// The last.
    pub last: Option<Bytes>,
    /// The mean over the time in which it was the limit
    /// ([`Limit::ReceiveWindow`](crate::Limit::ReceiveWindow)); none if it never was.
    pub limiting: Option<Bytes>,
    /// Transitions to a zero window.
    pub zero_windows: Occurrences,
    /// The total time of zero windows.
    pub zero_window_time: Span,
    /// The longest zero window.
    pub zero_window_max: Span,
    /// Segments after which no full segment fits the window (Wireshark: "window full").
    pub window_full: Occurrences,
    /// ACKs that only change the window, to above zero (window updates).
    pub updates: Occurrences,
    /// Windows below a segment and half the largest (RFC 9293 section 3.8.6.2.2).
    pub silly_windows: Occurrences,
    /// The right edge moved back by more than a unit (RFC 9293 section 3.8.6: must not).
    pub windows_shrunk: Occurrences,
    /// Zero-window probes (RFC 9293 section 3.8.6.1).
    pub probes: Occurrences,
}

/// The ACKs of a receiver.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AckBehaviour {
    /// Packets without data that advance the cumulative ACK.
    pub acks: u64,
    /// Duplicate acknowledgements (RFC 5681 section 2).
    pub duplicates: u64,
    /// Of these, with SACK in use, those without news that answer no retransmission or probe.
    pub unnecessary: u64,
    /// ACKs of more than two full segments (RFC 2525 section 2.13), except those that close a gap.
    pub stretch: Occurrences,
    /// The most bytes of one ACK, except those that close a gap.
    pub longest: Bytes,
    /// ACKs of a single segment delayed by more than 10 ms; known only at the receiver.
    pub delayed: Occurrences,
    /// The longest such delay (RFC 9293 section 3.8.6.3: below 500 ms).
    pub delay_max: Span,
    /// ACKs whose SACK blocks name data that the sender cannot have sent: before its SYN, or beyond
    /// its highest byte and the window.
    pub sack_unsent: Occurrences,
}

/// Other facts about a sender.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SenderMarks {
    /// Segments with PSH.
    pub push: u64,
    /// Segments with URG.
    pub urgent: Occurrences,
    /// Keep-alive probes (RFC 9293 section 3.8.4).
    pub keep_alives: Occurrences,
    /// Small segments with earlier data unacknowledged, against Nagle (RFC 9293 section 3.7.4).
    pub small_in_flight: u64,
    /// Small segments that waited for a delayed ACK: Nagle's algorithm against delayed ACKs.
    pub nagle_waits: Occurrences,
    /// Their total wait since the previous segment.
    pub nagle_wait_time: Span,
    /// The time in which the other end was the last to send data, requests or answers to them,
    /// until all had been acknowledged.
    pub listened: Span,
    /// How many times data followed the other end's without an ACK between. Away from the sender
    /// the round trip to it is part of such a pause.
    pub answers_with_ack: u64,
    /// How long after the handshake it sent the first data of all, if it took long enough to be a
    /// stall: a server that speaks first (SMTP, FTP, SSH, MySQL), or a client before its request.
    pub greeting: Option<Span>,
    /// Segments sent in turn: the first data after the other end's, when neither end had any
    /// outstanding.
    pub turns: Occurrences,
    /// Of these, those within half an RTT, or 1 ms, after the other end's data: the sender had
    /// waited for them.
    pub prompt_turns: u64,
    /// The largest segment, bytes of data; offloaded packets count as their segments. Without a
    /// SYN, a packet that is a multiple of a usual size counts as offloaded.
    pub largest: Bytes,
    /// Lasting reductions of the segment size: path MTU (RFC 1191, RFC 4821) or a route change. At
    /// most 16, each reported after four smaller segments without PSH.
    pub mss_changes: Vec<MssChange>,
    /// What ICMP last reported of its outstanding data: packets too big for the path.
    pub too_big: Option<TooBigReport>,
    /// What ICMP last reported of larger packets, made of its segments on the path.
    pub merged: Option<MergedReport>,
    /// Full segments were sent and none of them arrived, as far as ACKs show, though every smaller
    /// one did.
    pub only_small_arrived: bool,
    /// Segments marked "congestion experienced" (RFC 3168 section 5), also ACKs without data.
    pub ce_marks: Occurrences,
    /// Some of them have data.
    pub marked_data: bool,
    /// An acknowledgement covers data that passed with a mark.
    pub marked_data_acked: bool,
    /// Segments of the other end that echo a mark (ECE), if the SYNs agreed on classic ECN (RFC
    /// 3168 section 6.1.3).
    pub echoes: Occurrences,
    /// Packets with a mark that the other end reports, if the SYNs agreed on Accurate ECN (RFC 9768
    /// section 3.2.2), and the first ACKs that report some. Its counter has three bits: where one
    /// ACK reports more than seven, this is too small.
    pub reported: Occurrences,
    /// Segments with CWR after an echoed mark (ECE), if the SYNs agreed on classic ECN: the sender
    /// reduced its window on it (RFC 3168 section 6.1.2).
    pub reductions: Occurrences,
    /// Segments of new data without CWR, sent long after an echo must have reached the sender.
    pub not_reduced: Occurrences,
    /// Packets larger than the MSS: segmentation or receive offload at the capture.
    pub super_packets: u64,
}

/// ICMP "packet too big" (RFC 1191, RFC 8201).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBigReport {
    /// When it passed.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// The path MTU that it names, bytes; 0 from routers older than RFC 1191.
    pub mtu: u32,
}

/// ICMP "packet too big" about a packet that the sender never sent: its own at that place was
/// smaller and fits. A device on the path merged segments (receive offload), could not forward the
/// result and dropped it. No sender can act on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedReport {
    /// The message.
    pub report: TooBigReport,
    /// The length of the packet that it quotes, bytes.
    pub len: u32,
    /// The length of the packet that was sent there, bytes.
    pub sent: u32,
}

/// A reduction of the segment size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MssChange {
    /// When the first smaller segment was sent.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// The size of full segments before, bytes of data.
    pub from: Bytes,
    /// And after.
    pub to: Bytes,
}

/// What shows that an end writes timestamps, or reads them, with their bytes reversed (RFC 7323
/// section 3.2 has network byte order).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimestampFaults {
    /// The clock of the data's sender.
    pub sender: ClockSteps,
    /// The clock of their receiver, by ACKs of something new.
    pub receiver: ClockSteps,
    /// Segments that the receiver answered and did not take, whose timestamp is older than its echo
    /// only with the bytes of both reversed.
    pub refused: Occurrences,
    /// The time until each of them was sent again.
    pub refused_for: Span,
    /// Segments that it answered and that were sent again, where that is not so.
    pub refused_otherwise: u64,
    /// Retransmissions of such segments that it took, although they are older so.
    pub taken_otherwise: u64,
}

/// Steps of an end's clock, from one of its packets to the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClockSteps {
    /// Steps that are small as written.
    pub plain: u64,
    /// Steps that are small only with the bytes of both values reversed.
    pub reversed: Occurrences,
    /// Of these, those that go back as written, for which PAWS drops a packet.
    pub back: u64,
}

/// What a sender retransmitted after the last packet of the other end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// When the other end's last packet passed, and its frame; none without one.
    pub heard: Option<(Instant, u64)>,
    /// When the sender asked again, if nothing of its own was outstanding then, and the frame.
    pub asked: Option<(Instant, u64)>,
    /// The retransmissions since.
    pub retransmissions: u64,
}
