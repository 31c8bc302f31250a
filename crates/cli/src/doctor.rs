//! `tcplab doctor`.

use std::process::ExitCode;

use anyhow::Result;
use tcplab_testbed::Verdict;

use crate::UNABLE;
use crate::arguments::DoctorArguments;
use crate::run::launcher;

#[expect(clippy::print_stdout, reason = "its answer")]
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<ExitCode> {
    let abilities = tcplab_testbed::examine(&launcher()?)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&abilities)?);
    } else {
        let width = abilities.iter().map(|ability| ability.name.len()).max().unwrap_or_default();
        for ability in &abilities {
            let mark = match ability.verdict {
                Verdict::Good => "✓",
                Verdict::Limited => "!",
                Verdict::Missing => "✗",
            };
            println!("{mark} {:width$}  {}", ability.name, ability.found);
            if let Some(remedy) = &ability.remedy {
                println!("  {:width$}  → {remedy}", "");
            }
        }
    }
    let able = abilities.iter().all(|ability| ability.verdict != Verdict::Missing);
    Ok(if able { ExitCode::SUCCESS } else { ExitCode::from(UNABLE) })
}
