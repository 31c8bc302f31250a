//! A limit on the memory for connections.

use tcplab_units::Bytes;

use super::Analyzer;
use super::found::Found;
use super::part::Part;
use crate::Sink;

/// Memory that does not depend on the connections: buffers of the reader, the program itself.
const BESIDE: u64 = 32_000_000;

impl<S: Sink> Analyzer<S> {
    /// The least limit for [`with_memory`](Self::with_memory).
    pub const LEAST_MEMORY: Bytes = Bytes::new(64_000_000);

    /// Limits the memory of the program while it analyses, without what the sink keeps: at least
    /// [`LEAST_MEMORY`](Self::LEAST_MEMORY). Beyond it, the longest idle connections are handed
    /// over before they end, and a note counts them; their later packets count as new connections.
    /// To know which are idle for longest, one thread has all connections.
    #[must_use]
    pub fn with_memory(mut self, limit: Bytes) -> Analyzer<S> {
        self.memory = Some(limit.max(Self::LEAST_MEMORY));
        self
    }
}

impl Part {
    /// Limits the memory of the program, of which this is the only part.
    pub(super) fn limit_memory(&mut self, limit: Bytes) {
        self.early.limit = limit;
        self.most_memory = usize::try_from(limit.as_u64() - BESIDE).ok();
    }

    /// Makes room if connections take more than `most` bytes.
    pub(super) fn bound_memory(&mut self, most: usize, frame: u64, out: &mut impl FnMut(Found)) {
        while self.table.count_memory() > most {
            // What is in use takes half at most, and the rest is what waits folded.
            if self.table.fold_early(frame, most / 2) {
                continue;
            }
            if !self.lingering.is_empty() {
                self.close_lingering(self.lingering.len() / 2, out);
                continue;
            }
            if !self.end_early(out) {
                break;
            }
        }
    }

    /// Ends the connection that was idle longest, closed ones first; whether there was one.
    #[cold]
    fn end_early(&mut self, out: &mut impl FnMut(Found)) -> bool {
        for open in [false, true] {
            let Some(forgotten) = self.table.forget(open, None) else { continue };
            *(if open { &mut self.early.open } else { &mut self.early.closed }) += 1;
            self.forget(open, forgotten, out);
            return true;
        }
        false
    }
}
