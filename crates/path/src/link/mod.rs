//! One direction of a path at work.

mod change;
mod conveyor;
mod lone;
mod plan;

use tcplab_units::{Bytes, Instant};

pub use lone::LonePassage;
pub use plan::{ElementPlan, LinkPlan};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::{Departure, Direction, Fate, Packet, Verdict};
use conveyor::Conveyor;

/// One direction of a path: packets go in, and come out later, or not, each with a verdict.
///
/// It owns no clock. The world says what time it is, in three calls:
///
/// 1. [`handle_packet`](Link::handle_packet) when an endpoint has sent a packet;
/// 2. [`poll_at`](Link::poll_at) to learn when something will be due;
/// 3. [`poll`](Link::poll), then or later, until it gives `None`.
///
/// What becomes of each packet depends on the plan, the seed, and which packets came when. It
/// does not depend on when or how often the link is polled: a world that is late learns late
/// what happened at exactly the right time. At the same instant, what is due on the link
/// happens before what arrives: the packet whose last bit is sent makes room for the one that
/// comes.
///
/// Packets are moved, never copied, and every one is given back, dropped ones too; with buffers
/// reused by the world, a link in its stride allocates nothing.
#[derive(Debug)]
pub struct Link {
    direction: Direction,
    /// In place of elements, where the plan allows it.
    conveyor: Option<Conveyor>,
    elements: Vec<Box<dyn Behaviour>>,
    /// When each element does something of its own accord.
    due: Vec<Option<Instant>>,
    /// Whether all that the elements before the last do of their own accord is to hand packets on
    /// to it, a delay that keeps their order.
    ends_in_line: bool,
    outbox: Outbox,
    /// Scratch: the packets on their way into an element.
    entering: Vec<Transit>,
    /// When the last thing happened here.
    clock: Instant,
    /// Of a changeable link what it is made of now, and the seed.
    plan: Option<(LinkPlan, u64)>,
    /// No change is made at this instant or before, after the last one.
    changed_before: Instant,
}

impl Link {
    /// The idle link of `plan`. The same `seed` gives the same verdicts for the same packets.
    ///
    /// Each random element draws from a stream named by direction, kind, and its number among
    /// those of its kind (`forward/loss/1`), so other elements can come and go without shifting
    /// its draws.
    pub fn new(plan: &LinkPlan, seed: u64, direction: Direction) -> Link {
        match Conveyor::of(plan) {
            Some(conveyor) => Link {
                conveyor: Some(conveyor),
                ..Link::of_elements(&LinkPlan::default(), seed, direction)
            },
            None => Link::of_elements(plan, seed, direction),
        }
    }

    /// The same link, which can be [changed](Link::change) while it is at work. What it says of the
    /// future (such as [`settled`](Link::settled)) then holds until it is.
    pub fn changeable(plan: &LinkPlan, seed: u64, direction: Direction) -> Link {
        let plan_kept = Some((plan.clone(), seed));
        Link { plan: plan_kept, ..Link::of_elements(plan, seed, direction) }
    }

    fn of_elements(plan: &LinkPlan, seed: u64, direction: Direction) -> Link {
        let all = 0..plan.elements.len();
        let elements: Vec<Box<dyn Behaviour>> =
            all.map(|index| Link::element(plan, index, seed, direction)).collect();
        Link {
            direction,
            conveyor: None,
            due: elements.iter().map(|element| element.poll_at()).collect(),
            ends_in_line: ends_in_line(&plan.elements),
            elements,
            outbox: Outbox::new(direction),
            entering: Vec::new(),
            clock: Instant::ZERO,
            plan: None,
            changed_before: Instant::ZERO,
        }
    }

    /// An element of a plan at work.
    fn element(
        plan: &LinkPlan,
        index: usize,
        seed: u64,
        direction: Direction,
    ) -> Box<dyn Behaviour> {
        let element = &plan.elements[index];
        let kind = element.kind();
        let before = plan.elements[..index].iter().filter(|e| e.kind() == kind).count();
        element.at_work(Streams { seed, direction, kind, number: before + 1 })
    }

    /// Takes a packet that an endpoint sent at `now`.
    ///
    /// Instants should not go backwards: one before the last thing that happened on the link
    /// counts as that moment. An instant before a mere poll is as good as any.
    pub fn handle_packet(&mut self, now: Instant, packet: Packet) {
        while self.step(now) {}
        self.clock = self.clock.max(now);
        if let Some(conveyor) = &mut self.conveyor {
            conveyor.accept(self.clock, Transit::new(packet, self.clock), &mut self.outbox);
            return;
        }
        self.outbox.pass(Transit::new(packet, self.clock));
        self.carry_on(0);
    }

    /// What becomes of a packet that an endpoint sent at `now`, on a link
    /// [that is a gate](LinkPlan::is_gate): the verdict it would get by
    /// [`handle_packet`](Link::handle_packet), without handing it over.
    ///
    /// # Panics
    /// When the link is no gate.
    pub fn judge(&mut self, now: Instant, id: u64, size: Bytes) -> Verdict {
        self.clock = self.clock.max(now);
        let cause = self.elements.iter_mut().find_map(|element| element.judge(self.clock, size));
        Verdict {
            id,
            direction: self.direction,
            size,
            entered: self.clock,
            transmission: None,
            left: self.clock,
            fate: cause.map_or(Fate::Delivered, Fate::Dropped),
            origin: None,
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        }
    }

    /// When [`poll`](Link::poll) next has something to do, if nothing else arrives. It may turn
    /// out to be work inside the link that gives no departure.
    pub fn poll_at(&self) -> Option<Instant> {
        match self.outbox.departures.front() {
            Some(departure) => Some(departure.verdict.left),
            None => match &self.conveyor {
                Some(conveyor) => conveyor.poll_at(),
                None => self.next_due().map(|(_, due)| due),
            },
        }
    }

    /// When [`poll`](Link::poll) next gives a packet at the earliest, if nothing else arrives:
    /// never before [`poll_at`](Link::poll_at), and often after it, where all that is to be done
    /// before is work inside the link. A world without a clock can sleep until then: the link
    /// catches up.
    pub fn next_departure(&self) -> Option<Instant> {
        if self.ends_in_line
            && self.outbox.departures.is_empty()
            && let Some(Some(due)) = self.due.last()
        {
            return Some(*due);
        }
        self.poll_at()
    }

    /// The next packet that left the link at or before `now`, in order of time.
    pub fn poll(&mut self, now: Instant) -> Option<Departure> {
        while self.outbox.departures.is_empty() {
            if !self.step(now) {
                return None;
            }
        }
        let is_due = self.outbox.departures.front().is_some_and(|next| next.verdict.left <= now);
        if is_due { self.outbox.departures.pop_front() } else { None }
    }

    /// The packets that will leave at these times, in this order, whatever else comes: a world may
    /// tell their receiver ahead. Cross traffic, which nobody receives, is left out.
    pub fn settled(&self) -> impl Iterator<Item = (Instant, &Packet)> {
        let departures = self.outbox.departures.iter();
        let left = departures.filter(|Departure { verdict, .. }| {
            verdict.fate == Fate::Delivered && verdict.direction == self.direction
        });
        let left = left.map(|Departure { verdict, packet }| (verdict.left, packet));
        let conveyed = self.conveyor.iter().flat_map(Conveyor::settled);
        let delayed = self.elements.last().into_iter().flat_map(|element| element.settled());
        let held = conveyed.chain(delayed).filter(|(_, transit)| !transit.is_background());
        left.chain(held.map(|(at, transit)| (at, &transit.packet)))
    }

    /// When something next happens on the link to a packet that is not [settled](Self::settled), if
    /// nothing else arrives.
    pub fn unsettled_at(&self) -> Option<Instant> {
        let (last, others) = self.due.split_last()?;
        let others = others.iter().flatten().min().copied();
        let is_settled = self.elements.last().is_some_and(|it| it.settled().next().is_some());
        if is_settled { others } else { Instant::earlier(others, *last) }
    }

    /// The packets on the link, roughly oldest first; without cross traffic.
    pub fn in_flight(&self) -> impl Iterator<Item = &Packet> {
        let held = self.elements.iter().rev().flat_map(|element| element.held());
        let held = self.conveyor.iter().flat_map(Conveyor::held).chain(held);
        held.filter(|transit| !transit.is_background()).map(|transit| &transit.packet)
    }

    /// Ends the trial at `now`: gives all that left until then, and then all that is
    /// [still on the link](Fate::StillOnLink). The link is idle and empty afterwards.
    pub fn drain(&mut self, now: Instant) -> Vec<Departure> {
        while self.step(now) {}
        self.clock = self.clock.max(now);
        let mut left_over = Vec::new();
        if let Some(conveyor) = &mut self.conveyor {
            conveyor.release(&mut left_over);
        }
        for element in self.elements.iter_mut().rev() {
            element.release(&mut left_over);
        }
        self.due = self.elements.iter().map(|element| element.poll_at()).collect();
        let departures = self.outbox.departures.drain(..);
        let left_over = left_over
            .into_iter()
            .map(|transit| transit.depart(self.direction, self.clock, Fate::StillOnLink));
        departures.chain(left_over).collect()
    }

    /// Lets the next thing happen that is due by `until`; false when there is none.
    fn step(&mut self, until: Instant) -> bool {
        if let Some(conveyor) = &mut self.conveyor {
            let sent = conveyor.send(until);
            let due = conveyor.poll_at().filter(|due| *due <= until);
            self.clock = self.clock.max(due.max(sent).unwrap_or(self.clock));
            if due.is_some() {
                conveyor.leave(&mut self.outbox);
            }
            return due.is_some();
        }
        match self.next_due() {
            Some((index, due)) if due <= until => {
                self.clock = due;
                self.elements[index].advance(due, &mut self.outbox);
                self.due[index] = self.elements[index].poll_at();
                self.carry_on(index + 1);
                true
            }
            _ => false,
        }
    }

    /// The element that does something next, and when. At the same instant the one nearer to the
    /// exit comes first, so that what is due in an element happens before a packet reaches it.
    fn next_due(&self) -> Option<(usize, Instant)> {
        let mut next: Option<(usize, Instant)> = None;
        for (index, due) in self.due.iter().enumerate() {
            if let Some(due) = *due
                && next.is_none_or(|(_, earliest)| due <= earliest)
            {
                next = Some((index, due));
            }
        }
        next
    }

    /// Takes the packets in the outbox through the elements from `first` on, as far as they get.
    fn carry_on(&mut self, first: usize) {
        for index in first..self.elements.len() {
            let element = &mut self.elements[index];
            match self.outbox.passed.len() {
                0 => return,
                1 => {
                    if let Some(packet) = self.outbox.passed.pop() {
                        element.accept(self.clock, packet, &mut self.outbox);
                    }
                }
                _ => {
                    std::mem::swap(&mut self.entering, &mut self.outbox.passed);
                    for packet in self.entering.drain(..) {
                        element.accept(self.clock, packet, &mut self.outbox);
                    }
                }
            }
            self.due[index] = element.poll_at();
        }
        self.outbox.deliver(self.clock);
    }
}

/// See [`Link::ends_in_line`].
fn ends_in_line(elements: &[ElementPlan]) -> bool {
    let Some((ElementPlan::Delay(delay), before)) = elements.split_last() else { return false };
    // What acts without an arrival stands right before it, and never drops while it does.
    let (last, others) = match before {
        [others @ .., ElementPlan::Bottleneck(plan)] => (plan.only_sends(), others),
        others => (true, others),
    };
    last && !delay.reorders() && others.iter().all(ElementPlan::is_passive)
}

#[cfg(test)]
mod tests;
