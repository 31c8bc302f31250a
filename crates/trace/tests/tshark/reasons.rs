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
    ("timeout retransmission", "nothing special", "not explained yet: two frames"),
    (
        "timeout retransmission",
        "spurious retransmission",
        "the data had been acknowledged at this tap: tshark makes that a kind of its own; here the \
         kind says what prompted it, and that it was needless is told beside it",
    ),
];
pub(super) const DUPLICATES: &[(&str, &str, &str)] = &[
    ("duplicate", "no duplicate", "not explained yet"),
    ("no duplicate", "duplicate", "not explained yet"),
];
