//! `tcplab doctor`.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
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
    abilities.push(worlds(&abilities));
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
fn worlds(abilities: &[Ability]) -> Ability {
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
        remedy: (!kernel).then(|| {
            format!(
                "`tcplab run` uses the model {} instead of the kernel and reports it",
                tcplab_scenario::KERNEL_MODEL
            )
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
