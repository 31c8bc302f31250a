//! The path's log.

use crate::quantity::quantities;

quantities! {
    ID = "id", None, "packet", "The packet's number on the path";
    SIZE_BYTES = "size_bytes", Bytes, "size", "Length from the IP header on", wireshark "ip.len";
    ENTERED_NS = "entered_ns", Nanoseconds, "entered", "When it came to the link, from the trial's zero";
    QUEUED_NS = "queued_ns", Nanoseconds, "queued",
        "When it came to the bottleneck's queue, from the trial's zero; empty if it never did";
    BEGAN_NS = "began_ns", Nanoseconds, "began",
        "When the bottleneck began to send it, from the trial's zero; empty if it never did";
    ENDED_NS = "ended_ns", Nanoseconds, "ended",
        "When the bottleneck had sent its last bit, from the trial's zero: after left_ns if the trial \
         ended before; empty if it was never sent there";
    LEFT_NS = "left_ns", Nanoseconds, "left",
        "When it left the link, delivered or dropped, or was found there at the end, from the \
         trial's zero";
    FATE = "fate", None, "verdict",
        "How it left the link: delivered, dropped, still-on-link, or absorbed (cross traffic)";
    DETAIL = "detail", None, "detail", "Why it was dropped, as a sentence; empty if it was not";
    ORIGIN_ID = "origin_id", None, "origin",
        "Of a packet that the path made: the id of the one that it copies or answers; empty if an \
         endpoint sent it, or it is cross traffic";
    MARKED = "marked", None, "marked CE", "Whether the path marked it Congestion Experienced";
    CORRUPTED_BIT = "corrupted_bit", None, "corrupted bit",
        "The first bit that the path changed, from the packet's first; empty if it changed none";
    BECAUSE = "because", None, "because",
        "Why the endpoint sent it, such as timeout; empty if not known (only models know)";
}
