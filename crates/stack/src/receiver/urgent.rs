//! The urgent mark of the incoming stream.

/// Where the peer's urgent data is (RFC 9293 section 3.8.5). As in Linux and BSD it is one byte:
/// the one before that to which the urgent pointer points (RFC 6093 section 3).
#[derive(Debug, Default)]
pub(crate) struct Urgent {
    mark: Option<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// Position of the urgent byte.
    at: u64,
    byte: Byte,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Byte {
    /// Announced (`TCP_URG_NOTYET`).
    Awaited,
    /// Here (`TCP_URG_VALID`).
    Here(u8),
    /// Read out of band (`TCP_URG_READ`).
    Read,
}

impl Urgent {
    /// A segment announces urgent data (`tcp_check_urg`). `read` is what the application has read
    /// up to, `next` what is expected next.
    pub(crate) fn announce(&mut self, start: u64, pointer: u16, read: u64, next: u64) {
        let at = start + u64::from(pointer.saturating_sub(1));
        let stale = at < read || at < next || self.mark.is_some_and(|mark| at <= mark.at);
        if !stale {
            self.mark = Some(Mark { at, byte: Byte::Awaited });
        }
    }

    /// Data arrived from `start` on: it may hold the byte (`tcp_urg`).
    pub(crate) fn look(&mut self, start: u64, data: &[u8]) {
        if let Some(Mark { at, byte: byte @ Byte::Awaited }) = &mut self.mark
            && let Some(offset) = at.checked_sub(start)
            && let Some(found) = data.get(offset as usize)
        {
            *byte = Byte::Here(*found);
        }
    }

    /// Where the mark is.
    pub(crate) fn at(&self) -> Option<u64> {
        self.mark.map(|mark| mark.at)
    }

    /// Whether the byte waits to be read out of band (`POLLPRI`).
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.mark, Some(Mark { byte: Byte::Here(_), .. }))
    }

    /// Whether there is any urgent data that was not read past nor out of band.
    pub(crate) fn is_unread(&self) -> bool {
        matches!(self.mark, Some(Mark { byte: Byte::Here(_) | Byte::Awaited, .. }))
    }

    /// The byte, read out of band.
    pub(crate) fn take(&mut self) -> Option<u8> {
        let mark = self.mark.as_mut()?;
        let Byte::Here(byte) = mark.byte else { return None };
        mark.byte = Byte::Read;
        Some(byte)
    }

    /// The stream was read up to `read`.
    pub(crate) fn read_to(&mut self, read: u64) {
        if self.mark.is_some_and(|mark| read > mark.at) {
            self.mark = None;
        }
    }
}
