//! What a connection with Accurate ECN remembers as a receiver (RFC 9768).

use tcplab_units::Instant;
use tcplab_wire::{AccEcnOption, Ecn, TcpFlags};

use crate::config::Handshake;

/// The ACE counter begins here (RFC 9768 section 3.2.1).
const FIRST: u32 = 5;
/// The most that a counter of three bits may grow before an acknowledgement is due.
const MOST_PENDING: u32 = 6;
/// The option is sent again when a counter of bytes passes a multiple of this.
const REMINDER: u32 = 1 << 22;

/// How far the agreement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// None.
    #[default]
    Off,
    /// The own SYN asked for it.
    Asked,
    /// Both ends have it.
    On,
}

/// Counters of what arrived, and what is known of the way back.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct AccurateEcn {
    pub(crate) stage: Stage,
    /// When the option is sent (`tcp_ecn_option`): 0 never, 1 when there is news, 2 always, 3 even
    /// if it seems to get lost.
    pub(crate) option: u8,
    /// How often in an RTT at least (`tcp_ecn_option_beacon`).
    beacon: u32,
    /// Whether impossible answers end it (`tcp_ecn_fallback`).
    pub(crate) validates: bool,
    /// The codepoint with which the peer's SYN or SYN-ACK arrived.
    pub(crate) of_syn: Ecn,
    /// Packets received with CE; those not yet told.
    pub(crate) marked: u32,
    pending: u32,
    /// Bytes received, by codepoint.
    pub(crate) bytes: [u32; 4],
    previous: Ecn,
    /// Packets that are to carry the option, and how many counters they need.
    demand: u8,
    least: u8,
    /// The option went with the last D-SACK, and when it went last.
    pub(crate) went_with_dsack: bool,
    sent_at: Option<Instant>,
    /// The peer's ACE field was cleared on its way; the own seems to be; the own option is.
    pub(crate) field_cleared: bool,
    pub(crate) own_field_cleared: bool,
    pub(crate) own_option_lost: bool,
}

impl AccurateEcn {
    pub(crate) fn new(config: &Handshake) -> AccurateEcn {
        AccurateEcn {
            option: config.ecn_option,
            beacon: config.ecn_option_beacon,
            validates: config.ecn_fallback,
            ..AccurateEcn::default()
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.stage == Stage::On
    }

    /// Both ends have it; the peer's SYN or SYN-ACK came with `of_syn`. `demand`: how many packets
    /// carry the option at least.
    pub(crate) fn begin(&mut self, of_syn: Ecn, previous: Ecn, demand: u8) {
        self.stage = Stage::On;
        self.of_syn = of_syn;
        self.previous = previous;
        self.demand = demand;
    }

    /// At least so many packets carry the option.
    pub(crate) fn demand(&mut self, packets: u8) {
        self.demand = self.demand.max(packets);
    }

    /// The codepoint for packets that leave.
    pub(crate) fn codepoint(&self) -> Ecn {
        if self.field_cleared || self.own_field_cleared { Ecn::NotEct } else { Ecn::Ect0 }
    }

    /// A packet with CE arrived in the handshake.
    pub(crate) fn mark(&mut self) {
        self.marked += 1;
        self.pending += 1;
    }

    /// A packet with `len` data bytes arrived (`tcp_ecn_received_counters`); whether the codepoint
    /// changed, which is acknowledged at once (RFC 9768 section 3.2.2.5.1).
    pub(crate) fn count(&mut self, codepoint: Ecn, len: u32) -> bool {
        if codepoint == Ecn::Ce {
            self.mark();
        }
        if codepoint != Ecn::NotEct && len > 0 {
            let bytes = &mut self.bytes[codepoint as usize];
            let before = *bytes / REMINDER;
            *bytes = bytes.wrapping_add(len);
            let passed = *bytes / REMINDER != before;
            self.least = self.least.max(place(codepoint));
            if passed {
                self.demand(1);
            }
        }
        let changed = codepoint != std::mem::replace(&mut self.previous, codepoint);
        if changed || codepoint == Ecn::Ce {
            self.demand = 2;
        }
        changed
    }

    /// Whether so many packets with CE wait to be told that the field would soon be ambiguous.
    pub(crate) fn is_pressing(&self) -> bool {
        self.pending >= MOST_PENDING
    }

    /// The flags that tell the counter now (RFC 9768 section 3.2.2).
    pub(crate) fn field(&mut self) -> TcpFlags {
        self.pending = 0;
        flags_of((self.marked.wrapping_add(FIRST) & 7) as u8)
    }

    /// Whether the option is due, and how many counters it needs at least
    /// (`tcp_established_options`); `trip` is the smoothed RTT in µs.
    pub(crate) fn due(&self, now: Instant, trip: u64) -> Option<u8> {
        let usable = self.option > 0 && (self.option >= 3 || !self.own_option_lost);
        let since = self.sent_at.map_or(u64::MAX, |at| now.since(at).as_micros());
        let beacon = self.beacon > 0 && since.saturating_mul(self.beacon.into()) >= trip;
        (usable && (self.option >= 2 || self.demand > 0 || beacon)).then_some(self.least)
    }

    /// The option with `count` counters leaves.
    pub(crate) fn send(&mut self, now: Instant, count: u8, with_dsack: bool) -> AccEcnOption {
        self.least = 0;
        self.sent_at = Some(now);
        self.went_with_dsack = with_dsack;
        self.demand = self.demand.saturating_sub(1);
        option_of(&self.bytes, count)
    }
}

/// The option with the first `count` of these counters, by codepoint.
pub(crate) fn option_of(bytes: &[u32; 4], count: u8) -> AccEcnOption {
    let told = |codepoint: Ecn| {
        let from = u32::from(codepoint != Ecn::Ce);
        bytes[codepoint as usize].wrapping_add(from) & 0xff_ffff
    };
    let mut counters = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0].map(told);
    counters[usize::from(count)..].fill(0);
    AccEcnOption { ect1_first: true, counters, count }
}

/// The place of a codepoint's counter in the option, from 1.
fn place(codepoint: Ecn) -> u8 {
    match codepoint {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ce => 2,
        Ecn::Ect0 => 3,
    }
}

/// The ACE field of flags: AE, CWR and ECE as a number.
pub(crate) fn field_of(flags: TcpFlags) -> u8 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(TcpFlags::AE, 4) | bit(TcpFlags::CWR, 2) | bit(TcpFlags::ECE, 1)
}

fn flags_of(field: u8) -> TcpFlags {
    let bits = [(4, TcpFlags::AE), (2, TcpFlags::CWR), (1, TcpFlags::ECE)];
    let set = bits.into_iter().filter(|(bit, _)| field & bit != 0);
    set.fold(TcpFlags::NONE, |flags, (_, flag)| flags | flag)
}

/// How a SYN-ACK, and the third segment of the handshake, tell the codepoint that arrived
/// (RFC 9768 section 3.1.1, table 2).
pub(crate) fn reflection(arrived: Ecn) -> TcpFlags {
    flags_of(match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The codepoint that such a field tells (`tcp_accecn_extract_syn_ect`).
pub(crate) fn reflected(field: u8) -> Ecn {
    match field {
        0b010 => Ecn::NotEct,
        0b000 | 0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => Ecn::Ect1,
    }
}
