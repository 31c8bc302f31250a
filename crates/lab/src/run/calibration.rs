//! A run's paths, verified before its trials: once for each path that differs.

use std::fs;
use std::sync::atomic::AtomicBool;

use tcplab_results::Calibration;
use tcplab_results::verification::{Machine, PathCheck, fastest_rate};
use tcplab_testbed::DeviceKind;
use tcplab_units::Span;

use crate::bench::Bench;
use crate::error::LabError;
use crate::plan::is_simulated;
use crate::store::RunDirectory;
use crate::verify;

/// How long a path is measured before a run.
pub(super) const LASTING: Span = Span::from_millis(1000);

/// The calibration of a run: what its directory has, if it was made on this machine since it was
/// started, with the same device and tuning, or else a new one. `on_step` is called for each step.
pub(crate) fn calibrate(
    run: &RunDirectory,
    bench: &Bench,
    stop: &AtomicBool,
    mut on_step: impl FnMut(usize, usize),
) -> Result<Calibration, LabError> {
    let distinct = distinct_paths(run)?;
    let (boot, device) = (boot_id(), device_name(bench));
    let is_same = |known: &Calibration| {
        let mut hashes = known.paths.iter().map(|path| &path.hash);
        known.boot == boot
            && known.tcplab == env!("CARGO_PKG_VERSION")
            && known.machine.device == device
            && known.machine.spin == bench.spin
            && hashes.by_ref().eq(distinct.iter().map(|path| &path.hash))
    };
    if let Some(known) = run.calibration().filter(is_same) {
        refuse_beyond(run, bench, &known.machine)?;
        return Ok(known);
    }
    let failed = |source| LabError::Calibration { source };
    let total = distinct.len() + 1;
    on_step(1, total);
    let machine = verify::measure_machine(bench, stop).map_err(failed)?;
    refuse_beyond(run, bench, &machine)?;
    let mut paths = Vec::new();
    for (index, Distinct { hash, cases }) in distinct.into_iter().enumerate() {
        on_step(index + 2, total);
        let case = &run.scenario().cases[cases[0]];
        let beyond = machine.can_model(&case.name, &case.path).is_err();
        let (rows, round_trip) = if beyond {
            // Measuring would only repeat what the ceiling says.
            (vec![machine.ceiling_row(fastest_rate(&case.path))], None)
        } else {
            let seed = run.plan().seed;
            let check = verify::measure_path(bench, &machine, &case.path, seed, LASTING, stop);
            check.map(|check| (check.rows, check.round_trip)).map_err(failed)?
        };
        let names = cases.iter().map(|index| run.scenario().cases[*index].name.clone());
        paths.push(PathCheck { hash, cases: names.collect(), rows, round_trip });
    }
    let timer = machine.timer_row();
    let calibration =
        Calibration { boot, tcplab: env!("CARGO_PKG_VERSION").into(), machine, timer, paths };
    run.set_calibration(&calibration)?;
    Ok(calibration)
}

/// A path that differs from the others, and the cases that have it, by their index.
struct Distinct {
    hash: String,
    cases: Vec<usize>,
}

fn distinct_paths(run: &RunDirectory) -> Result<Vec<Distinct>, LabError> {
    let mut distinct: Vec<Distinct> = Vec::new();
    for (index, case) in run.scenario().cases.iter().enumerate() {
        if is_simulated(run.plan().world, case) || case.path.same_host {
            continue;
        }
        let hash =
            verify::path_hash(&case.path).map_err(|source| LabError::Calibration { source })?;
        match distinct.iter_mut().find(|known| known.hash == hash) {
            Some(known) => known.cases.push(index),
            None => distinct.push(Distinct { hash, cases: vec![index] }),
        }
    }
    Ok(distinct)
}

fn refuse_beyond(run: &RunDirectory, bench: &Bench, machine: &Machine) -> Result<(), LabError> {
    if bench.allow_above_ceiling {
        return Ok(());
    }
    let world = run.plan().world;
    for case in run.scenario().cases.iter().filter(|case| !is_simulated(world, case)) {
        machine.can_model(&case.name, &case.path)?;
    }
    Ok(())
}

/// The kernel makes up another one at each start (random(4)).
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().into()
}

fn device_name(bench: &Bench) -> String {
    let kind = bench.device.unwrap_or_else(DeviceKind::best);
    let name = serde_json::to_value(kind).ok();
    name.and_then(|name| name.as_str().map(Into::into)).unwrap_or_default()
}
