//! Random CE marks.

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Probability, Rng};

use crate::behaviour::ecn;
use crate::behaviour::{Behaviour, Outbox, Streams, Transit};

/// Random marks, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkPlan {
    /// For each packet that allows it; above zero.
    pub probability: Probability,
}

impl MarkPlan {
    pub(crate) fn describe(&self) -> String {
        let MarkPlan { probability } = self;
        format!("Random CE marks on ECT packets: {probability}.")
    }
}

/// Decides for each packet that comes.
#[derive(Debug)]
pub(crate) struct Mark {
    probability: Probability,
    rng: Rng,
}

impl Mark {
    pub(crate) fn new(plan: &MarkPlan, streams: Streams) -> Mark {
        Mark { probability: plan.probability, rng: streams.own() }
    }
}

impl Behaviour for Mark {
    fn accept(&mut self, _now: Instant, mut packet: Transit, out: &mut Outbox) {
        // A draw for every packet, so that the marked ones do not depend on which allow marks.
        if self.probability.happens(&mut self.rng) {
            ecn::mark(&mut packet);
        }
        out.pass(packet);
    }
}
