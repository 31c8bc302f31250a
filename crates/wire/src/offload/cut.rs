//! Cutting a super-packet into its segments.

use super::{GsoType, Layout, OffloadError, VnetHeader, complete_checksum};

/// Cuts super-packets as segmentation offload would, with one reused buffer.
#[derive(Debug, Default)]
pub struct Cutter {
    piece: Vec<u8>,
}

impl Cutter {
    /// A cutter.
    pub fn new() -> Cutter {
        Cutter::default()
    }

    /// Does whatever `header` says was left undone and hands each resulting packet to `each`, in
    /// order. `packet` begins with its IP header, and so must the offsets in `header`.
    ///
    /// # Errors
    /// If that cannot be done; `each` has then not been called.
    pub fn resolve(
        &mut self,
        header: VnetHeader,
        packet: &mut [u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), OffloadError> {
        match header.gso_type {
            GsoType::TcpV4 | GsoType::TcpV6 => self.cut(packet, header.gso_size, each),
            GsoType::None => {
                if header.needs_checksum {
                    complete_checksum(packet, header.csum_start, header.csum_offset)?;
                }
                each(packet);
                Ok(())
            }
            other => Err(OffloadError::NotTcpOffload(other)),
        }
    }

    /// Cuts an IP packet with a TCP segment into packets of at most `gso_size` bytes of data each
    /// (any amount if 0) and hands them to `each`, in order. A segment that needs no cutting comes
    /// out once. Checksums come out right whatever they were before.
    ///
    /// # Errors
    /// If `packet` is not a whole, well-formed TCP segment; `each` has then not been called.
    pub fn cut(
        &mut self,
        packet: &[u8],
        gso_size: u16,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), OffloadError> {
        let layout = Layout::of(packet, gso_size)?;
        for index in 0..layout.segments() {
            self.piece.clear();
            layout.write_segment(packet, index, usize::MAX, &mut self.piece);
            each(&self.piece);
        }
        Ok(())
    }
}
