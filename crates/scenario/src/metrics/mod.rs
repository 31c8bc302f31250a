//! Metrics: the one list for claims, tables and reports.

mod info;
mod list;

pub use info::{Better, CONNECTION_ENDS, MetricInfo, MetricKind, Scope, Source};
pub use list::*;

/// The metric with this name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// Metrics with one number per trial, for the schema.
pub(crate) fn number_names() -> Vec<&'static str> {
    METRICS.iter().filter(|it| it.is_number_of_trial()).map(|it| it.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_show_their_scope() {
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
            assert!(!metric.label.is_empty() && !metric.meaning.ends_with('.'), "{}", metric.name);
        }
    }
}
