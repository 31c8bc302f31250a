//! Names of metrics and factors for people.

use tcplab_scenario::metric;

/// The label of a metric: `transfer time`.
pub(crate) fn title(name: &str) -> String {
    metric(name).map_or(name, |info| info.label).into()
}

/// The last part of a key: `concurrency` of `workload.load.concurrency`; with the endpoint, where
/// both have it.
pub(crate) fn short(key: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    match key.split('.').next() {
        Some(end @ ("client" | "server")) if key.len() > last.len() => {
            format!("{end}’s {}", last.replace('_', " "))
        }
        _ => last.replace('_', " "),
    }
}

/// The name, or where that is taken, with the first free number from 2 on behind a `joint`.
pub(crate) fn free_name(name: &str, joint: char, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}{joint}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|it| !is_taken(it)).unwrap_or_default()
}
