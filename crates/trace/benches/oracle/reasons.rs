//! Why tcplab and tshark differ, where the reason is known.
//!
//! A reason holds for a difference only if the packet itself shows it.

use super::compare::Difference;
use super::found::{Oddity, Packet};

/// Whether the names mean the same, or tshark's the same with less: it names no timers.
pub(crate) fn is_alike(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || matches!(
            (ours, theirs),
            ("timeout retransmission" | "retransmission after a timeout", "retransmission")
                | (
                    "retransmission, cause unknown" | "SYN or FIN repeated",
                    "retransmission" | "fast retransmission"
                )
        )
}

/// The packet of a difference, as each program has it, and its surroundings.
pub(crate) struct Case<'a> {
    pub(crate) ours: Option<&'a Packet>,
    pub(crate) theirs: Option<&'a Packet>,
    /// It has data and the sequence number of its sender's SYN.
    pub(crate) is_at_syn: bool,
    pub(crate) stream: StreamFacts,
    /// The capture holds packets that no host sent: damaged headers, numbers out of every window.
    pub(crate) is_damaged: bool,
}

/// What is odd about tshark's stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamFacts {
    /// It has ACKs with padding that counts as data.
    pub(crate) has_padding: bool,
    /// It has SYNs of one host with several initial sequence numbers, or several of tcplab's
    /// connections.
    pub(crate) starts_again: bool,
}

/// The reason for a difference; `docs/differences-from-tshark.md` has examples with known truth.
pub(crate) fn of(difference: &Difference, case: &Case<'_>) -> Option<&'static str> {
    let syn = case.ours.is_some_and(|packet| packet.frame.syn);
    of_packet(difference, case)
        .or_else(|| of_duplicate(difference, syn))
        .or_else(|| of_names(difference, case, syn))
        .or_else(|| case.is_damaged.then_some(DAMAGED))
}

const DAMAGED: &str = "the capture holds damaged or invented packets (tcplab's notes name them): \
                       their numbers lead astray, each program elsewhere";

/// What the frame shows.
fn of_packet(difference: &Difference, case: &Case<'_>) -> Option<&'static str> {
    let (ours, theirs) = (case.ours?, case.theirs?);
    let frame = &ours.frame;
    let words = (difference.tcplab.as_str(), difference.tshark.as_str());
    if frame.oddity == Some(Oddity::DamagedHeader) {
        return Some(
            "the TCP header's length is impossible: receivers drop the segment, and tcplab only \
             counts it",
        );
    }
    if ours.to != theirs.to && words.0.ends_with("connection") {
        return Some(
            "with a source route (RFC 791) tshark takes the last address of the option as the \
             destination",
        );
    }
    let counts_bytes = words.0.ends_with("data bytes");
    if counts_bytes && ours.is_reset {
        return Some("text in a reset (RFC 9293 SHLD-2) is no part of the stream");
    }
    if frame.oddity == Some(Oddity::BeyondFrame) {
        return Some(
            "the IP header's length goes beyond the frame, which was cut before it was captured: \
             tcplab goes by the header, as the next sequence number mostly does, tshark by the \
             frame",
        );
    }
    if counts_bytes && theirs.frame.oddity == Some(Oddity::BeyondSession) {
        return Some("PPPoE's length excludes padding that the IP header's length includes");
    }
    if counts_bytes && theirs.frame.oddity == Some(Oddity::SeveralSegments) {
        return Some(
            "several segments in one frame: tcplab reads the first, tshark names the last",
        );
    }
    if theirs.frame.oddity == Some(Oddity::FabricPath)
        && (counts_bytes || difference.tshark == "nothing special")
    {
        return Some(
            "inside FabricPath tshark 4.0 takes the last four bytes for a checksum, and analyses \
             a segment that lacks them no further",
        );
    }
    if case.is_at_syn {
        return Some("data at the number of the SYN itself: a crafted packet, which no host sends");
    }
    let has_no_place = frame.payload > 0 && !frame.has_place;
    if has_no_place && !frame.syn && !case.stream.starts_again {
        return Some(
            "the sequence number lies outside every window: tcplab counts the packet and analyses \
             it no further",
        );
    }
    None
}

/// What the programs say of a duplicate.
fn of_duplicate(difference: &Difference, syn: bool) -> Option<&'static str> {
    Some(match (difference.tcplab.as_str(), difference.tshark.as_str()) {
        ("capture duplicate", theirs) if theirs != "nothing special" => {
            "a frame captured twice: identification, timestamps and content are the same, at once; \
             tshark compares sequence numbers"
        }
        ("network duplicate", theirs) if theirs != "nothing special" => {
            "a copy made by the network: the same identification, or the same packet within half \
             an RTT; tshark compares sequence numbers"
        }
        (ours, "nothing special") if ours.ends_with("duplicate") && syn => {
            "a duplicate of a SYN: tshark names none of a SYN that begins its stream"
        }
        _ => return None,
    })
}

/// What the programs say.
fn of_names(difference: &Difference, case: &Case<'_>, syn: bool) -> Option<&'static str> {
    let evidence = difference.evidence.as_str();
    let is_by_mark = evidence.starts_with("IpId") || evidence.starts_with("Timestamp");
    let is_retransmission =
        ["retransmission", "repeated"].iter().any(|word| difference.tcplab.contains(word));
    Some(match (difference.tcplab.as_str(), difference.tshark.as_str()) {
        (_, "nothing special") if is_retransmission && case.stream.has_padding => {
            "ACKs of the connection have an IP length that counts Ethernet's padding as data, which \
             the real data then repeat"
        }
        ("TCP", "not TCP") => {
            "malformed IPv4 options: the length of the header says where the segment begins"
        }
        ("readable", _) => {
            "the file breaks off or is damaged: tcplab reads what is there, tshark 4.0 nothing"
        }
        ("fills a gap", _) => {
            "captured after later data, and nothing decides between a retransmission and \
             reordering; tshark goes by time alone"
        }
        (_, "spurious retransmission") if is_retransmission => {
            "the data were already acknowledged at this capture point: a kind of its own in \
             tshark; here the kind is the sender's trigger, and spurious a mark beside it"
        }
        (_, "out of order") if is_retransmission => {
            "tshark goes by time alone: within the first round trip (3 ms if unknown) of the \
             highest segment; it ignores capture point, SACK, identification and timestamps"
        }
        ("retransmission, cause unknown", "out of order") => {
            "by the sender's marks sent after later data, or long after them, so retransmitted, \
             for a reason that is not captured; tshark goes by time alone"
        }
        ("SYN or FIN repeated", "nothing special") => {
            "tshark names a SYN or FIN repeated only of a stream that it has from its beginning, \
             and of headers that it reads"
        }
        ("fast retransmission", "retransmission") => {
            "fast in tshark only at the acknowledged number, after two duplicates and within 20 ms"
        }
        ("timeout retransmission" | "retransmission after a timeout", "fast retransmission") => {
            "fast in tshark within 20 ms of a duplicate ACK, whatever timer ran out before"
        }
        ("timeout retransmission" | "retransmission after a timeout", "keep-alive") => {
            "one byte just below the next number: a keep-alive in tshark, whatever was \
             outstanding; here a probe, as the byte was not acknowledged"
        }
        ("out of order", theirs) if is_by_mark && theirs.contains("retransmission") => {
            "the identification or timestamp is older than that of a packet captured before: \
             sent first, captured later; tshark goes by time alone"
        }
        ("nothing special", "out of order" | "retransmission") if is_by_mark => {
            "beside the sender nothing is out of order: by its identification the packet was sent \
             in order and captured late"
        }
        ("nothing special", theirs)
            if theirs.contains("retransmission") && evidence.starts_with("Time") =>
        {
            "captured just after its own acknowledgement, for the first time: captured late, not \
             sent twice"
        }
        ("keep-alive", "nothing special") => {
            "just below what the other side has acknowledged; tshark knows only what it captured \
             of the sender before"
        }
        ("nothing special", "keep-alive") => {
            "an ACK without data one below the highest number, not below what is acknowledged: \
             the sender does not count its own FIN, or the ACK is out of order"
        }
        ("nothing special", "window probe") => {
            "the zero window was that of a reset, which offers none"
        }
        ("same connection", "new connection") if syn => {
            "SYNs that cross, or repeat, belong to one connection (RFC 9293 section 3.5)"
        }
        ("same connection", "new connection") => {
            "no SYN and the same ends: tcplab goes on with the connection, tshark's dissector \
             begins another stream"
        }
        ("new connection", "same connection") if case.stream.starts_again => {
            "another initial sequence number: another connection; tshark keeps the stream without \
             a SYN of the client"
        }
        (_, theirs) if case.stream.starts_again && theirs != "TCP" => {
            "the numbers start again in one stream of tshark, which compares them with those \
             before; tcplab begins again at another initial sequence number"
        }
        _ => return None,
    })
}
