//! Names of metrics for people.

use tcplab_scenario::metric;

/// The label of a metric: `transfer time`.
pub(crate) fn title(name: &str) -> String {
    metric(name).map_or(name, |info| info.label).into()
}
