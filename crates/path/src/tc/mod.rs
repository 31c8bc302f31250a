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

mod job;
mod line;
mod plan;
mod script;
mod shaper;
mod words;

use tcplab_units::Span;

pub use plan::{Note, TcLink, TcPlan, TcQdisc, TcTable};
pub use script::{Interfaces, TcCommand, TcScript, quoted, quoted_path};

use crate::{Direction, ElementPlan, PathError, PathSpec};
use job::Job;
use line::Line;
use shaper::Shaper;

impl PathSpec {
    /// The path as commands of tc.
    ///
    /// # Errors
    /// Everything that the kernel's queueing disciplines cannot do the same, with its keys; or why
    /// the path itself cannot be.
    pub fn tc(&self) -> Result<TcPlan, Vec<PathError>> {
        let mut refused = Vec::new();
        if self.same_host {
            let what = "`same_host` has no path, so tc has nothing to do".into();
            refused.push(PathError { key: "same_host".into(), what });
        }
        if self.events.is_some() {
            let what = "tc has no schedule, so nothing changes by itself: remove the events, and run \
                        `tc qdisc change` at their times";
            refused.push(PathError { key: "events".into(), what: what.into() });
        }
        let [forward, reverse] = Direction::BOTH.map(|direction| {
            let mut job = Job { path: self, direction, refused: Vec::new(), notes: Vec::new() };
            let link = job.link();
            // A fault in the path's own table concerns both directions and is listed once.
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

impl Job<'_> {
    fn link(&mut self) -> TcLink {
        if !self.path.stages_given(self.direction).is_empty() {
            let what = "tc has one shaper and one netem per direction: remove the stages, or spread the \
                path over several boxes";
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
                ElementPlan::PortDelay(_)
                | ElementPlan::Mtu(_)
                | ElementPlan::Nat(_)
                | ElementPlan::Policer(_)
                | ElementPlan::CrossTraffic(_)
                | ElementPlan::Interruption(_)
                | ElementPlan::Blackhole(_)
                | ElementPlan::LossChanges(_)
                | ElementPlan::Drop(_)
                | ElementPlan::DropNext(_) => self.impossible(element),
            }
        }
        self.finish(shaper, line)
    }

    /// What no qdisc has anything for.
    fn impossible(&mut self, element: &ElementPlan) {
        let (key, what) = match element {
            ElementPlan::PortDelay(_) => ("port_delay", "netem delays all packets alike"),
            ElementPlan::Mtu(_) => ("mtu", "no qdisc drops packets by size or answers with ICMP"),
            ElementPlan::Nat(_) => ("nat", "no qdisc knows connections"),
            ElementPlan::Policer(_) => (
                "police",
                "tc polices packets before they are segmented, in ticks of 64 ns: not the policer of \
                 this path",
            ),
            ElementPlan::CrossTraffic(_) => ("cross", "netem makes no packets of its own"),
            ElementPlan::Interruption(_) => {
                ("interruption", "netem has no schedule: it cannot stop and resume at given times")
            }
            ElementPlan::Blackhole(_) => {
                ("blackhole", "netem has no schedule: it cannot stop at a given time")
            }
            _ => ("drop", "netem drops at random: it cannot select packets"),
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
        let patience = longest + shaper.as_ref().map_or(Span::ZERO, |it| it.packet_time);
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

#[cfg(test)]
mod tests;
