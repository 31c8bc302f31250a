//! Packets: segments and acknowledgements.

use crate::quantity::quantities;

quantities! {
    DIRECTION = "direction", None, "direction",
        "Whose data: forward (client to server) or reverse";
    FRAME = "frame", None, "frame", "The frame number in the capture, from 1",
        wireshark "frame.number";
    AT_NS = "at_ns", Nanoseconds, "time", "When it passed the capture point, from the trace's zero",
        wireshark "frame.time_relative";
    START = "start", None, "sequence number",
        "The first sequence number, relative to the initial one: the SYN is 0, data begin at 1",
        wireshark "tcp.seq";
    END = "end", None, "next sequence number", "The sequence number after the last",
        wireshark "tcp.nxtseq";
    PAYLOAD_BYTES = "payload_bytes", Bytes, "payload", "Bytes of data", wireshark "tcp.len";
    SYN = "syn", None, "SYN", "Whether the segment has SYN", wireshark "tcp.flags.syn";
    FIN = "fin", None, "FIN", "Whether the segment has FIN", wireshark "tcp.flags.fin";
    PSH = "psh", None, "PSH", "Whether the segment has PSH", wireshark "tcp.flags.push";
    KIND = "kind", None, "kind", "Of which kind the row is; its table lists the kinds";
    TIMER = "timer", None, "timer",
        "The timer that sent it: probe (tail loss probe) or retransmission; empty if none did";
    EVIDENCE = "evidence", None, "evidence", "What shows that it is of its kind; empty without need";
    EVIDENCE_FRAME = "evidence_frame", None, "evidence", "The frame of the evidence; empty if there is none",
        wireshark "frame.number";
    WAITED_NS = "waited_ns", Nanoseconds, "waited",
        "How long nothing was sent or received before a timer sent it, or how long after the packet \
         that overtook it it came; empty if it did not wait",
        wireshark "tcp.analysis.rto";
    NTH = "nth", None, "transmission", "Which transmission of its data it is, from 1; empty if not counted";
    BYTES_IN_FLIGHT = "bytes_in_flight", Bytes, "in flight",
        "Bytes sent and neither acknowledged nor SACKed",
        tcptrace "owin", wireshark "tcp.analysis.bytes_in_flight";
    SPURIOUS = "spurious", None, "spurious",
        "What shows that the retransmission is spurious: dsack, timestamp, or acknowledged (its data \
         had been acknowledged before); empty if nothing does",
        wireshark "tcp.analysis.spurious_retransmission";
    SPURIOUS_FRAME = "spurious_frame", None, "spurious",
        "The frame that shows it; empty if no single one does", wireshark "frame.number";
    WIRESHARK_FLAG = "wireshark_flag", None, "Wireshark",
        "Wireshark's flag that says it, or comes nearest; empty if there is none";
    COMMENT = "comment", None, "comment", "The capture's comments on the packet; empty if there are none",
        wireshark "frame.comment";
    ACK = "ack", None, "ACK", "The acknowledgement number, relative to the initial sequence number",
        wireshark "tcp.ack";
    NEWLY_ACKED_BYTES = "newly_acked_bytes", Bytes, "newly acknowledged",
        "How many bytes it acknowledges for the first time";
    WINDOW_BYTES = "window_bytes", Bytes, "advertised window",
        "The advertised window; empty if its scale is not known", wireshark "tcp.window_size";
    SACK_STARTS = "sack_starts", None, "SACK from",
        "Where the SACK blocks begin, without the D-SACK, in their order",
        wireshark "tcp.options.sack_le";
    SACK_ENDS = "sack_ends", None, "SACK to",
        "Where the SACK blocks end, without the D-SACK, in their order",
        wireshark "tcp.options.sack_re";
    DSACK_START = "dsack_start", None, "D-SACK from",
        "Where the D-SACK block begins (RFC 2883); empty if there is none",
        wireshark "tcp.options.sack.dsack_le";
    DSACK_END = "dsack_end", None, "D-SACK to",
        "Where the D-SACK block ends (RFC 2883); empty if there is none",
        wireshark "tcp.options.sack.dsack_re";
    HAS_DATA = "has_data", None, "has data", "Whether the packet carries data of its own",
        wireshark "tcp.len > 0";
    ABOUT_FRAME = "about_frame", None, "about", "The frame of the retransmission that it is about",
        wireshark "frame.number";
}
