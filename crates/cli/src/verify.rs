//! `tcplab path verify`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use tcplab_lab::Bench;
use tcplab_lab::verify::{check_model, measure_machine, measure_path};
use tcplab_quantities::PATH_CHECK_DOCUMENT;
use tcplab_results::verification::{CheckRow, Machine, Outcome, PathCheck};

use crate::arguments::VerifyArguments;
use crate::exit::FAILED;
use crate::output::{answer_or_json, print_note};
use crate::path_choice;
use crate::run::{device, launcher};
use crate::signals::stop_on_signals;

/// Packets in virtual time.
const PACKETS: u64 = 1_000_000;

/// The answer as JSON.
#[derive(serde::Serialize)]
struct Answer<'a> {
    path: &'a str,
    machine: &'a Machine,
    real_time: &'a PathCheck,
    virtual_time: &'a [CheckRow],
}

pub(crate) fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let file = path_choice::find(&arguments.choice)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let io = arguments.io.map(device);
    let bench = Bench { device: io, ..Bench::new(launcher()?) };
    let machine = measure_machine(&bench, &stop)?;
    machine.can_model(&file.name, &file.path)?;
    print_note(&format!("measuring for {}", arguments.duration));
    let mut found =
        measure_path(&bench, &machine, &file.path, arguments.seed, arguments.duration, &stop)?;
    found.rows.insert(0, machine.timer_row());
    let model = check_model(&file.path, arguments.seed, PACKETS)?;
    let answer =
        Answer { path: &file.name, machine: &machine, real_time: &found, virtual_time: &model };
    answer_or_json(&PATH_CHECK_DOCUMENT, &arguments.json, &answer, || {
        let title = file.title.as_ref().unwrap_or(&file.name);
        format!(
            "{title}\n\nIn real time, through {} ({}, {}):\n{}\nIn virtual time, up to {PACKETS} packets:\n{}",
            machine.device,
            machine.privilege,
            machine.scheduling,
            tcplab_report::check_table(&found.rows),
            tcplab_report::check_table(&model),
        )
    })?;
    let is_off = found.rows.iter().chain(&model).any(|row| row.outcome == Outcome::Off);
    Ok(if is_off { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
