//! Scenarios as Python sees them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, ensure};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tcplab_lab::{Overrides, VirtualKernels};
use tcplab_results::World;
use tcplab_scenario::{Ordered, catalogue};

use crate::interrupt::here;
use crate::run_options::world;

/// A scenario that was read and checked.
#[pyclass(module = "tcplab._core", frozen)]
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) scenario: tcplab_scenario::Scenario,
    /// Where files lie that it names.
    directory: Option<PathBuf>,
}

#[pymethods]
impl Scenario {
    #[staticmethod]
    fn load(given: &str) -> PyResult<Scenario> {
        here(|| {
            let scenario = tcplab_actions::find(given)?;
            let directory = Path::new(given).is_file().then(|| Path::new(given).parent());
            Ok(Scenario { scenario, directory: directory.flatten().map(Path::to_owned) })
        })
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, directory=None))]
    fn parse(text: &str, name: &str, directory: Option<PathBuf>) -> PyResult<Scenario> {
        here(|| {
            let is_plain = !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "..";
            ensure!(
                is_plain,
                "`{name}` cannot name a scenario: its runs have a folder of that name"
            );
            let file = directory.clone().unwrap_or_default().join(format!("{name}.toml"));
            let mut files = tcplab_actions::files_beside(&file);
            let scenario = tcplab_scenario::Scenario::parse_with_files(text, name, &mut files)?;
            Ok(Scenario { scenario, directory })
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }
    #[getter]
    fn reference(&self) -> Option<&str> {
        self.scenario.reference.as_deref()
    }
    #[getter]
    fn source(&self) -> &str {
        &self.scenario.source
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }
    #[getter]
    fn trials(&self) -> u32 {
        self.scenario.trials
    }
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.directory.clone()
    }

    /// Of each: its name, the levels of the factors in their order, its hash.
    fn cases<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>, String)>> {
        let of = |case: &tcplab_scenario::Case| {
            let levels = PyDict::new(py);
            case.levels.iter().try_for_each(|(factor, level)| levels.set_item(factor, level))?;
            Ok((case.name.clone(), levels, case.hash.clone()))
        };
        self.scenario.cases.iter().map(of).collect()
    }

    /// Where each case runs if nothing else is asked for than a kernel for `linux`.
    #[pyo3(signature = (kernel="newest"))]
    fn worlds(&self, kernel: &str) -> PyResult<Vec<(String, &'static str)>> {
        here(|| {
            let are_all_virtual = world("auto", &kernel.parse()?, &self.scenario)?.is_some();
            let world = |is_virtual| if is_virtual { "sim" } else { "kernel" };
            let of = |case: &tcplab_scenario::Case| {
                (case.name.clone(), world(are_all_virtual || case.is_virtual()))
            };
            Ok(self.scenario.cases.iter().map(of).collect())
        })
    }
}

/// Of these cases in virtual time: what stands for `linux`, as `--kernel` has it, and the hash of
/// each kernel's image by the stack that it is; that for `linux` is `newest`.
#[pyfunction]
pub(crate) fn kernels(
    scenario: &Scenario,
    cases: Vec<String>,
    kernel: &str,
) -> PyResult<(String, BTreeMap<String, String>)> {
    here(|| {
        let overrides = Overrides { cases, kernel: kernel.parse()?, ..Overrides::default() };
        let world = Some(World::Simulated);
        let plan = tcplab_lab::plan(&scenario.scenario, world, || None, overrides)?;
        let VirtualKernels { newest, named, .. } = plan.kernels;
        let chosen = newest.as_ref().map_or("model", |it| &it.name).to_owned();
        let named = named.into_iter().map(|it| (format!("linux-{}", it.name), it.image_hash));
        let newest = newest.map(|it| ("newest".to_owned(), it.image_hash));
        Ok((chosen, named.chain(newest).collect()))
    })
}

/// Name and title of each built-in experiment.
#[pyfunction]
pub(crate) fn scenarios() -> PyResult<Vec<(String, String)>> {
    here(|| {
        let read = |(name, source): &(&str, &str)| -> Result<(String, String), Error> {
            Ok(((*name).into(), tcplab_scenario::Scenario::parse(source, name)?.title))
        };
        catalogue().iter().map(read).collect()
    })
}

/// The text of a scenario file with these sections, given as JSON.
#[pyfunction]
pub(crate) fn compose(json: &str) -> PyResult<String> {
    here(|| {
        let value: Ordered = serde_json::from_slice(json.as_bytes())?;
        ensure!(
            matches!(value, Ordered::Table(_)),
            "a scenario is a table of sections, such as `path` and `workload`"
        );
        Ok(value.to_string())
    })
}

/// The sections of a scenario file as JSON.
#[pyfunction]
pub(crate) fn decompose(toml: &str) -> PyResult<String> {
    here(|| {
        let value = tcplab_scenario::decompose(toml).context("it is no TOML")?;
        Ok(serde_json::to_string(&value)?)
    })
}
