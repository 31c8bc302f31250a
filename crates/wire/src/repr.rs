//! Packets to be built: only legal ones can be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::options::kind;
use crate::{
    AccEcnOption, Cookie, Ecn, SackBlock, SackBlocks, SeqNumber, TcpFlags, checksum, protocol,
};

/// The header of an IPv4 packet to be built, without options or fragmentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4Repr {
    /// Sender.
    pub src: Ipv4Addr,
    /// Receiver.
    pub dst: Ipv4Addr,
    /// Identification.
    pub id: u16,
    /// Time to live.
    pub ttl: u8,
    /// ECN bits.
    pub ecn: Ecn,
}

/// The header of an IPv6 packet to be built, without extension headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6Repr {
    /// Sender.
    pub src: Ipv6Addr,
    /// Receiver.
    pub dst: Ipv6Addr,
    /// Hop limit.
    pub hop_limit: u8,
    /// ECN bits.
    pub ecn: Ecn,
}

/// The IP header of a packet to be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpRepr {
    /// IPv4.
    V4(Ipv4Repr),
    /// IPv6.
    V6(Ipv6Repr),
}

impl IpRepr {
    /// Sender.
    pub fn src(&self) -> IpAddr {
        match self {
            IpRepr::V4(ip) => ip.src.into(),
            IpRepr::V6(ip) => ip.src.into(),
        }
    }
    /// Receiver.
    pub fn dst(&self) -> IpAddr {
        match self {
            IpRepr::V4(ip) => ip.dst.into(),
            IpRepr::V6(ip) => ip.dst.into(),
        }
    }
    /// Length in bytes.
    pub fn header_len(&self) -> usize {
        match self {
            IpRepr::V4(_) => 20,
            IpRepr::V6(_) => 40,
        }
    }

    /// Appends the header of a packet that carries `payload_len` bytes of `protocol`.
    ///
    /// # Panics
    /// If the packet is too long for the length field.
    pub fn emit(&self, protocol: u8, payload_len: usize, out: &mut Vec<u8>) {
        match self {
            IpRepr::V4(ip) => ip.emit(protocol, payload_len, out),
            IpRepr::V6(ip) => ip.emit(protocol, payload_len, out),
        }
    }
}
impl From<Ipv4Repr> for IpRepr {
    fn from(ip: Ipv4Repr) -> IpRepr {
        IpRepr::V4(ip)
    }
}
impl From<Ipv6Repr> for IpRepr {
    fn from(ip: Ipv6Repr) -> IpRepr {
        IpRepr::V6(ip)
    }
}

impl Ipv4Repr {
    /// RFC 791 section 3.1, with "don't fragment" ([`Ipv4Repr::let_fragment`] clears it).
    fn emit(&self, protocol: u8, payload_len: usize, out: &mut Vec<u8>) {
        let total_len = u16::try_from(20 + payload_len).expect("an IPv4 packet is below 64 KiB");
        let mut header = [0; 20];
        header[0] = 0x45;
        header[1] = self.ecn as u8;
        header[2..4].copy_from_slice(&total_len.to_be_bytes());
        header[4..6].copy_from_slice(&self.id.to_be_bytes());
        header[6] = 0x40;
        header[8] = self.ttl;
        header[9] = protocol;
        header[12..16].copy_from_slice(&self.src.octets());
        header[16..20].copy_from_slice(&self.dst.octets());
        let sum = checksum::internet(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(&header);
    }

    /// Lets routers cut a packet that was built with such a header: "don't fragment" is not set.
    ///
    /// # Panics
    /// If `packet` is shorter than its header.
    pub fn let_fragment(packet: &mut [u8]) {
        packet[6] &= !0x40;
        packet[10..12].fill(0);
        let sum = checksum::internet(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}
impl Ipv6Repr {
    /// RFC 8200 section 3.
    fn emit(&self, protocol: u8, payload_len: usize, out: &mut Vec<u8>) {
        let payload_len = u16::try_from(payload_len).expect("an IPv6 payload is below 64 KiB");
        out.extend_from_slice(&[0x60, (self.ecn as u8) << 4, 0, 0]);
        out.extend_from_slice(&payload_len.to_be_bytes());
        out.extend_from_slice(&[protocol, self.hop_limit]);
        out.extend_from_slice(&self.src.octets());
        out.extend_from_slice(&self.dst.octets());
    }
}

/// In which order options stand, and how they are padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionLayout {
    /// As Linux does (`tcp_options_write`): each takes whole words.
    #[default]
    Linux,
    /// As FreeBSD does (`tcp_addoptions`): MSS, window scale, SACK permitted, timestamps, SACK,
    /// Fast Open; the end of the list and zeros fill the last word.
    FreeBsd,
}

/// A TCP header to be built. Options are laid out as a kernel does, so that those present take the
/// same room and the same order as they would from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpRepr {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// Number of the first byte of data, or of the SYN.
    pub seq: SeqNumber,
    /// The next number expected.
    pub ack: SeqNumber,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window, as scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent_pointer: u16,
    /// Largest segment, in bytes; only with SYN.
    pub mss: Option<u16>,
    /// Shift of later windows, at most 14; only with SYN.
    pub window_scale: Option<u8>,
    /// Whether selective acknowledgements are welcome; only with SYN.
    pub sack_permitted: bool,
    /// Timestamp value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// Blocks received out of order; only three fit with timestamps (RFC 2018 section 3).
    pub sack: SackBlocks,
    /// A Fast Open cookie or the request for one; only with SYN, and if there is room.
    pub fast_open: Option<Cookie>,
    /// The counters of Accurate ECN.
    pub acc_ecn: Option<AccEcnOption>,
    /// The layout of its options.
    pub layout: OptionLayout,
}

impl TcpRepr {
    /// The RST that answers a segment of no connection, given that segment's numbers; its ports are
    /// the caller's affair. A RST is not answered (RFC 9293 section 3.10.7.1).
    pub fn reset_for(
        seq: SeqNumber,
        ack: SeqNumber,
        flags: TcpFlags,
        sequence_len: u32,
    ) -> Option<TcpRepr> {
        let answer = if flags.contains(TcpFlags::ACK) {
            TcpRepr { seq: ack, flags: TcpFlags::RST, ..TcpRepr::default() }
        } else {
            let flags = TcpFlags::RST | TcpFlags::ACK;
            TcpRepr { ack: seq.advanced_by(sequence_len), flags, ..TcpRepr::default() }
        };
        (!flags.contains(TcpFlags::RST)).then_some(answer)
    }

    /// Length of the header with its options in bytes, 20 to 60.
    pub fn header_len(&self) -> usize {
        if self.layout == OptionLayout::FreeBsd {
            return 20 + self.options().1;
        }
        if self.acc_ecn.is_some() {
            return 20 + TcpRepr { fast_open: None, ..*self }.options().1;
        }
        let before = self.len_before_sack();
        let blocks = self.fitting_blocks(before).len();
        20 + before + if blocks > 0 { 4 + 8 * blocks } else { 0 }
    }

    /// Bytes of all options but SACK, which comes last; padded.
    fn len_before_sack(&self) -> usize {
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        // With timestamps, it replaces padding.
        let permitted = if self.sack_permitted && timestamps == 0 { 4 } else { 0 };
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        mss + permitted + timestamps + scale
    }

    /// The blocks for which the other options leave room.
    fn fitting_blocks(&self, before: usize) -> &[SackBlock] {
        let room = (OPTIONS - before).saturating_sub(4) / 8;
        &self.sack.as_slice()[..self.sack.len().min(room)]
    }

    /// Appends a packet with this header and `payload` to `out`, checksums and all.
    ///
    /// # Panics
    /// If a segment without SYN carries an option that belongs to SYN (RFC 9293 section 3.7.1,
    /// RFC 7323 section 2.2, RFC 2018 section 2), if the window scale is above 14, or if the
    /// packet is too long for the IP header's length field.
    pub fn emit(&self, ip: &IpRepr, payload: &[u8], out: &mut Vec<u8>) {
        self.emit_beginning(ip, payload, payload.len(), out);
    }

    /// As [`TcpRepr::emit`], but appends no more of `payload` than its first `kept` bytes, for a
    /// capture that keeps no more; the checksum is that of the whole packet.
    ///
    /// # Panics
    /// As [`TcpRepr::emit`], and if `payload` is shorter than `kept`.
    pub fn emit_beginning(&self, ip: &IpRepr, payload: &[u8], kept: usize, out: &mut Vec<u8>) {
        let (options, options_len) = self.options();
        let header_len = 20 + options_len;
        let len = header_len + payload.len();
        ip.emit(protocol::TCP, len, out);
        let tcp_at = out.len();
        let offset_and_flags = (header_len as u16 / 4) << 12 | self.flags.bits();
        out.extend_from_slice(&self.src_port.to_be_bytes());
        out.extend_from_slice(&self.dst_port.to_be_bytes());
        out.extend_from_slice(&self.seq.as_u32().to_be_bytes());
        out.extend_from_slice(&self.ack.as_u32().to_be_bytes());
        out.extend_from_slice(&offset_and_flags.to_be_bytes());
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.urgent_pointer.to_be_bytes());
        out.extend_from_slice(&options[..options_len]);
        let sum = checksum::pseudo_header(ip.src(), ip.dst(), protocol::TCP, len as u32);
        let sum = sum.with(&out[tcp_at..]).with(payload).complement();
        out[tcp_at + 16..tcp_at + 18].copy_from_slice(&sum.to_be_bytes());
        out.extend_from_slice(&payload[..kept]);
    }

    /// A packet with this header and `payload`; see [`TcpRepr::emit`].
    pub fn to_packet(&self, ip: &IpRepr, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::with_capacity(ip.header_len() + self.header_len() + payload.len());
        self.emit(ip, payload, &mut packet);
        packet
    }

    /// The options, padded to words of four bytes, and their length.
    fn options(&self) -> ([u8; OPTIONS], usize) {
        let of_syn = self.mss.is_some()
            || self.window_scale.is_some()
            || self.sack_permitted
            || self.fast_open.is_some();
        assert!(
            self.flags.contains(TcpFlags::SYN) || !of_syn,
            "MSS, window scale, SACK-permitted and Fast Open belong to SYN segments"
        );
        if self.layout == OptionLayout::FreeBsd {
            return self.options_of_freebsd();
        }
        let mut options = Options { bytes: [0; OPTIONS], len: 0 };
        if let Some(mss) = self.mss {
            options.push(&[kind::MSS, 4]);
            options.push(&mss.to_be_bytes());
        }
        if let Some((value, echo)) = self.timestamps {
            // The two bytes before the timestamps are padding unless there is a use for them.
            options.push(&if self.sack_permitted { [kind::SACK_PERMITTED, 2] } else { [NOP, NOP] });
            options.push(&[kind::TIMESTAMPS, 10]);
            options.push(&value.to_be_bytes());
            options.push(&echo.to_be_bytes());
        }
        // What does not fill a word takes the place of the padding before the next option.
        let (mut padding, mut left) =
            self.acc_ecn.map_or(([NOP; 2], 0), |option| options.push_acc_ecn(option));
        if self.sack_permitted && self.timestamps.is_none() {
            let [a, b] = std::mem::replace(&mut padding, [NOP; 2]);
            left = 0;
            options.push(&[a, b, kind::SACK_PERMITTED, 2]);
        }
        if let Some(shift) = self.window_scale {
            assert!(shift <= 14, "a window scale of {shift} is above 14");
            let first = if left == 1 { std::mem::replace(&mut padding[0], NOP) } else { NOP };
            left = if left == 1 { 0 } else { left };
            options.push(&[first, kind::WINDOW_SCALE, 3, shift]);
        }
        let fitting = self.fitting_blocks(options.len);
        if fitting.is_empty() && left > 0 {
            options.push(&[padding[0], padding[1], NOP, NOP]);
        }
        if !fitting.is_empty() {
            options.push(&[padding[0], padding[1], kind::SACK, 2 + 8 * fitting.len() as u8]);
            for block in fitting {
                options.push(&block.left.as_u32().to_be_bytes());
                options.push(&block.right.as_u32().to_be_bytes());
            }
        }
        if let Some(cookie) = &self.fast_open {
            options.push_cookie(cookie);
        }
        (options.bytes, options.len)
    }

    /// `tcp_addoptions`.
    fn options_of_freebsd(&self) -> ([u8; OPTIONS], usize) {
        let mut options = Options { bytes: [0; OPTIONS], len: 0 };
        if let Some(mss) = self.mss {
            options.push(&[kind::MSS, 4]);
            options.push(&mss.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            assert!(shift <= 14, "a window scale of {shift} is above 14");
            options.push(&[NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            options.push(&[kind::SACK_PERMITTED, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            options.pad_to(2);
            options.push(&[kind::TIMESTAMPS, 10]);
            options.push(&value.to_be_bytes());
            options.push(&echo.to_be_bytes());
        }
        let fitting = self.fitting_blocks(options.len.next_multiple_of(4));
        if !fitting.is_empty() {
            options.pad_to(2);
            options.push(&[kind::SACK, 2 + 8 * fitting.len() as u8]);
            for block in fitting {
                options.push(&block.left.as_u32().to_be_bytes());
                options.push(&block.right.as_u32().to_be_bytes());
            }
        }
        if let Some(cookie) = &self.fast_open {
            options.push_bare_cookie(cookie);
        }
        (options.bytes, options.len.next_multiple_of(4))
    }
}

const NOP: u8 = kind::NO_OPERATION;

/// Room for options (RFC 9293 section 3.1: fifteen words less the fixed five).
const OPTIONS: usize = 40;

struct Options {
    bytes: [u8; OPTIONS],
    len: usize,
}
impl Options {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Whole words, padded; what is left of at most half a word is given back, and how many bytes
    /// that is: the last of a counter may look like padding.
    fn push_acc_ecn(&mut self, option: AccEcnOption) -> ([u8; 2], usize) {
        let (bytes, len) = option.to_bytes();
        match len {
            2 => ([bytes[0], bytes[1]], 2),
            5 => {
                self.push(&bytes[..4]);
                ([bytes[4], NOP], 1)
            }
            _ => {
                self.push(&bytes[..len]);
                self.push(&[NOP; 3][..len.next_multiple_of(4) - len]);
                ([NOP; 2], 0)
            }
        }
    }

    /// Padded to a word behind it.
    fn push_cookie(&mut self, cookie: &Cookie) {
        let bytes = cookie.as_slice();
        let head = if cookie.is_experimental() { 4 } else { 2 };
        let len = head + bytes.len();
        if self.len + len.next_multiple_of(4) > self.bytes.len() {
            return;
        }
        self.push_bare_cookie(cookie);
        while !self.len.is_multiple_of(4) {
            self.push(&[NOP]);
        }
    }

    /// As far as there is room.
    fn push_bare_cookie(&mut self, cookie: &Cookie) {
        let bytes = cookie.as_slice();
        let head = if cookie.is_experimental() { 4 } else { 2 };
        let len = head + bytes.len();
        if self.len + len > self.bytes.len() {
            return;
        }
        if cookie.is_experimental() {
            self.push(&[kind::EXPERIMENT, len as u8]);
            self.push(&kind::FAST_OPEN_EXPERIMENT.to_be_bytes());
        } else {
            self.push(&[kind::FAST_OPEN, len as u8]);
        }
        self.push(bytes);
    }

    /// Up to two bytes behind a word: numbers that follow an option's head stand at words then.
    fn pad_to(&mut self, behind_word: usize) {
        while self.len % 4 != behind_word {
            self.push(&[NOP]);
        }
    }
}
