//! What devices between the captures change in headers, counted.

use super::headers::Difference;
use super::piece::WireSegment;
use super::{Change, Crossing};

/// Kinds of changes, in the order in which they appear.
#[derive(Debug, Default)]
pub(crate) struct ChangeCounts(Vec<Change>);

impl ChangeCounts {
    /// The same segment at both captures.
    pub(crate) fn compare(&mut self, sent: &WireSegment, arrived: &WireSegment) {
        if sent.headers == arrived.headers {
            return;
        }
        let first = sent.is_first && arrived.is_first;
        for difference in sent.headers.differences(&arrived.headers, first) {
            self.count(difference, sent.frame, arrived.frame);
        }
    }

    fn count(&mut self, (field, sent, arrived): Difference, frame: u64, arrived_frame: u64) {
        let is_it = |known: &&mut Change| {
            (known.field, known.sent, known.arrived) == (field, sent, arrived)
        };
        if let Some(known) = self.0.iter_mut().find(is_it) {
            known.packets += 1;
        } else if self.0.len() < Crossing::CHANGES {
            self.0.push(Change { field, sent, arrived, packets: 1, frame, arrived_frame });
        }
    }

    pub(crate) fn into_list(self) -> Vec<Change> {
        self.0
    }
}
