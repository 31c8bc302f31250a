//! `tcplab doctor`.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use tcplab_lab::LabError;
use tcplab_quantities::ABILITIES_DOCUMENT;
use tcplab_testbed::{Ability, AbilityLevel};

use crate::arguments::DoctorArguments;
use crate::converter::{Picture, convert};
use crate::exit::ERROR;
use crate::kernel;
use crate::output::{answer_or_json, hanging, listed, text_columns};
use crate::remedied::Remedied;
use crate::run::launcher;

pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<ExitCode> {
    let mut abilities = tcplab_testbed::examine(&launcher()?)?;
    abilities.push(worlds(&abilities, tcplab_lab::kernel_substitute));
    abilities.push(kernel::ability());
    abilities.push(pictures());
    answer_or_json(&ABILITIES_DOCUMENT, &arguments.json, &listed("abilities", &abilities), || {
        table(&abilities)
    })?;
    let able = abilities.iter().all(|ability| ability.verdict != AbilityLevel::Missing);
    Ok(if able { ExitCode::SUCCESS } else { ExitCode::from(ERROR) })
}

fn table(abilities: &[Ability]) -> String {
    let width = abilities.iter().map(|ability| ability.name.len()).max().unwrap_or_default();
    let (mut text, columns) = (String::new(), text_columns());
    for ability in abilities {
        let mark = match ability.verdict {
            AbilityLevel::Good => "✓",
            AbilityLevel::Limited => "!",
            AbilityLevel::Missing => "✗",
        };
        let name = format!("{mark} {:width$}  ", ability.name);
        text += &hanging(&name, &ability.found, columns);
        if let Some(remedy) = &ability.remedy {
            text += &hanging(&format!("  {:width$}  → ", ""), remedy, columns);
        }
    }
    text
}

/// The worlds that experiments can run in: the kernel needs all abilities, virtual time none.
/// `substitute` is what runs them where this kernel does not.
fn worlds(abilities: &[Ability], substitute: impl FnOnce() -> Result<String, LabError>) -> Ability {
    let kernel = abilities.iter().all(|ability| ability.verdict != AbilityLevel::Missing);
    let models: Vec<&str> = tcplab_scenario::Profile::names().collect();
    let models = format!("virtual time with the models {}", models.join(", "));
    Ability {
        name: "worlds".into(),
        verdict: if kernel { AbilityLevel::Good } else { AbilityLevel::Limited },
        found: if kernel {
            format!("the kernel; {models}")
        } else {
            format!("not the kernel; {models}")
        },
        remedy: (!kernel).then(|| match substitute() {
            Ok(instead) => {
                format!("`tcplab run` uses {instead} instead of the kernel and reports it")
            }
            Err(error) => error.to_string(),
        }),
    }
}

/// Whether figures can be written as PNG and PDF: a small one is.
fn pictures() -> Ability {
    const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>"#;
    const PATIENCE: Duration = Duration::from_secs(10);
    let tried = convert(SVG, Picture::Png, PATIENCE, &AtomicBool::new(false));
    let (verdict, found, remedy) = match tried {
        Ok(made) => (AbilityLevel::Good, format!("made by `{}`", made.program), None),
        Err(error) => {
            let remedy = error.downcast_ref().map(Remedied::remedy);
            (AbilityLevel::Limited, format!("{error:#}"), remedy)
        }
    };
    Ability { name: "figures as PNG, PDF".into(), verdict, found, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_replaces_the_kernel_is_what_a_run_uses() {
        let of = |verdict| Ability {
            name: "network namespaces".into(),
            verdict,
            found: String::new(),
            remedy: None,
        };
        let instead = || Ok("Linux 6.12.1 in virtual time".to_owned());
        let refused = worlds(&[of(AbilityLevel::Missing)], instead).remedy;
        let said =
            "`tcplab run` uses Linux 6.12.1 in virtual time instead of the kernel and reports it";
        assert_eq!(refused.as_deref(), Some(said));
        assert_eq!(worlds(&[of(AbilityLevel::Good)], instead).remedy, None);
    }
}
