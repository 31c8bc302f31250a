//! The helper process of trials, calibrations and probes: reads its task and does it.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::process::Pid;
use tcplab_path::PathChange;

use crate::calibrate::{calibrate, measure};
use crate::error::remember_panics;
use crate::launch::Message;
use crate::message::{read_task, say};
use crate::namespace::{self, Privilege};
use crate::process::die_with;
use crate::trial_request::TrialRequest;
use crate::{TrialError, doctor, guest, load, sysctl, threads, trial};

/// The main of the trial's process. `arguments` are those after [`crate::Launcher::arguments`]:
/// the task and the caller's process id; the request comes on standard input, and after that of a
/// trial, changes of its path ([`PathChange`]); the answers go to standard output. All are JSON
/// Lines. Must be called before the process has a second thread.
pub fn serve(arguments: &[String]) -> ExitCode {
    remember_panics();
    let [task, caller] = arguments else {
        say(&failed(&usage()));
        return ExitCode::from(2);
    };
    let answer = match (task.as_str(), caller.parse().ok().and_then(Pid::from_raw)) {
        ("trial", Some(caller)) => {
            work_for(caller, |request: &TrialRequest, privilege, changes| {
                trial::run(request, privilege, changes)?;
                say(&Message::Done);
                Ok(())
            })
        }
        ("calibrate", Some(caller)) => {
            work_for(caller, |request, privilege, _| calibrate(request, privilege))
        }
        ("ceiling", Some(caller)) => {
            work_for(caller, |request, privilege, _| measure(request, privilege))
        }
        ("isolate", Some(caller)) => {
            die_with(caller);
            namespace::isolate().map(|_| say(&Message::Done))
        }
        ("server", Some(caller)) => load::host(caller),
        // The first process of a kernel in virtual time has no caller.
        ("guest", _) => guest::run(),
        ("probe", Some(caller)) => {
            doctor::probe(|| die_with(caller));
            Ok(())
        }
        _ => Err(usage()),
    };
    match answer {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&failed(&error));
            ExitCode::from(2)
        }
    }
}

fn usage() -> TrialError {
    TrialError::reported("this subcommand is for tcplab's own use", "use `tcplab run`")
}

fn failed(error: &TrialError) -> Message {
    let (message, remedy) = (error.to_string(), error.remedy());
    Message::Failed { message, remedy, reach: error.reach() }
}

/// Does the task that is asked for on standard input, in a namespace of its own.
fn work_for<R: serde::de::DeserializeOwned>(
    caller: Pid,
    work: impl FnOnce(&R, Privilege, Receiver<PathChange>) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    die_with(caller);
    let request: R = read_task()?;
    sysctl::look_around();
    let privilege = namespace::isolate()?;
    die_with(caller);
    // A second way to learn that the caller is gone, should it have been a thread that left.
    let (sender, changes) = mpsc::channel();
    threads::start("the thread that watches the caller", move || {
        hand_on(&sender);
        std::process::exit(2);
    })?;
    work(&request, privilege, changes)
}

/// Hands on the changes of the path that the caller sends, until the caller is gone.
fn hand_on(changes: &Sender<PathChange>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let why = match serde_json::from_slice(line.as_bytes()) {
            Ok(change) if changes.send(change).is_ok() => continue,
            Ok(_) => "the trial is over, or its path cannot be steered".into(),
            Err(error) => format!("no change of a path: {error}"),
        };
        say(&Message::Refused(why));
    }
}
