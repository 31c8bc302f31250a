//! The vocabulary of pcapng (IETF draft-ietf-opsawg-pcapng): blocks, options, byte orders.

/// What is written as a block's length may be at most this, in bytes: no frame and no list of
/// names comes near it, so more means that the file is damaged.
pub(crate) const LONGEST_BLOCK: u32 = 256 << 20;

pub(crate) mod kind {
    /// Section header; the same in both byte orders.
    pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
    pub(crate) const INTERFACE: u32 = 1;
    pub(crate) const OBSOLETE_PACKET: u32 = 2;
    pub(crate) const SIMPLE_PACKET: u32 = 3;
    pub(crate) const STATISTICS: u32 = 5;
    pub(crate) const ENHANCED_PACKET: u32 = 6;
}

/// Written after a section header in the byte order of the section.
pub(crate) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Codes of options; each kind of block has its own, from 2 on.
pub(crate) mod option {
    pub(crate) const END: u16 = 0;
    pub(crate) const COMMENT: u16 = 1;
    pub(crate) const SECTION_HARDWARE: u16 = 2;
    pub(crate) const SECTION_OS: u16 = 3;
    pub(crate) const SECTION_APPLICATION: u16 = 4;
    pub(crate) const INTERFACE_NAME: u16 = 2;
    pub(crate) const INTERFACE_DESCRIPTION: u16 = 3;
    pub(crate) const INTERFACE_RESOLUTION: u16 = 9;
    pub(crate) const INTERFACE_OFFSET: u16 = 14;
    pub(crate) const PACKET_FLAGS: u16 = 2;
    pub(crate) const PACKETS_DROPPED: u16 = 4;
    pub(crate) const STATISTICS_START: u16 = 2;
    pub(crate) const STATISTICS_END: u16 = 3;
    pub(crate) const STATISTICS_RECEIVED: u16 = 4;
    pub(crate) const STATISTICS_DROPPED: u16 = 5;
    pub(crate) const STATISTICS_DROPPED_BY_OS: u16 = 7;
}

/// The byte order of a section or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    #[inline]
    pub(crate) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }
    #[inline]
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }
    #[inline]
    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }
    pub(crate) fn bytes_of_u16(self, number: u16) -> [u8; 2] {
        match self {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        }
    }
    pub(crate) fn bytes_of_u32(self, number: u32) -> [u8; 4] {
        match self {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        }
    }
    /// The number at `at`, if `bytes` reach that far.
    #[inline]
    pub(crate) fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(*bytes.get(at..)?.first_chunk()?))
    }
    /// The number at `at`, if `bytes` reach that far.
    #[inline]
    pub(crate) fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(at..)?.first_chunk()?))
    }
}

/// The options of a block: code and value. Ends silently where they make no sense.
#[derive(Debug, Clone)]
pub(crate) struct Options<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) endian: Endian,
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let code = self.endian.u16_at(self.bytes, 0)?;
        let len = usize::from(self.endian.u16_at(self.bytes, 2)?);
        if code == option::END {
            return None;
        }
        let value = self.bytes.get(4..4 + len)?;
        self.bytes = self.bytes.get(4 + padded(len)..).unwrap_or(&[]);
        Some((code, value))
    }
}

/// `len` rounded up to whole words of four bytes.
pub(crate) fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}
