//! What was measured of each end, beside one another.

use tcplab_results::{EndRow, Trial};
use tcplab_units::rounded::with_unit;

use crate::title::title;

pub(crate) struct BothEnds {
    pub(crate) name: String,
    /// What it measures, in a sentence.
    pub(crate) meaning: &'static str,
    pub(crate) client: String,
    pub(crate) server: String,
}

/// The metrics of the endpoints in the catalogue's order, without those that are zero at both.
pub(crate) fn both_ends(trial: &Trial) -> Vec<BothEnds> {
    tcplab_scenario::METRICS
        .iter()
        .filter_map(|info| {
            let [client, server] = ["client", "server"].map(|side| {
                let ends = trial.ends.iter().filter(|end| end.end.name() == side);
                ends.flat_map(|end| values(end, info.name)).collect::<Vec<f64>>()
            });
            let is_something = client.iter().chain(&server).any(|value| value.abs() > 0.0);
            is_something.then(|| BothEnds {
                name: title(info.name),
                meaning: info.meaning,
                client: range_text(&client, info.unit),
                server: range_text(&server, info.unit),
            })
        })
        .collect()
}

fn values(end: &EndRow, name: &str) -> Vec<f64> {
    let own = end.metrics.iter().filter(|metric| metric.name == name);
    own.map(|metric| metric.value).collect()
}

/// One value, or the minimum and maximum of several.
fn range_text(values: &[f64], unit: &str) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let most = values.iter().copied().reduce(f64::max);
    match least.zip(most) {
        None => "–".into(),
        Some((least, most)) if (most - least).abs() <= 0.0 => with_unit(least, unit),
        Some((least, most)) => format!("{} to {}", with_unit(least, ""), with_unit(most, unit)),
    }
}
