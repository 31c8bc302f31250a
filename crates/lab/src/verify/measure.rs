//! Measuring this machine and a path on it.

use std::sync::atomic::AtomicBool;

use tcplab_path::{Backend, Direction, LinkPlan, PathSpec};
use tcplab_results::verification::{CheckRow, Machine, PathCheck, fastest_rate};
use tcplab_testbed::{CalibrationRequest, TrialError, run_calibration};
use tcplab_units::Span;

use super::machine::{machine_of, tuning_of};
use super::{achieved, rounds};
use crate::bench::Bench;

/// Measures this machine.
///
/// # Errors
/// When experiments cannot be run here, or `stop` ended it.
pub fn measure_machine(bench: &Bench, stop: &AtomicBool) -> Result<Machine, TrialError> {
    let request = CalibrationRequest {
        device: bench.device,
        tuning: bench.tuning(),
        machine: true,
        path: PathSpec::default(),
        seed: 1,
        rounds: Vec::new(),
    };
    let record = run_calibration(&bench.launcher, &request, stop, |_| ())?;
    Ok(machine_of(&record, bench.spin))
}

/// Measures a path on this machine, for about as long as said.
///
/// # Errors
/// When it cannot be run, or `stop` ended it.
pub fn measure_path(
    bench: &Bench,
    machine: &Machine,
    path: &PathSpec,
    seed: u64,
    lasting: Span,
    stop: &AtomicBool,
) -> Result<PathCheck, TrialError> {
    let links = links(path)?;
    let plan = rounds::Plan::of(&links, lasting, seed);
    if let Some(why) = another(path).map(Into::into).or_else(|| plan.too_slow()) {
        let rows = vec![CheckRow::unknown("path", "as described".into(), why)];
        let (hash, cases) = (path_hash(path)?, Vec::new());
        return Ok(PathCheck { hash, cases, rows, round_trip: None });
    }
    let request = CalibrationRequest {
        device: bench.device,
        tuning: tuning_of(machine),
        machine: false,
        path: as_probed(path),
        seed,
        rounds: plan.rounds(),
    };
    let record = run_calibration(&bench.launcher, &request, stop, |_| ())?;
    let mut rows = vec![machine.ceiling_row(fastest_rate(path))];
    rows.extend(achieved::rows(&links, &plan, &record.rounds));
    let round_trip = achieved::round_trip(&plan, &record.rounds);
    Ok(PathCheck { hash: path_hash(path)?, cases: Vec::new(), rows, round_trip })
}

/// The path that probes take: that of no connection alone, whose ends may be further apart. The
/// base RTT of each connection is this path's and twice its own delay.
pub(super) fn as_probed(path: &PathSpec) -> PathSpec {
    PathSpec { port_delay: None, ..path.clone() }
}

/// How long measuring a path waits for packets that are on it, besides sending for as long as said.
///
/// # Errors
/// When the path is impossible.
pub(crate) fn waits(path: &PathSpec, seed: u64, lasting: Span) -> Result<Span, TrialError> {
    if another(path).is_some() {
        return Ok(Span::ZERO);
    }
    Ok(rounds::Plan::of(&links(path)?, lasting, seed).waits())
}

/// Why there is no path of tcplab's to be measured.
fn another(path: &PathSpec) -> Option<&'static str> {
    match path.backend {
        _ if path.same_host => Some("both ends are on the same host: there is no path"),
        Some(Backend::Netem) => {
            Some("netem makes this path; what is verified here is tcplab's own")
        }
        _ => None,
    }
}

/// What distinguishes paths: the same, if both directions do the same to packets, by the
/// same means.
pub(crate) fn path_hash(path: &PathSpec) -> Result<String, TrialError> {
    let (links, backend) = (links(path)?, path.backend.unwrap_or_default());
    let text = if path.same_host {
        serde_json::to_vec("same host")
    } else {
        serde_json::to_vec(&(links, backend))
    };
    let text = text.expect("plans are plain data");
    Ok(blake3::hash(&text).to_hex().to_string())
}

pub(super) fn links(path: &PathSpec) -> Result<[LinkPlan; 2], TrialError> {
    Ok([path.link(Direction::Forward)?, path.link(Direction::Reverse)?])
}
