//! A run that continues with another plan: more repetitions, other levels. Existing trials are
//! used again where they are those of the new plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tcplab_scenario::Scenario;

use super::arrangement::{Arrangement, EXTENSION, Extension, Target, UNUSED, apply};
use super::directory::RunDirectory;
use super::files::{TRIALS, read_scenario};
use crate::error::LabError;
use crate::json::to_json;
use crate::plan::{Plan, environment_of_run};

/// Makes the run in `path` one of the plan that `change` makes of its own and of its scenario.
///
/// # Errors
/// When it is no run, is being worked on, or a file cannot be written; what was begun is then
/// finished when the run is opened the next time.
pub fn extend<E: From<LabError>>(
    path: &Path,
    change: impl FnOnce(&Plan, Scenario) -> Result<(Plan, Scenario), E>,
) -> Result<(RunDirectory, Extension), E> {
    let run = RunDirectory::open(path)?;
    let written = read_scenario(path, &run.plan().name)?;
    let (plan, scenario) = change(run.plan(), written)?;
    let plan = Plan { name: run.plan().name.clone(), started: run.plan().started.clone(), ..plan };
    let environment = environment_of_run(&plan.kernels);
    let target = Target::of(plan, &scenario, environment);
    run.replace(EXTENSION, &to_json(&target))?;
    let extension = apply(path)?.unwrap_or_default();
    drop(run);
    Ok((RunDirectory::open(path)?, extension))
}

/// What extending would come to: plan, scenario, what is used again, and where that would be.
pub(crate) fn plan_extension<E: From<LabError>>(
    path: &Path,
    change: impl FnOnce(&Plan, Scenario) -> Result<(Plan, Scenario), E>,
) -> Result<(Plan, Scenario, Extension, BTreeSet<String>), E> {
    let run = RunDirectory::open(path)?;
    let (plan, scenario) = change(run.plan(), read_scenario(path, &run.plan().name)?)?;
    let scenario = plan.of(scenario);
    let arrangement = Arrangement::new(path, &plan, &scenario);
    let mut extension = Extension::default();
    let (mut unused, mut places) = (BTreeMap::new(), BTreeSet::new());
    for place in [TRIALS, UNUSED].map(|folder| arrangement.all(folder)) {
        for place in place? {
            match arrangement.places(&place) {
                Ok(wanted) => {
                    let names = wanted.iter().filter_map(|it| it.strip_prefix(path).ok());
                    places.extend(names.map(|it| it.to_string_lossy().into_owned()).take(1));
                }
                Err(why) => *unused.entry(why).or_insert(0) += 1,
            }
        }
    }
    extension.reused = places.len();
    extension.unused = unused.into_iter().collect();
    Ok((plan, scenario, extension, places))
}
