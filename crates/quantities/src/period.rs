//! Recovery episodes, stalls, limits, states, and what is notable.

use crate::quantity::quantities;

quantities! {
    EPISODE = "episode", None, "episode",
        "The recovery episode's number in its direction, from 1";
    FIRST_LOST_SENT_NS = "first_lost_sent_ns", Nanoseconds, "first lost sent",
        "When the first lost segment had been sent, from the trace's zero";
    FIRST_LOST_FRAME = "first_lost_frame", None, "first lost",
        "The frame of the first lost segment; empty if none is known to be lost",
        wireshark "frame.number";
    EVIDENCE_NS = "evidence_ns", Nanoseconds, "evidence",
        "When the evidence of loss reached the sender, from the trace's zero";
    FIRST_RETRANSMISSION_NS = "first_retransmission_ns", Nanoseconds, "first retransmission",
        "When the first retransmission was sent, from the trace's zero; empty if there was none";
    FIRST_RETRANSMISSION_FRAME = "first_retransmission_frame", None, "first retransmission",
        "The frame of the first retransmission; empty if there was none",
        wireshark "frame.number";
    REPAIRED_NS = "repaired_ns", Nanoseconds, "recovered",
        "When everything lost was acknowledged, from the trace's zero; empty if it never was";
    LOST_SEGMENTS = "lost_segments", None, "lost segments", "Transmissions that were lost";
    LOST_BYTES = "lost_bytes", Bytes, "lost data", "Bytes that were lost";
    PROBES = "probes", None, "probes", "Tail loss probes, those with new data included";
    SILENCE_NS = "silence_ns", Nanoseconds, "longest silence",
        "The longest time without data sent, up to the first retransmission: the time lag";
    SENT_NS = "sent_ns", Nanoseconds, "sent", "When it was sent, from the trace's zero";
    FROM_NS = "from_ns", Nanoseconds, "from", "When it begins, from the trace's zero";
    UNTIL_NS = "until_ns", Nanoseconds, "until", "When it ends, from the trace's zero";
    DURATION_NS = "duration_ns", Nanoseconds, "duration", "How long it lasts";
    CAUSE = "cause", None, "cause", "Why; its table lists the causes";
    COUNT = "count", None, "count", "How many there were";
    LONGEST_FROM_NS = "longest_from_ns", Nanoseconds, "longest from",
        "When the longest begins, from the trace's zero";
    LONGEST_UNTIL_NS = "longest_until_ns", Nanoseconds, "longest until",
        "When the longest ends, from the trace's zero";
    LONGEST_FIRST_FRAME = "longest_first_frame", None, "longest from",
        "The frame before the longest", wireshark "frame.number";
    LONGEST_LAST_FRAME = "longest_last_frame", None, "longest until",
        "The frame that ends the longest", wireshark "frame.number";
    LONGEST_BYTES_IN_FLIGHT = "longest_bytes_in_flight", Bytes, "in flight during the longest",
        "Bytes in flight during the longest";
    LIMIT = "limit", None, "limit",
        "What bounded the rate: application, receive-window, send-buffer, slow-start, \
         congestion-window, path, timeout";
    QUANTITY = "quantity", None, "quantity", "The quantity that the row is about: a key of this list";
    FRAMES = "frames", None, "frames", "The frames to look at", wireshark "frame.number";
    MSS_BEFORE_BYTES = "mss_before_bytes", Bytes, "segment size before",
        "The size of full segments before, bytes of data";
    MSS_AFTER_BYTES = "mss_after_bytes", Bytes, "segment size after",
        "The size of full segments after, bytes of data";
    SENT_BYTES = "sent_bytes", Bytes, "sent", "Bytes of data sent, retransmissions counted";
    ENDPOINT = "endpoint", None, "endpoint", "Which end: client or server";
    STATE = "state", None, "state", "The state of RFC 9293 section 3.3.2", wireshark "tcp.completeness";
    CAUSE_NS = "cause_ns", Nanoseconds, "caused",
        "When the packet that caused it passed the capture point, from the trace's zero";
    CAUSE_FRAME = "cause_frame", None, "caused by", "The frame that caused it",
        wireshark "frame.number";
    CAUSE_FLAGS = "cause_flags", None, "caused by", "The flags of that packet, as tcpdump writes them",
        wireshark "tcp.flags.str";
    CAUSE_SENDER = "cause_sender", None, "caused by", "Who sent that packet: client or server";
    RULE = "rule", None, "rule", "The rule that found it";
    SEVERITY = "severity", None, "severity", "good, note, harm, failure or doubt";
    COST_NS = "cost_ns", Nanoseconds, "cost", "For how long it held the connection up";
    COST_BYTES = "cost_bytes", Bytes, "cost", "Bytes that went over the path for nothing";
    STATEMENT = "statement", None, "statement", "What was found";
    REMEDY = "remedy", None, "remedy", "What to do about it; empty if nothing can be done";
}
