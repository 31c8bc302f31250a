//! The same path for the kernel: commands of tc(8) that let its queueing disciplines do, as nearly
//! as they can, what the elements of a path do.
//!
//! A [`TcPlan`] belongs on a box between client and server, with an interface on either side. In
//! each direction a packet first meets the shaper (tbf, and in it the queue) and then the line
//! (netem), the order of [`LinkPlan`](crate::LinkPlan). In Linux, a qdisc works where packets leave
//! an interface, and netem hands on to its child, not the other way round: `netem_dequeue` puts
//! what is due into the child (net/sched/sch_netem.c), so a shaper below netem would come behind
//! it. So where a direction has both, packets that come in on one side are led through an ifb
//! device, which has the shaper, and netem is where they leave on the other.
//!
//! tbf and netem treat what they are given at once as one packet. So what is led through them must
//! have been cut into segments before; a box's network cards must not put them together (GRO).
//!
//! What netem cannot do is refused, all of it at once and with its keys. Where it does nearly the
//! same, a [`Note`] says what is different.

mod line;
mod script;
mod shaper;

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

pub use script::{Interfaces, TcCommand, TcScript, quoted};

use crate::{Direction, ElementPlan, PathError, PathSpec};
use line::Line;
use shaper::Shaper;

/// A path as tc takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcPlan {
    /// From client to server.
    pub forward: TcLink,
    /// From server to client.
    pub reverse: TcLink,
}

/// One direction of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcLink {
    /// Rate and queue: the arguments of the root qdisc and of the one in it.
    pub shaper: Option<[TcQdisc; 2]>,
    /// What comes behind: the arguments of netem.
    pub line: Option<TcQdisc>,
    /// A distribution that tc must be given as a file.
    pub table: Option<TcTable>,
    /// What is different from the path that was asked for.
    pub notes: Vec<Note>,
    /// A packet that has not come after so long, while nothing else comes either, does not come.
    pub patience: Span,
}

/// A queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcQdisc {
    /// Its kind, as tc names it: `tbf`.
    pub kind: String,
    /// Its arguments, the kind included; before it those that hold for any kind.
    pub words: Vec<String>,
    /// What it stands for, a sentence each.
    pub stands_for: Vec<String>,
}

/// A distribution in netem's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcTable {
    /// The name that tc finds it by: that of the file without `.dist`.
    pub name: String,
    /// Its entries.
    pub values: Vec<i32>,
}

/// Something that the kernel does nearly the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The key that it is about, such as `forward.queue`.
    pub key: String,
    /// What is different.
    pub what: String,
}

impl PathSpec {
    /// The path as commands of tc.
    ///
    /// # Errors
    /// Everything that the kernel's queueing disciplines cannot do the same, with its keys; or why
    /// the path itself cannot be.
    pub fn tc(&self) -> Result<TcPlan, Vec<PathError>> {
        let mut refused = Vec::new();
        if self.same_host {
            let what = "on the same host there is no path that tc could be told of".into();
            refused.push(PathError { key: "same_host".into(), what });
        }
        let [forward, reverse] = Direction::BOTH.map(|direction| {
            let mut job = Job { path: self, direction, refused: Vec::new(), notes: Vec::new() };
            let link = job.link();
            // What stands in the path's own table is wrong in both directions, and told once.
            for error in job.refused {
                if !refused.contains(&error) {
                    refused.push(error);
                }
            }
            link
        });
        if refused.is_empty() { Ok(TcPlan { forward, reverse }) } else { Err(refused) }
    }
}

/// One direction, being compiled.
struct Job<'a> {
    path: &'a PathSpec,
    direction: Direction,
    refused: Vec<PathError>,
    notes: Vec<Note>,
}

impl Job<'_> {
    fn refuse(&mut self, key: &str, what: impl Into<String>) {
        let key = self.path.written(self.direction, key);
        self.refused.push(PathError { key, what: what.into() });
    }

    fn note(&mut self, key: &str, what: impl Into<String>) {
        let key = self.path.written(self.direction, key);
        self.notes.push(Note { key, what: what.into() });
    }

    fn link(&mut self) -> TcLink {
        if !self.path.stages_given(self.direction).is_empty() {
            let what = "tc can put one shaper and one netem into a row, not several stages: leave \
                them out, or put the path onto several boxes";
            self.refuse("stages", what);
        }
        let elements = match self.path.without_stages().link(self.direction) {
            Ok(plan) => plan.elements,
            Err(error) => {
                self.refused.push(error);
                Vec::new()
            }
        };
        let mut shaper = None;
        let mut line = Line::default();
        for element in &elements {
            match element {
                ElementPlan::Bottleneck(plan) => shaper = self.shaper(plan),
                ElementPlan::Loss(plan) => self.loss(plan, &mut line),
                ElementPlan::Mark(plan) => self.mark(plan, &mut line),
                ElementPlan::Corruption(plan) => self.corruption(plan, &mut line),
                ElementPlan::Duplication(plan) => self.duplication(plan, &mut line),
                ElementPlan::Reordering(plan) => self.reordering(plan, &mut line),
                ElementPlan::Delay(plan) => self.delay(plan, &mut line),
                ElementPlan::Mtu(_)
                | ElementPlan::Policer(_)
                | ElementPlan::CrossTraffic(_)
                | ElementPlan::Interruption(_)
                | ElementPlan::Blackhole(_)
                | ElementPlan::Drop(_) => self.impossible(element),
            }
        }
        self.finish(shaper, line)
    }

    /// What no qdisc has anything for.
    fn impossible(&mut self, element: &ElementPlan) {
        let (key, what) = match element {
            ElementPlan::Mtu(_) => {
                ("mtu", "no qdisc drops packets for their size, or answers them by ICMP")
            }
            ElementPlan::Policer(_) => (
                "police",
                "tc polices what comes in before it is cut into segments, in ticks of 64 ns: not \
                 the policer of this path",
            ),
            ElementPlan::CrossTraffic(_) => ("cross", "netem makes no packets of its own"),
            ElementPlan::Interruption(_) => {
                ("interruption", "netem knows no time: it cannot stop at one and go on at another")
            }
            ElementPlan::Blackhole(_) => {
                ("blackhole", "netem knows no time: it cannot stop at one")
            }
            _ => ("drop", "netem drops at random: it cannot pick packets"),
        };
        self.refuse(key, what);
    }

    fn finish(&mut self, shaper: Option<Shaper>, line: Line) -> TcLink {
        if let Some(key) = line.draws() {
            let what = "netem draws random numbers of its own: the seed of a trial does not replay \
                what it decides";
            self.note(key, what);
        }
        let longest = line.longest();
        let patience = Span::from_nanos(
            longest
                .as_nanos()
                .saturating_add(shaper.as_ref().map_or(0, |it| it.packet_time.as_nanos())),
        );
        let table = line.table.clone();
        let arrivals = shaper.as_ref().map(|shaper| (shaper.rate, shaper.burst));
        TcLink {
            line: line.qdisc(arrivals, longest),
            shaper: shaper.map(|shaper| shaper.qdiscs),
            table,
            notes: std::mem::take(&mut self.notes),
            patience,
        }
    }
}

impl TcPlan {
    /// Both directions, forward first.
    pub fn links(&self) -> [(Direction, &TcLink); 2] {
        [(Direction::Forward, &self.forward), (Direction::Reverse, &self.reverse)]
    }

    /// What is different from the path that was asked for; what is true of both directions is
    /// there once.
    pub fn notes(&self) -> Vec<&Note> {
        let mut notes: Vec<&Note> = Vec::new();
        for note in self.links().into_iter().flat_map(|(_, link)| &link.notes) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}

/// A time as tc reads it. In iproute2, times of netem are counted in ticks of 64 ns.
fn time(span: Span) -> String {
    let nanos = span.as_nanos();
    match (nanos % 1_000_000, nanos % 1_000) {
        (0, _) => format!("{}ms", nanos / 1_000_000),
        (_, 0) => format!("{}us", nanos / 1_000),
        (_, rest) => format!("{}.{rest:03}us", nanos / 1_000),
    }
}

/// Words, of which some are several in one text.
fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().flat_map(|text| text.split(' ')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
