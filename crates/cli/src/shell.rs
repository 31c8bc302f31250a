//! `tcplab shell`.

use std::cell::RefCell;
use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use tcplab_recording::Summary;
use tcplab_testbed::{
    CeilingRequest, DeviceKind, Moving, ShellEnd, ShellRequest, TrialError, measure_ceiling,
};

use crate::arguments::{PathChoice, ShellArguments, UseArguments};
use crate::exit::{ERROR, FAILED, of_signal};
use crate::expectations::{Judged, judge};
use crate::output::{has_seen_notes, print_note};
use crate::passing::PassingDirectory;
use crate::print_error::print_error;
use crate::remedied::Remedied;
use crate::run::{device, launcher};
use crate::traffic::{self, Codes, Display};
use crate::traffic_page::TrafficPage;
use crate::{path_choice, virtual_shell};

pub(crate) fn shell(arguments: &ShellArguments) -> Result<ExitCode> {
    traffic::check_places(&arguments.using)?;
    if arguments.time.is_virtual() {
        let print_failure = |failure: &str| print_failure(failure, &arguments.command);
        return virtual_shell::shell(arguments, print_failure, report);
    }
    refuse_mixed(&arguments.using)?;
    let depth = env::var("TCPLAB_SHELL").ok().and_then(|depth| depth.parse().ok());
    let near = || env::var("TCPLAB_NEAR").ok().and_then(|address| address.parse().ok());
    let command = if arguments.command.is_empty() {
        let of_user = env::var_os("SHELL").filter(|shell| !shell.is_empty());
        vec![of_user.unwrap_or_else(|| OsString::from("/bin/sh"))]
    } else {
        arguments.command.clone()
    };
    let mut request = ShellRequest {
        moving: moving(&arguments.choice, &arguments.using, arguments.io.map(device))?,
        description: path_choice::description(&arguments.choice),
        command,
        far: arguments.far_command.clone(),
        wait_for: arguments.wait_for,
        join: arguments.join || depth.is_some() && !arguments.no_join,
        around: depth.map(|depth| (depth, near())),
        device: arguments.io.map(device),
        mtu: arguments.mtu,
        congestion: arguments.congestion.clone(),
        time_limit: None,
    };
    if arguments.command.is_empty() && std::io::stdin().is_terminal() {
        print_note(&format!(
            "tcplab: shell behind the path {}; far end $TCPLAB_FAR; leave with `exit`",
            request.description
        ));
    }
    let passing = match &arguments.expect[..] {
        [] => None,
        _ => PassingDirectory::of(&mut request.moving)?,
    };
    let page = arguments.using.ui.map(|mode| {
        let ends = ["near", "far"].map(str::to_owned);
        TrafficPage::prepare(mode, &mut request.moving, &request.description, ends)
    });
    let page = page.transpose()?;
    let display = RefCell::new(Display::new(&arguments.using)?);
    let watch = |traffic: &_| display.borrow_mut().show(traffic);
    let end = |ended| {
        display.borrow().end();
        finish(arguments, request.moving.capture.as_deref(), ended)
    };
    let beside = || (page.map(TrafficPage::begin), passing);
    let code = tcplab_testbed::shell(&request, beside, watch, end)?;
    Ok(ExitCode::from(code))
}

/// Lines on the terminal of a program that prints there, too.
fn refuse_mixed(using: &UseArguments) -> Result<()> {
    if using.live.is_some() && has_seen_notes() {
        let said = "--live prints to this terminal, which belongs to the program";
        let remedy = "--live-log FILE, and `tail -f FILE` in another terminal";
        return Err(Remedied::error(said, remedy));
    }
    Ok(())
}

/// The chosen path and how it is used. Warns first if this machine cannot model it reliably.
pub(crate) fn moving(
    choice: &PathChoice,
    using: &UseArguments,
    device: Option<DeviceKind>,
) -> Result<Moving> {
    let path = path_choice::find(choice)?.path;
    let (launcher, tuning) = (launcher()?, using.tuning.tuning());
    let doubt = tcplab_lab::verify::doubt(&path, || {
        Ok(measure_ceiling(&launcher, CeilingRequest { device, tuning })?.rate)
    });
    if let Some(doubt) = &doubt {
        print_note(&format!("tcplab: warning: {doubt}"));
    }
    Ok(Moving {
        path,
        seed: using.seed,
        tuning,
        doubts: doubt.into_iter().collect(),
        capture: using.capture.clone(),
        snaplen: using.snaplen,
        is_passing: false,
        steered: None,
    })
}

/// Prints why the command could not be started.
fn print_failure(failure: &str, command: &[OsString]) {
    print_note(&format!("tcplab: {failure}"));
    if let [quoted] = command
        && let Some(quoted) = quoted.to_str().filter(|quoted| quoted.contains(' '))
    {
        print_note(&format!("  try: `-- {quoted}`, without quotes, or `-- sh -c '{quoted}'`"));
    }
}

/// Prints the summary; returns the exit code.
fn finish(
    arguments: &ShellArguments,
    recording: Option<&Path>,
    ended: Result<ShellEnd, TrialError>,
) -> u8 {
    let ended = match ended {
        Ok(ended) => ended,
        // Before its program began: of a program that runs, the code is its own.
        Err(TrialError::StoppedBy(signal)) => return of_signal(signal),
        Err(error) => {
            print_error(&error.into());
            return ERROR;
        }
    };
    if let Some(failure) = &ended.failure {
        print_failure(failure, &arguments.command);
    }
    let codes = Codes { command: Some(ended.code), far: ended.far_code };
    report(arguments, &ended.summary, recording, codes).unwrap_or_else(|error| {
        print_error(&error);
        ERROR
    })
}

/// Prints what passed the path and how that compares with what was expected. Returns the exit code.
pub(crate) fn report(
    arguments: &ShellArguments,
    summary: &Summary,
    recording: Option<&Path>,
    codes: Codes,
) -> Result<u8> {
    let judged = judge(&arguments.expect, summary, recording);
    traffic::finish(&arguments.using, ["near", "far"], summary, codes, &judged)?;
    let is_kept = judged.iter().all(Judged::is_kept);
    let code = codes.command.unwrap_or_default();
    Ok(if code == 0 && !is_kept { FAILED } else { code })
}
