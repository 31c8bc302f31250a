//! tcpdump's notation: `1967433:1968881(1448)`, `ack 1967433`.

use std::fmt;

use crate::{Ack, LostSegment, Range, Segment};

impl fmt::Display for Range {
    /// As SACK blocks are written: `2093409-2094857`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.start, self.end)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.syn {
            f.write_str("SYN ")?;
        }
        if self.fin {
            f.write_str("FIN ")?;
        }
        write!(f, "{}:{}({})", self.range.start, self.range.end, self.payload.as_u64())
    }
}

impl fmt::Display for LostSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}({})", self.range.start, self.range.end, self.range.len())
    }
}

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reset {
            f.write_str("RST ")?;
        }
        write!(f, "ack {}", self.ack)?;
        if let Some(again) = self.dsack {
            write!(f, " DSACK {again}")?;
        }
        for (index, block) in self.sack.iter().enumerate() {
            write!(f, "{}{block}", if index == 0 { " SACK " } else { " " })?;
        }
        Ok(())
    }
}
