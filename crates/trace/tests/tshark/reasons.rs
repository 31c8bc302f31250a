//! Why tshark calls a packet something else: ours, theirs, the reason.

pub(super) const SEGMENTS: &[(&str, &str, &str)] = &[];
pub(super) const DUPLICATES: &[(&str, &str, &str)] = &[];
