//! `tcplab doctor`.

use std::process::ExitCode;

use anyhow::Result;
use tcplab_testbed::{Ability, Verdict};

use crate::UNABLE;
use crate::arguments::DoctorArguments;
use crate::output::answer;
use crate::run::launcher;

pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<ExitCode> {
    let mut abilities = tcplab_testbed::examine(&launcher()?)?;
    abilities.push(worlds(&abilities));
    let mut text = String::new();
    if arguments.json {
        text += &serde_json::to_string_pretty(&abilities)?;
        text += "\n";
    } else {
        let width = abilities.iter().map(|ability| ability.name.len()).max().unwrap_or_default();
        for ability in &abilities {
            let mark = match ability.verdict {
                Verdict::Good => "✓",
                Verdict::Limited => "!",
                Verdict::Missing => "✗",
            };
            text += &format!("{mark} {:width$}  {}\n", ability.name, ability.found);
            if let Some(remedy) = &ability.remedy {
                text += &format!("  {:width$}  → {remedy}\n", "");
            }
        }
    }
    answer(&text)?;
    let able = abilities.iter().all(|ability| ability.verdict != Verdict::Missing);
    Ok(if able { ExitCode::SUCCESS } else { ExitCode::from(UNABLE) })
}

/// In which worlds experiments can run: what the kernel's need is known by now, virtual time needs
/// nothing.
fn worlds(abilities: &[Ability]) -> Ability {
    let kernel = abilities.iter().all(|ability| ability.verdict != Verdict::Missing);
    let models: Vec<&str> = tcplab_scenario::Profile::names().collect();
    let models = format!("virtual time, with models of {}", models.join(", "));
    Ability {
        name: "worlds".into(),
        verdict: if kernel { Verdict::Good } else { Verdict::Limited },
        found: if kernel {
            format!("the kernel; {models}")
        } else {
            format!("no kernel; {models}")
        },
        remedy: (!kernel).then(|| {
            format!(
                "`tcplab run` lets the model {} stand for the kernel, and says so",
                tcplab_scenario::STANDS_FOR_THE_KERNEL
            )
        }),
    }
}
