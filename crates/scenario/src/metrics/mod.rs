//! What a trial can be measured by: the one list that claims, tables and reports draw on.

mod ends;
mod info;
mod list;

use ends::OF_ENDS;
use list::LIST;

pub use info::{Better, CONNECTION_ENDS, MetricInfo, MetricKind, Scope, Source};

/// Every metric there is, in the order that tables show them.
pub const METRICS: &[MetricInfo] = &joined::<{ LIST.len() + OF_ENDS.len() }>();

/// Both lists, one behind the other.
const fn joined<const ALL: usize>() -> [MetricInfo; ALL] {
    let mut all = [LIST[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < LIST.len() { LIST[at] } else { OF_ENDS[at - LIST.len()] };
        at += 1;
    }
    all
}

/// The metric of this name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// Those that each trial has one number of, for the schema.
pub(crate) fn number_names() -> Vec<&'static str> {
    METRICS.iter().filter(|it| it.is_number_of_trial()).map(|it| it.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_tell_their_scope() {
        for (i, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..i].iter().all(|other| other.name != metric.name), "{}", metric.name);
            let of_requests =
                ["response.", "request."].iter().any(|it| metric.name.starts_with(it));
            assert_eq!(of_requests, metric.scope == Scope::Request, "{}", metric.name);
            for (prefix, scope) in [
                ("episode.", Scope::Episode),
                ("interruption.", Scope::Interruption),
                ("call.", Scope::Call),
            ] {
                let is_of_it = metric.name.starts_with(prefix);
                assert_eq!(is_of_it, metric.scope == scope, "{}", metric.name);
            }
            assert!(metric.kind == MetricKind::Number || metric.unit.is_empty(), "{}", metric.name);
        }
    }
}
