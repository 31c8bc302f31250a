//! What the receiver of a direction tells its sender of congestion marks.

use tcplab_wire::TcpFlags;

use crate::EcnAgreement;
use crate::fold::folded;
use crate::packet::Packet;

/// The state of the feedback.
#[derive(Debug, Default)]
pub(crate) struct EcnFeedback {
    agreed: EcnAgreement,
    /// The peer echoed a congestion mark since the last CWR.
    pub(super) mark_echoed: bool,
    /// The last of Accurate ECN's counter; none before the first.
    counter: Option<u8>,
    /// The clock of the packet that had it.
    clock: Option<u32>,
    /// The client's first packet may say otherwise what the handshake brought.
    opened: bool,
}
folded! { EcnFeedback { agreed, mark_echoed, counter, clock, opened } }

/// The counter before the first mark (RFC 9768 section 3.2.1).
const FIRST: u8 = 5;
/// What the answer to a SYN or SYN-ACK says where that was marked (section 3.1.2, table 2; section
/// 3.2.2.1, table 4).
const MARKED: u8 = 0b110;

impl EcnFeedback {
    /// What the SYNs agreed on. With classic ECN, CWR and ECE are no counter.
    pub(crate) fn agree(&mut self, agreed: EcnAgreement) {
        self.agreed = agreed;
    }
    #[inline]
    pub(super) fn is_classic(&self) -> bool {
        self.agreed == EcnAgreement::Classic
    }
    #[inline]
    pub(super) fn is_accurate(&self) -> bool {
        self.agreed == EcnAgreement::Accurate
    }

    /// How many more packets the counter of a packet shows marked, at least: it has three bits.
    /// `advances`: it acknowledges something new; `only_syn`: no more than the SYN.
    pub(super) fn counted(&mut self, packet: &Packet, advances: bool, only_syn: bool) -> u64 {
        let field = field(packet.flags);
        if packet.syn() || only_syn && !self.opened && packet.ack.is_some() {
            // It answers the SYN, or the SYN-ACK, and says how that came.
            if std::mem::replace(&mut self.opened, true) {
                return 0;
            }
            let marked = u8::from(field == MARKED);
            self.counter = Some(FIRST + marked);
            return u64::from(marked);
        }
        let repeats_answer = only_syn && packet.is_bare();
        if packet.rst() || repeats_answer || !(advances || self.is_later(packet)) {
            return 0;
        }
        self.clock = packet.timestamps.map(|(value, _)| value).or(self.clock);
        let before = self.counter.replace(field).unwrap_or(FIRST);
        u64::from(field.wrapping_sub(before) & 7)
    }

    /// Whether a packet that acknowledges nothing new was sent after the last, by its clock.
    fn is_later(&self, packet: &Packet) -> bool {
        let clocks = packet.timestamps.map(|(value, _)| value).zip(self.clock);
        clocks.is_none_or(|(now, before)| now.wrapping_sub(before) as i32 >= 0)
    }
}

/// AE, CWR and ECE as a number: the counter (RFC 9768 section 3.2.2).
fn field(flags: TcpFlags) -> u8 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(TcpFlags::AE, 4) | bit(TcpFlags::CWR, 2) | bit(TcpFlags::ECE, 1)
}
