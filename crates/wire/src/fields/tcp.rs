//! Fields of TCP headers.

use super::cursor::Cursor;
use super::field::{FieldLayer, Numbering, Said, relative};
use super::options::tcp_options;
use crate::{ChecksumState, TcpFlags, TcpPacket, checksum, protocol};

/// The flags from the left, with what a set one says (RFC 9293 section 3.1, RFC 9768).
const FLAGS: [(TcpFlags, &str, &str); 9] = [
    (TcpFlags::AE, "AE", "accurate ECN"),
    (TcpFlags::CWR, "CWR", "congestion window reduced"),
    (TcpFlags::ECE, "ECE", "ECN echo"),
    (TcpFlags::URG, "URG", "the urgent pointer counts"),
    (TcpFlags::ACK, "ACK", "the acknowledgement number counts"),
    (TcpFlags::PSH, "PSH", "push: hand over to the reader"),
    (TcpFlags::RST, "RST", "reset the connection"),
    (TcpFlags::SYN, "SYN", "synchronise sequence numbers"),
    (TcpFlags::FIN, "FIN", "no more data from the sender"),
];

/// The header (RFC 9293 section 3.1), its options and the data, up to `end`. `tcp` is none where
/// not all of the header was captured: then its first fields.
pub(super) fn tcp_segment(
    cursor: &mut Cursor<'_>,
    tcp: Option<&TcpPacket<'_>>,
    numbering: &Numbering,
    end: usize,
) -> Option<()> {
    let start = cursor.at();
    cursor.enter(FieldLayer::Tcp, end);
    cursor.word("source port", Said::value)?;
    cursor.word("destination port", Said::value)?;
    let flags = tcp.map(TcpPacket::flags);
    cursor.double_word("sequence number", |seq| relative(seq, numbering.seq))?;
    cursor.double_word("acknowledgement number", |ack| match flags {
        Some(flags) if !flags.contains(TcpFlags::ACK) => {
            Said::value(ack).meaning("does not count: ACK is not set")
        }
        _ => relative(ack, numbering.ack),
    })?;
    let flags = data_offset_and_flags(cursor)?;
    cursor.word("window", |window| scaled(window, flags, numbering.window_shift))?;
    cursor.word("checksum", |sum| Said::hex16(sum).meaning(tcp.map(judge).unwrap_or_default()))?;
    cursor.word("urgent pointer", |pointer| {
        let said = Said::value(pointer);
        if flags.contains(TcpFlags::URG) {
            said.meaning(format!("urgent data ends before the sequence number + {pointer}"))
        } else if pointer != 0 {
            said.meaning("does not count: URG is not set")
        } else {
            said
        }
    })?;
    let tcp = tcp?;
    if tcp.anomaly().is_some_and(|anomaly| matches!(anomaly, crate::Anomaly::TcpDataOffset { .. }))
    {
        return None;
    }
    let header_end = start + usize::from(tcp.data_offset());
    cursor.enter(FieldLayer::TcpOption, header_end.min(end));
    tcp_options(cursor, numbering, tcp.options_complete());
    (cursor.at() == header_end).then_some(())
}

fn data_offset_and_flags(cursor: &mut Cursor<'_>) -> Option<TcpFlags> {
    let [high, low] = cursor.shared()?;
    let flags = TcpFlags::from_bits(u16::from_be_bytes([high, low]));
    let length = u32::from(high >> 4) * 4;
    cursor.part("data offset", (2, 0, 1), Said::value(length).meaning("bytes of header"));
    cursor.part("reserved", (2, 0, 1), Said::value(high >> 1 & 7));
    let all = Said::value(format!("{:#05x}", flags.bits())).meaning(flags.to_string());
    cursor.part("flags", (2, 0, 2), all);
    for (flag, name, meaning) in FLAGS {
        let is_set = flags.contains(flag);
        let said = Said::bit(is_set).meaning(if is_set { meaning } else { "" });
        cursor.part(name, (2, usize::from(flag.bits() < 0x100), 1), said);
    }
    Some(flags)
}

fn scaled(window: u16, flags: TcpFlags, shift: Option<u8>) -> Said {
    let said = Said::value(window);
    match shift {
        _ if flags.contains(TcpFlags::SYN) => said.meaning("bytes: never scaled in a SYN"),
        Some(shift) => {
            let bytes = u64::from(window) << shift.min(14);
            said.meaning(format!("{bytes} bytes (scale {shift}: × {})", 1_u32 << shift.min(14)))
        }
        None => said.meaning("scale unknown: handshake not captured"),
    }
}

fn judge(tcp: &TcpPacket<'_>) -> String {
    match tcp.checksum_state() {
        ChecksumState::Right => "right".to_owned(),
        ChecksumState::Partial => {
            "offloaded: the sum of the pseudo-header, which the network card completes".to_owned()
        }
        ChecksumState::Unknown if tcp.ip().is_whole() => "not verified: a fragment".to_owned(),
        ChecksumState::Unknown => "not verified: packet truncated".to_owned(),
        ChecksumState::Wrong => {
            let mut segment = tcp.ip().payload().to_vec();
            segment[16..18].fill(0);
            let (src, dst) = (tcp.src(), tcp.dst());
            let sum = checksum::pseudo_header(src, dst, protocol::TCP, tcp.segment_len());
            format!("wrong, should be {:#06x}", sum.with(&segment).complement())
        }
    }
}
