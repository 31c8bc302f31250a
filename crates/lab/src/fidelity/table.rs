//! The comparison as a table for other programs.

use tcplab_results::fidelity::Fidelity;
use tcplab_stats::median;

use crate::store::row;

/// A row per case and quantity: both medians, their ratio, the kernel's own noise, and, for all of
/// a case, how many of the kernel's trials were flawed.
pub fn csv(fidelity: &Fidelity) -> String {
    let mut table = row([
        "scenario",
        "case",
        "quantity",
        "unit",
        "trials",
        "kernel_median",
        "model_median",
        "ratio",
        "noise",
        "flawed_trials",
    ]);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for case in &fidelity.cases {
        let flawed = case.flawed.to_string();
        for quantity in &case.quantities {
            table += &row([
                &case.scenario,
                &case.case,
                &quantity.name,
                &quantity.unit,
                &quantity.kernel.len().to_string(),
                &number(median(&quantity.kernel)),
                &number(median(&quantity.model)),
                &number(quantity.ratio),
                &number(quantity.noise),
                &flawed,
            ]);
        }
        let distance = number(case.cwnd_distance);
        let name = "cwnd_distance";
        table += &row([&case.scenario, &case.case, name, "", "", "", "", &distance, "", &flawed]);
    }
    table
}
