//! All parts: in this thread, or shared among others.

use tcplab_units::{Bytes, Span};

use super::output::AnyOutput;
use super::part::{Part, Shares, hand_over, pass_on_to};
use super::workers::Workers;
use crate::connection::{Placed, TooBig};
use crate::direction::ClockStep;
use crate::packet::{Ends, Packet};

/// A round of frames, a power of two. After each, what rests is folded; workers get the packets of
/// one together.
pub(super) const ROUND: u64 = 1 << 10;
/// At the end, connections are put in order in so many steps: the order of all would take as much
/// memory as connections of one packet.
const STEPS: usize = 8;

#[derive(Debug)]
pub(super) enum Parts {
    Here(Shares, Vec<Part>),
    Apart(Workers),
}

impl Parts {
    pub(super) fn new(shares: Shares, jobs: usize, memory: Option<Bytes>) -> Parts {
        let jobs = jobs.min(shares.parts);
        if jobs > 1
            && let Some(workers) = Workers::start(shares, jobs)
        {
            return Parts::Apart(workers);
        }
        let mut parts: Vec<Part> = (0..shares.parts).map(|_| Part::new(shares)).collect();
        if let (Some(limit), [only]) = (memory, &mut parts[..]) {
            only.limit_memory(limit);
        }
        Parts::Here(shares, parts)
    }

    #[inline(always)]
    pub(super) fn packet(
        &mut self,
        packet: &Packet,
        comment: Option<&str>,
        output: &mut AnyOutput<'_>,
    ) {
        match self {
            Parts::Here(shares, parts) => {
                let (place, frame) = (shares.part_of(&packet.ends), packet.frame);
                let out = &mut |found| drop(output.take(place, found, (frame, comment)));
                parts[place].packet(packet, out);
            }
            Parts::Apart(workers) => workers.packet(packet, comment),
        }
    }

    /// Ends a round of frames, the last of which is this.
    #[cold]
    pub(super) fn end_round(&mut self, frame: u64, output: &mut AnyOutput<'_>) {
        match self {
            Parts::Here(_, parts) => parts.iter_mut().for_each(|part| part.pass_until(frame)),
            Parts::Apart(workers) => workers.end_round(frame, output),
        }
    }

    /// How wrong the capture clock is after a step before this packet, as its connection shows.
    pub(super) fn clock_error(
        &mut self,
        packet: &Packet,
        step: ClockStep,
        output: &mut AnyOutput<'_>,
    ) -> Option<Span> {
        match self {
            Parts::Here(shares, parts) => {
                parts[shares.part_of(&packet.ends)].clock_error(packet, step)
            }
            Parts::Apart(workers) => workers.clock_error(packet, step, output),
        }
    }

    pub(super) fn on_too_big(&mut self, report: &TooBig, output: &mut AnyOutput<'_>) {
        match self {
            Parts::Here(shares, parts) => {
                let place = shares.part_of(&report.ends);
                let out = &mut |found| drop(output.take(place, found, (report.frame(), None)));
                parts[place].on_too_big(report, out);
            }
            Parts::Apart(workers) => workers.on_too_big(report),
        }
    }

    /// Passes on everything unfinished, in order of first packets.
    pub(super) fn finish(self, output: &mut AnyOutput<'_>) {
        let mut parts = match self {
            Parts::Here(_, parts) => parts,
            Parts::Apart(workers) => workers.into_parts(output),
        };
        let mut asides: Vec<(usize, usize, Placed)> = Vec::new();
        for (place, part) in parts.iter_mut().enumerate() {
            let out = &mut |found| drop(output.take(place, found, (0, None)));
            let placed = part.table.fold_all(&mut pass_on_to(out));
            asides.extend(
                placed.into_iter().map(|placed| (output.index(place, placed.0), place, placed)),
            );
        }
        asides.sort_by_key(|(index, ..)| *index);
        let mut asides = asides.into_iter().peekable();
        let pass = |output: &mut AnyOutput<'_>, part, (number, mut state): Placed| {
            hand_over(number, &mut state, &mut |found| drop(output.take(part, found, (0, None))));
        };
        let step = output.connections().div_ceil(STEPS);
        for step in (0..STEPS).map(|nth| nth * step..(nth + 1) * step) {
            let mut unfinished: Vec<(usize, usize, u32, Ends)> = Vec::new();
            for (place, part) in parts.iter().enumerate() {
                let all = part.table.unfinished();
                let all =
                    all.map(|(number, ends)| (output.index(place, number), place, number, ends));
                unfinished.extend(all.filter(|(index, ..)| step.contains(index)));
            }
            unfinished.sort_unstable_by_key(|(index, ..)| *index);
            for (index, place, number, ends) in unfinished {
                while let Some((_, part, placed)) = asides.next_if(|(it, ..)| *it < index) {
                    pass(output, part, placed);
                }
                let out = &mut |found| drop(output.take(place, found, (0, None)));
                let state = parts[place].table.take(&ends, &mut pass_on_to(out));
                if let Some(state) = state {
                    pass(output, place, (number, state));
                }
            }
        }
        for (_, part, placed) in asides {
            pass(output, part, placed);
        }
        for note in parts.iter().filter_map(|part| part.early.note()) {
            output.remarks.whole.push(note);
        }
    }
}
