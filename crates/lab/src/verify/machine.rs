//! What a calibration says of this machine.

use tcplab_results::verification::Machine;
use tcplab_testbed::{CalibrationRecord, Tuning};
use tcplab_units::Span;

/// What the process of a calibration measured with this `spin`.
///
/// # Panics
/// If it was not asked to measure the machine.
pub(super) fn machine_of(record: &CalibrationRecord, spin: Span) -> Machine {
    let machine = record.machine.as_ref().expect("the machine was asked for");
    let quantiles = |sorted: &[i64]| (at(sorted, 500), at(sorted, 990));
    Machine {
        device: record.device.clone(),
        privilege: record.privilege.clone(),
        scheduling: record.scheduling.clone(),
        lead: machine.lead,
        spin,
        error_without_lead: quantiles(&machine.errors),
        error: quantiles(&machine.errors_with_lead),
        ceiling_pps: machine.ceiling.pps,
        ceiling_rate: machine.ceiling.rate,
    }
}

/// How trials are to move frames on this machine.
pub(crate) fn tuning_of(machine: &Machine) -> Tuning {
    Tuning { lead: machine.lead, spin: machine.spin, ..Tuning::default() }
}

/// The value that so many of a thousand do not exceed; zero of none.
pub(super) fn at(sorted: &[i64], per_mille: usize) -> i64 {
    let index = sorted.len() * per_mille / 1000;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}
