//! Packets go to the analysis in order of time; frames keep their numbers.

use super::AnyAnalyzer;
use super::parts::ROUND;
use crate::packet::Packet;

impl AnyAnalyzer<'_> {
    /// The latest frame has a time before that of an earlier one: puts it in order if the step is
    /// small. Whether that could be done.
    #[cold]
    pub(super) fn is_put_in_order(&mut self) -> bool {
        if self.order.stays() {
            self.let_all_go();
            return false;
        }
        // An index tells single connections in order of frames.
        self.output.give_up_log();
        self.order.sort()
    }

    /// Analyses a packet of the latest frame when all before it were.
    #[inline(always)]
    pub(super) fn in_order(&mut self, packet: &mut Packet, comment: Option<&str>) {
        if self.order.lets_pass() {
            return self.analyse(packet, comment);
        }
        self.hold(packet, comment);
    }

    #[inline(never)]
    fn hold(&mut self, packet: &Packet, comment: Option<&str>) {
        if let Some(comment) = comment {
            self.comments.insert(packet.frame, comment.to_owned());
        }
        self.order.hold(packet.frame, *packet);
        while let Some(packet) = self.order.ready() {
            self.analyse_held(packet);
        }
    }

    /// The clock was set, or a packet is needed at once: what is held is analysed now, and later
    /// frames follow it.
    #[cold]
    pub(super) fn let_all_go(&mut self) {
        while let Some(packet) = self.order.next() {
            self.analyse_held(packet);
        }
        self.order.restart();
    }

    /// Analyses what was captured before the latest frame.
    pub(super) fn let_earlier_go(&mut self) {
        while let Some(packet) = self.order.next_before() {
            self.analyse_held(packet);
        }
    }

    /// So many frames passed, a round. Of frames without TCP there may be any number: packets are
    /// not held for longer than a round of those, since an index waits for them, and then the
    /// rounds end nevertheless.
    #[cold]
    pub(super) fn round_passed(&mut self) {
        let frames = self.frames;
        while let Some(packet) = self.order.next_until(frames.saturating_sub(ROUND)) {
            self.analyse_held(packet);
        }
        if self.order.is_empty() {
            self.end_rounds(frames + 1);
        }
    }

    /// Ends the rounds before a frame.
    #[cold]
    fn end_rounds(&mut self, frame: u64) {
        while self.round < frame {
            if let Some(parts) = &mut self.parts {
                parts.end_round(self.round, &mut self.output);
            }
            self.round += ROUND;
        }
    }

    #[inline(never)]
    fn analyse_held(&mut self, mut packet: Packet) {
        let is_plain = self.comments.is_empty();
        let comment = if is_plain { None } else { self.comments.remove(&packet.frame) };
        self.analyse(&mut packet, comment.as_deref());
    }

    #[inline(always)]
    fn analyse(&mut self, packet: &mut Packet, comment: Option<&str>) {
        if self.round < packet.frame {
            self.end_rounds(packet.frame);
        }
        if let Some(parts) = &mut self.parts {
            packet.copies_usual = self.duplicates.are_usual(packet);
            if self.output.copies_usual != packet.copies_usual {
                self.output.log_copies(packet.frame, packet.copies_usual);
            }
            parts.packet(packet, comment, &mut self.output);
        }
    }
}
