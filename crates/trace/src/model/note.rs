//! What is said of a whole capture.

use serde::Serialize;
use tcplab_units::rounded::grouped;

/// A note on the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The frame, from 1 as in Wireshark; none for the whole capture.
    pub frame: Option<u64>,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// That `who` dropped so many packets.
    pub fn of_dropped(who: &str, packets: u64) -> Note {
        let what = match packets {
            1 => "packet: it is not",
            _ => "packets: they are not",
        };
        let text = format!("{who} dropped {} {what} in the capture", grouped(packets));
        Note { frame: None, text }
    }
}
