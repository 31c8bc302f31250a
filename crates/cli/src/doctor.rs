//! `tcplab doctor`.

use std::process::ExitCode;

use anyhow::Result;
use tcplab_testbed::Verdict;

use crate::UNABLE;
use crate::arguments::DoctorArguments;
use crate::output::answer;
use crate::run::launcher;

pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<ExitCode> {
    let abilities = tcplab_testbed::examine(&launcher()?)?;
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
