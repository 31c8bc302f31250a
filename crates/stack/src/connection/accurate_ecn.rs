//! Accurate ECN (RFC 9768) as Linux 7.2 has it: its agreement, and what packets carry of it.

use tcplab_units::{Instant, Span};
use tcplab_wire::{Ecn, SackBlocks, TcpFlags, TcpRepr};

use super::Connection;
use super::parts::accurate::{Stage, field_of, option_of, reflected, reflection};
use crate::sender::{Seen, Told};
use crate::state::State;
use crate::{Segment, config};

/// Room for options, bytes (RFC 9293 section 3.1).
const OPTIONS: usize = 40;
/// Bytes of the option without counters, and of each.
const BASE: usize = 2;
const COUNTER: usize = 3;
/// Bytes of a Fast Open option without its cookie, at most.
const COOKIE: usize = 4;
/// Bytes of a SACK block, and of the rest of that option with its padding.
const BLOCK: usize = 8;
const SACK: usize = 4;

impl Connection {
    /// A SYN arrives: whether it asks for Accurate ECN, and gets it (RFC 9768 section 3.1.2,
    /// `tcp_ecn_create_request`).
    pub(super) fn answer_accurate(&mut self, syn: &Segment) -> bool {
        let asks = !matches!(field_of(syn.header.flags), 0b000 | 0b011);
        let grants = asks && self.config.handshake.ecn.grants_accurate();
        if grants {
            self.accurate.begin(syn.ecn, syn.ecn, 1);
            self.terms.ecn = false;
        }
        grants
    }

    /// The SYN-ACK answers what the SYN asked for (RFC 9768 section 3.1.1, table 2).
    pub(super) fn hear_accurate(&mut self, syn_ack: &Segment) {
        let field = field_of(syn_ack.header.flags);
        self.terms.ecn = field == 0b001;
        if matches!(field, 0b000 | 0b001 | 0b111) {
            self.accurate.stage = Stage::Off;
            return;
        }
        self.accurate.begin(syn_ack.ecn, Ecn::NotEct, 0);
        if let Some(option) = &syn_ack.header.acc_ecn {
            self.sender.feedback.look(option);
            self.accurate.demand(2);
        }
        if syn_ack.ecn == Ecn::Ce && (field == 0b101 || self.is_possible(field)) {
            self.accurate.mark();
        }
    }

    /// The third segment of the handshake (RFC 9768 section 3.2.2.1, `tcp_accecn_third_ack`).
    pub(super) fn hear_third(&mut self, segment: &Segment) {
        if !self.accurate.is_on() {
            return;
        }
        let header = &segment.header;
        if let Some(option) = &header.acc_ecn {
            self.sender.feedback.look(option);
        }
        let first = header.sack.is_empty();
        match field_of(header.flags) {
            0b000 if first => {
                self.accurate.field_cleared = true;
                self.sender.feedback.option_failed = true;
            }
            field @ (0b010 | 0b011 | 0b100 | 0b110)
                if first
                    && segment.is_empty()
                    && self.is_possible(field)
                    && reflected(field) == Ecn::Ce =>
            {
                self.sender.feedback.marked = self.sender.feedback.marked.max(1);
            }
            _ => {}
        }
    }

    /// Whether the own SYN or SYN-ACK, which left without ECT, can have arrived as `field` tells;
    /// if not, the field is worth nothing.
    fn is_possible(&mut self, field: u8) -> bool {
        let possible = !self.accurate.validates || reflected(field) == Ecn::NotEct;
        self.accurate.field_cleared |= !possible;
        possible
    }

    /// The peer's SYN came again: it did not get the SYN-ACK (`tcp_check_req`).
    pub(super) fn hear_syn_once_more(&mut self, syn: &Segment) {
        if self.accurate.is_on() {
            self.accurate.of_syn = syn.ecn;
            self.accurate.field_cleared |= field_of(syn.header.flags) == 0;
            self.accurate.own_field_cleared |= self.handshake.retransmissions > 1;
        }
    }

    /// A SYN in an open connection: the challenge tells its codepoint (`tcp_validate_incoming`).
    pub(super) fn reflect_syn(&mut self, syn: &Segment) {
        if self.accurate.is_on() {
            self.accurate.of_syn = syn.ecn;
            if let Some(option) = syn.header.acc_ecn.filter(|_| self.lacks_counters()) {
                self.sender.feedback.look(&option);
                self.accurate.demand(1);
            }
            self.handshake.reflects = true;
        }
    }

    fn lacks_counters(&self) -> bool {
        self.sender.feedback.seen < Seen::Counters
    }

    /// A segment of an open connection arrives: it is counted, acknowledgements too
    /// (RFC 9768 section 3.2.2.5).
    pub(super) fn count_marks(&mut self, segment: &Segment) {
        if self.accurate.is_on() && self.state == State::Established {
            self.receiver.ecn.seen |= segment.ecn != Ecn::NotEct;
            if self.accurate.count(segment.ecn, segment.len()) {
                self.receiver.acks.hurry();
            }
        }
    }

    /// What an acknowledgement tells of the own packets.
    pub(super) fn told(&mut self, header: &TcpRepr, is_newer: bool) -> Option<Told> {
        if !self.accurate.is_on() {
            return None;
        }
        if self.accurate.is_pressing() {
            self.receiver.acks.hurry();
        }
        Some(Told { field: field_of(header.flags), option: header.acc_ecn, is_newer })
    }

    /// Data came that a D-SACK had reported already: the peer does not get acknowledgements with
    /// the option (`tcp_rcv_spurious_retrans`).
    pub(super) fn note_repeated(&mut self, start: u64) {
        if self.accurate.went_with_dsack && self.receiver.was_reported_twice(start) {
            self.accurate.own_option_lost = true;
        }
    }

    /// The flags of a SYN or SYN-ACK; `nth` is how many left before. `None`: as without.
    pub(super) fn flags_of_syn(&self, answers: bool, nth: u8) -> Option<TcpFlags> {
        match self.accurate.stage {
            Stage::Off => None,
            Stage::Asked if nth > 1 && self.accurate.validates => Some(TcpFlags::NONE),
            Stage::Asked => Some(TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE),
            // Another retransmission does without, in case it was dropped for them.
            Stage::On if answers && nth <= 1 => Some(reflection(self.accurate.of_syn)),
            Stage::On => Some(TcpFlags::NONE),
        }
    }

    /// Gives the first SYN-ACK the option.
    pub(super) fn offer_option(&self, header: &mut TcpRepr) {
        if self.accurate.is_on() && self.accurate.option > 0 {
            let cookie = header.fast_open.map_or(0, |cookie| COOKIE + cookie.as_slice().len());
            let taken = header.header_len() - 20 + cookie.next_multiple_of(4);
            let combined = match (header.sack_permitted, header.timestamps) {
                (true, None) => 2,
                _ => usize::from(header.window_scale.is_some()),
            };
            let count = fitting(0, OPTIONS.saturating_sub(taken), combined);
            header.acc_ecn = count.map(|count| option_of(&[0; 4], count));
        }
    }

    /// Gives a header that is otherwise complete its ACE field and, where it is due, the option:
    /// more than two SACK blocks may make room for it (`tcp_options_fit_accecn`).
    pub(super) fn tell_marks(&mut self, now: Instant, header: &mut TcpRepr, with_dsack: bool) {
        let is_waiting =
            self.state == State::TimeWait || self.state == State::FinWait2 && self.writer.orphaned;
        if !self.accurate.is_on() || is_waiting {
            return;
        }
        header.flags |= if std::mem::take(&mut self.handshake.reflects) {
            reflection(self.accurate.of_syn)
        } else {
            self.accurate.field()
        };
        let trip = self.sender.window().rtt.srtt.map_or(0, Span::as_micros);
        let due =
            self.accurate.due(now, trip).filter(|_| self.sender.feedback.seen > Seen::Nothing);
        let Some(least) = due else {
            self.accurate.went_with_dsack = false;
            return;
        };
        let blocks = header.sack.len();
        let before = header.header_len() - 20 - if blocks > 0 { SACK + BLOCK * blocks } else { 0 };
        let room =
            |blocks: usize| OPTIONS - before - if blocks > 0 { SACK + BLOCK * blocks } else { 0 };
        let combined = |blocks: usize| if blocks > 0 { 2 } else { 0 };
        let mut kept = blocks;
        let mut count = fitting(least, room(kept), combined(kept));
        while count.is_none() && kept > 2 && least > 0 {
            kept -= 1;
            count = fitting(least, room(kept), combined(kept));
        }
        let Some(count) = count else {
            self.accurate.went_with_dsack = false;
            return;
        };
        header.sack = header.sack.iter().copied().take(kept).collect::<SackBlocks>();
        header.acc_ecn = Some(self.accurate.send(now, count, with_dsack));
    }

    /// Bytes that the option takes in what leaves now.
    pub(super) fn option_of_marks(&self, now: Instant) -> u32 {
        if !self.accurate.is_on() {
            return 0;
        }
        let trip = self.sender.window().rtt.srtt.map_or(0, Span::as_micros);
        let due =
            self.accurate.due(now, trip).filter(|_| self.sender.feedback.seen > Seen::Nothing);
        due.map_or(0, |_| (BASE + 3 * COUNTER).next_multiple_of(4) as u32)
    }
}

/// How many counters fit `room` bytes, at least `least`; of its padding, `combined` bytes can be
/// another option's.
fn fitting(least: u8, room: usize, combined: usize) -> Option<u8> {
    (least..=3).rev().find(|count| {
        let len = BASE + COUNTER * usize::from(*count);
        let taken = if len % 4 > combined { len.next_multiple_of(4) } else { len - len % 4 };
        taken <= room
    })
}

impl config::Ecn {
    fn grants_accurate(self) -> bool {
        matches!(
            self,
            config::Ecn::Accurate | config::Ecn::AccurateOrClassic | config::Ecn::AccurateGranted
        )
    }
}
