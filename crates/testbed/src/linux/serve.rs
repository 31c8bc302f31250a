//! The helper process of trials, calibrations and probes: reads its task and does it.

use std::io::{self, Read};
use std::process::ExitCode;

use rustix::process::Pid;

use crate::calibrate::{calibrate, measure};
use crate::error::remember_panics;
use crate::launch::Message;
use crate::message::{read_task, say};
use crate::namespace::{self, Privilege};
use crate::process::die_with;
use crate::trial_request::TrialRequest;
use crate::{TrialError, doctor, guest, load, sysctl, threads, trial};

/// The main of the trial's process. `arguments` are those after [`crate::Launcher::arguments`]:
/// the task and the caller's process id; the request comes on standard input, the answers go to
/// standard output as JSON Lines. Must be called before the process has a second thread.
pub fn serve(arguments: &[String]) -> ExitCode {
    remember_panics();
    let [task, caller] = arguments else {
        say(&failed(&usage()));
        return ExitCode::from(2);
    };
    let answer = match (task.as_str(), caller.parse().ok().and_then(Pid::from_raw)) {
        ("trial", Some(caller)) => work_for(caller, |request: &TrialRequest, privilege| {
            trial::run(request, privilege)?;
            say(&Message::Done);
            Ok(())
        }),
        ("calibrate", Some(caller)) => work_for(caller, calibrate),
        ("ceiling", Some(caller)) => work_for(caller, measure),
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
    work: impl FnOnce(&R, Privilege) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    die_with(caller);
    let request: R = read_task()?;
    sysctl::look_around();
    let privilege = namespace::isolate()?;
    die_with(caller);
    // A second way to learn that the caller is gone, should it have been a thread that left.
    threads::start("the thread that watches the caller", || {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(2);
    })?;
    work(&request, privilege)
}
