//! Parameters of kernel modules under `/sys/module`: set, and read back for the record. They belong
//! to the whole machine, so this is for kernels in virtual time.

use std::collections::BTreeMap;
use std::fs;

use crate::TrialError;

/// Sets parameters of this machine's kernel.
pub(crate) fn apply(settings: &BTreeMap<String, String>) -> Result<(), TrialError> {
    for (name, value) in settings {
        let (module, parameter) = parts(name);
        let known = names_in(&parameters_of(module));
        if !known.iter().any(|known| known == parameter) {
            return Err(unknown(module, parameter, &known));
        }
        fs::write(file_of(name), value).map_err(|source| {
            TrialError::setup(format!("set the module parameter {name} to \"{value}\""))(source)
        })?;
    }
    Ok(())
}

/// Those of the names of `settings`, as they are now.
pub(crate) fn in_force(settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let value = |name: &String| Some(fs::read_to_string(file_of(name)).ok()?.trim().to_owned());
    settings.keys().filter_map(|name| Some((name.clone(), value(name)?))).collect()
}

fn unknown(module: &str, parameter: &str, known: &[String]) -> TrialError {
    let (message, remedy) = if known.is_empty() {
        let others = with_parameters().join(", ");
        (format!("this kernel has no module `{module}` with parameters"), others)
    } else {
        (format!("the module `{module}` has no parameter `{parameter}`"), known.join(", "))
    };
    TrialError::Reported { message, remedy: Some(format!("there are {remedy}")) }
}

/// The modules for TCP that have parameters.
fn with_parameters() -> Vec<String> {
    let mut names = names_in("/sys/module");
    names.retain(|name| {
        let is_known = name.starts_with("tcp_") || name.starts_with("sch_");
        is_known && !names_in(&parameters_of(name)).is_empty()
    });
    names
}

fn names_in(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Module and parameter.
fn parts(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((name, ""))
}

fn parameters_of(module: &str) -> String {
    format!("/sys/module/{module}/parameters")
}

fn file_of(name: &str) -> String {
    let (module, parameter) = parts(name);
    format!("{}/{parameter}", parameters_of(module))
}
