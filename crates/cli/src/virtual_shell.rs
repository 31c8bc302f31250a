//! `tcplab shell` in virtual time.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Error, Result};
use signal_hook::consts::{SIGINT, SIGPIPE};
use tcplab_lab::{KernelChoice, VirtualShell, kernel_image};
use tcplab_recording::{OutputStream, Summary};
use tcplab_testbed::Tuning;
use tcplab_units::Endpoint;

use crate::arguments::{ShellArguments, ShellWorld};
use crate::exit::of_signal;
use crate::output::{has_one_output, pass_on_error, pass_on_output};
use crate::path_choice;
use crate::remedied::Remedied;
use crate::run::launcher;
use crate::signals::{self, stop_on_signals};
use crate::traffic::Codes;

/// Runs the command; `print_failure` says why it could not be started, `report` how it went.
pub(crate) fn shell(
    arguments: &ShellArguments,
    print_failure: impl FnOnce(&str),
    report: impl FnOnce(&ShellArguments, &Summary, Option<&Path>, Codes) -> Result<u8>,
) -> Result<ExitCode> {
    refuse_real_time(arguments)?;
    let ShellArguments { choice, using, .. } = arguments;
    let path = path_choice::find(choice)?.path;
    let kernel = |choice: &Option<KernelChoice>| {
        kernel_image(choice.as_ref().unwrap_or(&KernelChoice::Newest))
    };
    let request = VirtualShell {
        path,
        description: path_choice::description(choice),
        seed: using.seed,
        kernels: [kernel(&arguments.time.near)?, kernel(&arguments.time.far)?],
        command: arguments.command.clone(),
        far: arguments.far_command.clone(),
        wait_for: arguments.wait_for,
        has_one_output: has_one_output(),
        mtu: arguments.mtu,
        congestion: arguments.congestion.clone(),
        capture: using.capture.clone(),
        snaplen: using.snaplen,
        launcher: launcher()?,
        longest_turn: None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let ended = match tcplab_lab::shell(&request, &stop, &mut print) {
        Ok(ended) => ended,
        Err(error) if error.is_stop() => {
            return Ok(signals::exit_code().unwrap_or_else(|| of_signal(SIGINT).into()));
        }
        // As of a program that writes to a pipe whose reader is gone.
        Err(error) if error.is_unread() => return Ok(of_signal(SIGPIPE).into()),
        Err(error) => return Err(error.into()),
    };
    if let Some(failure) = &ended.program.failure {
        print_failure(failure);
    }
    let recording = using.capture.as_deref();
    let codes = Codes { command: Some(ended.program.code), far: ended.far_code };
    report(arguments, &ended.summary, recording, codes).map(Into::into)
}

/// The far program's output goes to standard error, as in real time.
fn print(end: Endpoint, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
    match (end, stream) {
        (Endpoint::Client, OutputStream::Output) => pass_on_output(bytes),
        _ => pass_on_error(bytes),
    }
}

/// What there is in real time alone.
fn refuse_real_time(arguments: &ShellArguments) -> Result<()> {
    let ShellArguments { time, using, command, .. } = arguments;
    if let (Some(ShellWorld::Kernel), Some(flag)) = (time.world, time.flag()) {
        let said = format!("{flag} names a kernel in virtual time, --world kernel is real time");
        return Err(Remedied::error(said, format!("leave out {flag} or --world kernel")));
    }
    let has_spin = using.tuning.spin != Tuning::default().spin;
    let flags = [
        ("--join", arguments.join),
        ("--no-join", arguments.no_join),
        ("--io", arguments.io.is_some()),
        ("--spin", has_spin),
        ("--live", using.live.is_some()),
        ("--live-log", using.live_log.is_some()),
        ("--ui", using.ui.is_some()),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
        return Err(in_real_time(flag, "exists in real time only", &format!("leave out {flag}")));
    }
    if !arguments.expect.is_empty() && using.capture.is_none() {
        let said = "--expect needs a recording in virtual time";
        return Err(Remedied::error(said, "add --capture DIR"));
    }
    if command.is_empty() {
        let remedy = "name a program: `-- CMD`";
        return Err(in_real_time("an interactive shell", "needs real time", remedy));
    }
    Ok(())
}

fn in_real_time(what: &str, needs: &str, remedy: &str) -> Error {
    let said = format!("{what} {needs}");
    Remedied::error(said, format!("{remedy}, or leave out --world sim, --near and --far"))
}
