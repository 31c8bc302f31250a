//! Threads that analyse connections beside the one that reads.
//!
//! Each has some of the [parts](Part). The reading thread hands out packets in rounds and gets for
//! each round what was found in it, from each thread, in order of packets; results of all are
//! merged in that order, which is not that of frames where the capture has those out of order. It
//! takes the results of a round before it hands out the round that comes [`AHEAD`] later: so nobody
//! waits for a full queue, and what waits is bounded.

use std::collections::BTreeMap;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use tcplab_units::Span;

use super::found::Found;
use super::output::AnyOutput;
use super::part::{Part, Shares};
use crate::Connection;
use crate::connection::TooBig;
use crate::direction::ClockStep;
use crate::packet::Packet;

/// Rounds that threads have, at most.
const AHEAD: usize = 4;

#[derive(Debug)]
pub(super) struct Workers {
    shares: Shares,
    threads: Vec<Worker>,
    /// Rounds whose results are awaited.
    under_way: usize,
    /// So many packets were given.
    count: u64,
    /// Comments of packets whose results are awaited.
    comments: BTreeMap<u64, String>,
}

#[derive(Debug)]
struct Worker {
    orders: Sender<Round>,
    replies: Receiver<Round>,
    thread: JoinHandle<Vec<Part>>,
    /// What it gets next.
    next: Round,
    /// Used up, to be filled again.
    spare: Vec<Round>,
}

/// The packets of a round for one thread, then what was found in them.
#[derive(Debug, Default)]
struct Round {
    given: Vec<Given>,
    /// The last frame and the last packet, where the round is over.
    until: Option<(u64, u64)>,
    found: Vec<Tagged>,
    /// Connections that the sink has seen: memory is freed soonest by the thread that took it.
    spent: Vec<Box<Connection>>,
    /// The answer to [`Given::Step`].
    clock_error: Option<Span>,
}

#[derive(Debug)]
enum Given {
    /// With its place among all.
    Packet(u64, Packet),
    TooBig(u64, TooBig),
    /// How wrong is the capture clock after a step before this packet?
    Step(Packet, ClockStep),
}

/// In which packet and by which part something was found.
#[derive(Debug)]
struct Tagged {
    order: u64,
    frame: u64,
    part: u8,
    found: Found,
}

impl Workers {
    /// Starts so many threads; none if one cannot be started.
    pub(super) fn start(shares: Shares, jobs: usize) -> Option<Workers> {
        let start = |nth| {
            let (orders, received) = channel::<Round>();
            let (sent, replies) = channel();
            let parts = (nth..shares.parts).step_by(jobs);
            let work = move || {
                let mut parts: Vec<Part> = parts.map(|_| Part::new(shares)).collect();
                for mut round in received {
                    work_on(&mut round, &mut parts, (shares, jobs));
                    if sent.send(round).is_err() {
                        break;
                    }
                }
                parts
            };
            let thread = Builder::new().name(format!("analyser {nth}")).spawn(work).ok()?;
            let (next, spare) = (Round::default(), Vec::new());
            Some(Worker { orders, replies, thread, next, spare })
        };
        let threads = (0..jobs).map(start).collect::<Option<Vec<Worker>>>()?;
        Some(Workers { shares, threads, under_way: 0, count: 0, comments: BTreeMap::new() })
    }

    pub(super) fn packet(&mut self, packet: &Packet, comment: Option<&str>) {
        self.count += 1;
        if let Some(comment) = comment {
            self.comments.insert(self.count, comment.to_owned());
        }
        let part = self.shares.part_of(&packet.ends);
        self.give(part, Given::Packet(self.count, *packet));
    }

    pub(super) fn on_too_big(&mut self, report: &TooBig) {
        self.count += 1;
        self.give(self.shares.part_of(&report.ends), Given::TooBig(self.count, *report));
    }

    /// [`Parts::clock_error`](super::parts::Parts::clock_error): all wait for the answer,
    /// on which the times of all further packets depend.
    pub(super) fn clock_error(
        &mut self,
        packet: &Packet,
        step: ClockStep,
        output: &mut AnyOutput<'_>,
    ) -> Option<Span> {
        self.give(self.shares.part_of(&packet.ends), Given::Step(*packet, step));
        self.hand_out(None);
        let mut clock_error = None;
        while self.under_way > 0 {
            clock_error = self.take_in(output);
        }
        clock_error
    }

    pub(super) fn end_round(&mut self, frame: u64, output: &mut AnyOutput<'_>) {
        if self.under_way == AHEAD {
            self.take_in(output);
        }
        self.hand_out(Some((frame, self.count)));
    }

    /// Takes in all results, and the parts.
    pub(super) fn into_parts(mut self, output: &mut AnyOutput<'_>) -> Vec<Part> {
        self.hand_out(None);
        while self.under_way > 0 {
            self.take_in(output);
        }
        let mut by_worker: Vec<_> =
            self.threads.into_iter().map(|worker| worker.end().into_iter()).collect();
        let jobs = by_worker.len();
        (0..self.shares.parts).filter_map(|part| by_worker[part % jobs].next()).collect()
    }

    fn give(&mut self, part: usize, given: Given) {
        let jobs = self.threads.len();
        self.threads[part % jobs].next.given.push(given);
    }

    fn hand_out(&mut self, until: Option<(u64, u64)>) {
        for worker in &mut self.threads {
            let next = worker.spare.pop().unwrap_or_default();
            let round = std::mem::replace(&mut worker.next, next);
            // If it has ended, by a panic, its missing reply shows it.
            let _ = worker.orders.send(Round { until, ..round });
        }
        self.under_way += 1;
    }

    /// Takes in what was found in the oldest round.
    fn take_in(&mut self, output: &mut AnyOutput<'_>) -> Option<Span> {
        self.under_way -= 1;
        let mut rounds = Vec::new();
        for place in 0..self.threads.len() {
            let Ok(round) = self.threads[place].replies.recv() else {
                self.threads.swap_remove(place).end();
                unreachable!("a thread ends early only by a panic");
            };
            rounds.push(round);
        }
        let mut found: Vec<_> =
            rounds.iter_mut().map(|round| round.found.drain(..).peekable()).collect();
        let mut spent: Vec<Vec<Box<Connection>>> = found.iter().map(|_| Vec::new()).collect();
        // The results of one packet are of one part.
        let first = |found: &mut [std::iter::Peekable<std::vec::Drain<'_, Tagged>>]| {
            let packets = found.iter_mut().enumerate();
            let packets = packets.filter_map(|(at, it)| Some((it.peek()?.order, at)));
            packets.min().map(|(_, at)| at)
        };
        while let Some(at) = first(&mut found) {
            let Some(Tagged { order, frame, part, found }) = found[at].next() else { break };
            let comment = self.comments.get(&order).map(String::as_str);
            spent[at].extend(output.take(part.into(), found, (frame, comment)));
        }
        drop(found);
        for (round, spent) in rounds.iter_mut().zip(spent) {
            round.spent = spent;
        }
        if let Some((_, until)) = rounds.iter().find_map(|round| round.until) {
            self.comments = self.comments.split_off(&(until + 1));
        }
        let mut clock_error = None;
        for (worker, mut round) in self.threads.iter_mut().zip(rounds) {
            clock_error = clock_error.or(take(&mut round.clock_error));
            worker.spare.push(round);
        }
        clock_error
    }
}

impl Worker {
    /// Its parts; if it panicked, so does this thread.
    fn end(self) -> Vec<Part> {
        drop(self.orders);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Analyses packets; of all parts, this thread has each `jobs`th.
fn work_on(round: &mut Round, parts: &mut [Part], (shares, jobs): (Shares, usize)) {
    let Round { given, until, found, spent, clock_error } = round;
    spent.clear();
    for given in given.drain(..) {
        match given {
            Given::Packet(order, packet) => {
                let (part, frame) = (shares.part_of(&packet.ends), packet.frame);
                let out =
                    &mut |it| found.push(Tagged { order, frame, part: part as u8, found: it });
                parts[part / jobs].packet(&packet, out);
            }
            Given::TooBig(order, report) => {
                let (part, frame) = (shares.part_of(&report.ends), report.frame());
                let out =
                    &mut |it| found.push(Tagged { order, frame, part: part as u8, found: it });
                parts[part / jobs].on_too_big(&report, out);
            }
            Given::Step(packet, step) => {
                *clock_error =
                    parts[shares.part_of(&packet.ends) / jobs].clock_error(&packet, step);
            }
        }
    }
    if let Some((frame, _)) = *until {
        for part in parts {
            part.pass_until(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Output;
    use super::super::part::OPEN;
    use super::*;
    use crate::Collector;

    #[test]
    #[should_panic(expected = "no more")]
    fn panic_of_thread_is_passed_on() {
        let (orders, received) = channel();
        let (sent, replies) = channel();
        let thread = std::thread::spawn(move || {
            // Both are dropped by the panic.
            let (_sent, _received): (Sender<Round>, Receiver<Round>) = (sent, received);
            panic!("no more")
        });
        let (next, spare) = (Round::default(), Vec::new());
        let worker = Worker { orders, replies, thread, next, spare };
        let (shares, comments) = (Shares::new(OPEN, false), BTreeMap::new());
        let mut workers =
            Workers { shares, threads: vec![worker], under_way: 0, count: 0, comments };
        let mut output = Output::new(Collector::default());
        for frame in 0..20 {
            workers.end_round(frame, &mut output);
        }
    }
}
