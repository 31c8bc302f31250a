//! The catalogue in virtual time: each scenario gives the same packets on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tcplab_scenario::{Case, Scenario, Stack, trial_seed};
use tcplab_sim::{TrialRequest, run_trial};
use tcplab_units::Bytes;

/// Cases of a file that are run: the first, the last, and others evenly between.
const CASES: usize = 8;
/// A transfer of this much meets all that a path does but the rarest.
const AMOUNT: Bytes = Bytes::new(400_000);

/// Every scenario below the catalogue's folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Both captures of a trial.
fn captures(case: &Case, seed: u64) -> [Vec<u8>; 2] {
    let place = tempfile::tempdir().unwrap();
    let request =
        TrialRequest { case, seed, directory: place.path(), snaplen: None, keeps_packets: true };
    let ran = run_trial(&request, &AtomicBool::new(false));
    ran.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    ["client.pcapng", "server.pcapng"].map(|name| fs::read(place.path().join(name)).unwrap())
}

#[test]
fn same_seed_gives_same_packets_in_every_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = files(&folder);
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let scenario = Scenario::parse(&fs::read_to_string(&file).unwrap(), &name).unwrap();
        let seed = trial_seed(scenario.seed, 1);
        // What is on the same host is for the kernel alone, and so are servers under load.
        // Kernels may have congestion controls that no model has.
        let names_kernel = |case: &Case| {
            [&case.client, &case.server].iter().any(|end| matches!(end.stack, Stack::Kernel(_)))
        };
        let is_simulated = |case: &&Case| {
            !case.path.same_host && case.workload.load.is_none() && !names_kernel(case)
        };
        let cases: Vec<&Case> = scenario.cases.iter().filter(is_simulated).collect();
        let Some(last) = cases.len().checked_sub(1) else { continue };
        let step = cases.len().div_ceil(CASES);
        for index in (0..last).step_by(step).chain([last]) {
            let mut case = cases[index].clone();
            let own = case.flows.iter_mut().filter_map(|flow| flow.spec.workload.as_mut());
            for workload in own.chain([&mut case.workload]) {
                for amount in [&mut workload.upload, &mut workload.download] {
                    *amount = amount.map(|whole| whole.min(AMOUNT));
                }
            }
            let [first, again] = [(); 2].map(|()| captures(&case, seed));
            assert!(first[0].len() > 300, "{name}, {}: nothing was captured", case.name);
            assert!(first == again, "{name}, {}: two trials of one seed differ", case.name);
        }
    }
}
