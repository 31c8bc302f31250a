//! Why tshark calls a packet something else: ours, theirs, the reason.

pub(super) const SEGMENTS: &[(&str, &str, &str)] = &[
    (
        "fast retransmission",
        "out of order",
        "tshark asks only how soon it comes: within the first round trip (3 ms if unknown) of the \
         highest segment it is out of order. It asks neither where the tap is (beside the sender \
         nothing can be overtaken) nor for SACK blocks, IP identification or timestamps",
    ),
    (
        "fast retransmission",
        "retransmission",
        "to tshark it is fast only if it begins at the acknowledged number, after two duplicates \
         and within 20 ms; later ones of the same recovery, prompted by SACK, are not",
    ),
    (
        "fast retransmission",
        "spurious retransmission",
        "the data had been acknowledged at this tap when it came: tshark says only that; here what \
         made the sender send it is the kind, and that it was needless is told beside it",
    ),
    (
        "timeout retransmission",
        "keep-alive",
        "a segment of one byte just below the next number: to tshark a keep-alive, whatever was \
         outstanding; here a probe, for the byte had not been acknowledged",
    ),
    (
        "timeout retransmission",
        "nothing special",
        "all transmissions before it were lost ahead of this tap, so tshark sees new data; that the \
         sender's IP identification has moved on and nothing came for a timer's time tells otherwise \
         (the other capture shows them: frame 23 of ackloss30.snd is the fourth, frame 5757 of \
         loss1_cubic.rcv the second)",
    ),
    (
        "timeout retransmission",
        "spurious retransmission",
        "the data had been acknowledged at this tap: tshark makes that a kind of its own; here the \
         kind says what prompted it, and that it was needless is told beside it",
    ),
];
pub(super) const DUPLICATES: &[(&str, &str, &str)] = &[
    (
        "duplicate",
        "no duplicate",
        "its window differs from the one before, which is all that tshark asks; it has a SACK block \
         with news, and then it is one whatever its window (RFC 6675 section 2)",
    ),
    (
        "no duplicate",
        "duplicate",
        "nothing is outstanding at this tap, so nothing can be missing (RFC 5681 section 2, (a)): six \
         answer data that came twice, by D-SACK, frame 7 of ackloss30.snd answers a SYN-ACK that \
         came again. tshark does not ask for that",
    ),
];
