//! The elements of a link that no probe measures: they are named, so that nothing counts as
//! verified that was not.

use tcplab_path::{ElementPlan, LinkPlan};
use tcplab_results::verification::CheckRow;

/// A row for each kind of element that the rows of a calibration say nothing of, in the order of
/// the link.
pub(super) fn rows(link: &LinkPlan) -> Vec<CheckRow> {
    let mut rows: Vec<CheckRow> = Vec::new();
    for element in &link.elements {
        let (quantity, why) = match element {
            ElementPlan::Bottleneck(_) => ("queue", "no probe fills it"),
            ElementPlan::Mtu(_) => ("mtu", "no probe is larger"),
            ElementPlan::PortDelay(_) => ("port_delay", "probes take the path without it"),
            ElementPlan::Nat(_) => ("NAT", "probes are not TCP"),
            ElementPlan::Policer(_) => ("policer", "probes come no faster than it allows"),
            ElementPlan::CrossTraffic(_) => ("cross traffic", "only probes are recorded"),
            ElementPlan::Drop(_) => ("drop rules", "probes are not what the rules drop"),
            ElementPlan::DropNext(_) => ("events", "probes are not the segments that events drop"),
            // What the other rows measure, or say why they do not.
            ElementPlan::Interruption(_)
            | ElementPlan::Blackhole(_)
            | ElementPlan::Loss(_)
            | ElementPlan::LossChanges(_)
            | ElementPlan::Mark(_)
            | ElementPlan::Corruption(_)
            | ElementPlan::Duplication(_)
            | ElementPlan::Reordering(_)
            | ElementPlan::Delay(_) => continue,
        };
        if rows.iter().all(|row| row.quantity != quantity) {
            rows.push(CheckRow::unknown(quantity, "as described".into(), why));
        }
    }
    rows
}
