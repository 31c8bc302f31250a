//! What the receiver of a direction tells its sender of congestion marks.

use tcplab_wire::TcpFlags;

use crate::EcnAgreement;
use crate::fold::folded;
use crate::packet::Packet;

/// The state of the feedback.
#[derive(Debug, Default)]
pub(crate) struct EcnFeedback {
    is_classic: bool,
    /// The peer echoed a congestion mark since the last CWR.
    pub(super) mark_echoed: bool,
    /// Where Accurate ECN was agreed on.
    accurate: Option<Box<Counter>>,
}
folded! { EcnFeedback { is_classic, mark_echoed, accurate } }

/// Accurate ECN's counter of three bits.
#[derive(Debug, Default)]
struct Counter {
    /// Its last value; none before the first.
    value: Option<u8>,
    /// The clock of the packet that had it.
    clock: Option<u32>,
    /// What the first packet said of the handshake was heard.
    opened: bool,
}
folded! { Counter { value, clock, opened } }

/// The counter before the first mark (RFC 9768 section 3.2.1).
const FIRST: u8 = 5;
/// What the answer to a SYN or SYN-ACK says where that was marked (section 3.1.2, table 2; section
/// 3.2.2.1, table 4).
const MARKED: u8 = 0b110;

impl EcnFeedback {
    /// What the SYNs agreed on. With classic ECN, CWR and ECE are no counter.
    pub(crate) fn agree(&mut self, agreed: EcnAgreement) {
        self.is_classic = agreed == EcnAgreement::Classic;
        if agreed == EcnAgreement::Accurate {
            self.accurate.get_or_insert_default();
        } else {
            self.accurate = None;
        }
    }
    #[inline]
    pub(super) fn is_classic(&self) -> bool {
        self.is_classic
    }
    #[inline]
    pub(super) fn is_accurate(&self) -> bool {
        self.accurate.is_some()
    }

    /// How many more packets the counter of a packet shows marked, at least: it has three bits.
    /// `advances`: it acknowledges something new; `only_syn`: no more than the SYN.
    pub(super) fn counted(&mut self, packet: &Packet, advances: bool, only_syn: bool) -> u64 {
        let Some(counter) = &mut self.accurate else { return 0 };
        let field = field(packet.flags);
        if packet.syn() || only_syn && !counter.opened && packet.ack.is_some() {
            // It answers the SYN, or the SYN-ACK, and says how that came.
            if std::mem::replace(&mut counter.opened, true) {
                return 0;
            }
            let marked = u8::from(field == MARKED);
            counter.value = Some(FIRST + marked);
            return u64::from(marked);
        }
        let repeats_answer = only_syn && packet.is_bare();
        if packet.rst() || repeats_answer || !(advances || counter.is_before(packet)) {
            return 0;
        }
        counter.clock = packet.timestamps.map(|(value, _)| value).or(counter.clock);
        let before = counter.value.replace(field).unwrap_or(FIRST);
        u64::from(field.wrapping_sub(before) & 7)
    }
}

impl Counter {
    /// Whether a packet that acknowledges nothing new was sent after the last, by its clock.
    fn is_before(&self, packet: &Packet) -> bool {
        let clocks = packet.timestamps.map(|(value, _)| value).zip(self.clock);
        clocks.is_none_or(|(now, before)| now.wrapping_sub(before) as i32 >= 0)
    }
}

/// AE, CWR and ECE as a number: the counter (RFC 9768 section 3.2.2).
fn field(flags: TcpFlags) -> u8 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(TcpFlags::AE, 4) | bit(TcpFlags::CWR, 2) | bit(TcpFlags::ECE, 1)
}
