//! Why tshark calls a packet something else: ours, theirs, the reason.

pub(super) const SEGMENTS: &[(&str, &str, &str)] = &[
    (
        "fast retransmission",
        "out of order",
        "tshark goes by time alone: within the first round trip (3 ms if unknown) of the highest \
         segment it is out of order. It ignores the capture point (nothing is out of order beside \
         the sender), SACK blocks, IP identification and timestamps",
    ),
    (
        "fast retransmission",
        "retransmission",
        "tshark calls it fast only if it begins at the acknowledged number, after two duplicates \
         and within 20 ms; later ones of the same recovery, triggered by SACK, are not",
    ),
    (
        "fast retransmission",
        "spurious retransmission",
        "the data were already acknowledged at this capture point, which is a kind of its own in \
         tshark; here the kind is the sender's trigger, and spurious a mark beside it",
    ),
    (
        "timeout retransmission",
        "keep-alive",
        "one byte just below the next number: a keep-alive in tshark, whatever was outstanding; \
         here a probe, as the byte was not acknowledged",
    ),
    (
        "timeout retransmission",
        "spurious retransmission",
        "the data were already acknowledged at this capture point, which is a kind of its own in \
         tshark; here the kind is the sender's trigger, and spurious a mark beside it",
    ),
];
pub(super) const DUPLICATES: &[(&str, &str, &str)] = &[
    (
        "duplicate",
        "no duplicate",
        "its window differs from the previous one, which decides in tshark; but it has a new SACK \
         block, which makes it a duplicate with any window (RFC 6675 section 2)",
    ),
    (
        "no duplicate",
        "duplicate",
        "nothing is outstanding at this capture point (RFC 5681 section 2, (a)), which tshark does \
         not check: six answer duplicate data with a D-SACK, frame 7 of ackloss30.snd a duplicate \
         SYN-ACK",
    ),
];
/// Kinds of packets that only one finds: the packet, tshark, tcplab, and why.
pub(super) const PACKETS: &[[&str; 4]] = &[
    [
        "quoted by an ICMP error",
        "TCP",
        "ICMP",
        "the quoted header was sent before, in a packet of its own",
    ],
    [
        "sampled by sFlow",
        "TCP",
        "UDP",
        "a sample reports a packet that went elsewhere; it is no packet of a connection",
    ],
    [
        "TCP header of fewer than 20 bytes, sent or captured",
        "TCP, malformed",
        "TCP that cannot be read",
        "sequence number, flags or window are missing",
    ],
    [
        "fragments of which some are not captured",
        "the first is TCP if its bytes are not all captured, else none",
        "none, and a note counts them",
        "the length of the data is not known",
    ],
    [
        "IPv4 with malformed options",
        "malformed",
        "TCP",
        "the length of the header says where the segment begins",
    ],
    [
        "second and later frames of an 802.11 aggregate (A-MSDU)",
        "TCP",
        "none",
        "a frame is one packet; such aggregates are nearly always encrypted",
    ],
    [
        "behind NSH, TRILL, unencrypted MACsec, B.A.T.M.A.N., Mobile IP in UDP, SunATM",
        "TCP",
        "named by protocol or link type",
        "these headers are not read",
    ],
    [
        "longer than 65,535 bytes (BIG TCP), in tunnels or IPv6",
        "IP (4.0)",
        "TCP",
        "the length 0 stands for that of the frame",
    ],
    [
        "custom block of pcapng",
        "a frame (4.0), which moves the numbers of later ones",
        "none",
        "it holds no packet",
    ],
];
