//! The virtio-net header: what the kernel left to segmentation offload.

/// The ten bytes that Linux puts before each packet of a TUN device or packet socket that asked
/// for them (`struct virtio_net_hdr`; its meaning is that of the virtio specification, section
/// "Device Operation" of the network device).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VnetHeader {
    /// The checksum is that of the pseudo-header only; see `csum_start`.
    pub needs_checksum: bool,
    /// The checksum was verified already.
    pub data_valid: bool,
    /// How the packet is to be cut.
    pub gso_type: GsoType,
    /// The segment carries CWR, and only the first piece may.
    pub gso_ecn: bool,
    /// Length of all headers of a packet to be cut, in bytes: a hint.
    pub hdr_len: u16,
    /// Most bytes of data per piece.
    pub gso_size: u16,
    /// Where the checksum's coverage begins, in bytes from the start of the packet.
    pub csum_start: u16,
    /// Where, from there, the checksum is stored.
    pub csum_offset: u16,
}

/// How a packet is to be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GsoType {
    /// Not at all.
    #[default]
    None,
    /// Into TCP segments over IPv4.
    TcpV4,
    /// Into IP fragments of a UDP datagram.
    Udp,
    /// Into TCP segments over IPv6.
    TcpV6,
    /// Into UDP datagrams.
    UdpL4,
    /// In a way not known here.
    Other(u8),
}

const NEEDS_CHECKSUM: u8 = 1;
const DATA_VALID: u8 = 2;
const GSO_ECN: u8 = 0x80;

impl VnetHeader {
    /// Length in bytes.
    pub const LEN: usize = 10;

    /// For a packet with nothing left undone.
    pub const COMPLETE: VnetHeader = VnetHeader {
        needs_checksum: false,
        data_valid: false,
        gso_type: GsoType::None,
        gso_ecn: false,
        hdr_len: 0,
        gso_size: 0,
        csum_start: 0,
        csum_offset: 0,
    };

    /// Reads the header, in the machine's byte order as by Linux's default.
    pub fn from_bytes(bytes: [u8; VnetHeader::LEN]) -> VnetHeader {
        let number = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        VnetHeader {
            needs_checksum: bytes[0] & NEEDS_CHECKSUM != 0,
            data_valid: bytes[0] & DATA_VALID != 0,
            gso_type: GsoType::from_number(bytes[1] & !GSO_ECN),
            gso_ecn: bytes[1] & GSO_ECN != 0,
            hdr_len: number(2),
            gso_size: number(4),
            csum_start: number(6),
            csum_offset: number(8),
        }
    }

    /// The header of a packet, from that of its frame, whose own header has `link` bytes. What the
    /// kernel says of a frame counts from the frame's first byte.
    #[must_use]
    pub fn of_packet(mut self, link: u16) -> VnetHeader {
        self.csum_start = self.csum_start.saturating_sub(link);
        self.hdr_len = self.hdr_len.saturating_sub(link);
        self
    }

    /// The header of a frame, from that of its packet, before which stands a header of `link`
    /// bytes. Linux takes none whose `hdr_len` is longer than the frame (`packet_snd`).
    #[must_use]
    pub fn of_frame(mut self, link: u16) -> VnetHeader {
        if self.needs_checksum {
            self.csum_start = self.csum_start.saturating_add(link);
        }
        if self.hdr_len > 0 {
            self.hdr_len = self.hdr_len.saturating_add(link);
        }
        self
    }

    /// Writes the header.
    pub fn to_bytes(self) -> [u8; VnetHeader::LEN] {
        let mut bytes = [0; VnetHeader::LEN];
        bytes[0] = (u8::from(self.needs_checksum) * NEEDS_CHECKSUM)
            | (u8::from(self.data_valid) * DATA_VALID);
        bytes[1] = self.gso_type.number() | (u8::from(self.gso_ecn) * GSO_ECN);
        bytes[2..4].copy_from_slice(&self.hdr_len.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.gso_size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.csum_start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.csum_offset.to_ne_bytes());
        bytes
    }
}

impl GsoType {
    fn from_number(number: u8) -> GsoType {
        match number {
            0 => GsoType::None,
            1 => GsoType::TcpV4,
            3 => GsoType::Udp,
            4 => GsoType::TcpV6,
            5 => GsoType::UdpL4,
            other => GsoType::Other(other),
        }
    }
    fn number(self) -> u8 {
        match self {
            GsoType::None => 0,
            GsoType::TcpV4 => 1,
            GsoType::Udp => 3,
            GsoType::TcpV6 => 4,
            GsoType::UdpL4 => 5,
            GsoType::Other(number) => number & !GSO_ECN,
        }
    }
}
