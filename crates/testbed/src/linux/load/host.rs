//! The process of a server: it has a single thread, as some designs split it, and is in the
//! namespace of the thread that started it.

use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use tcplab_servers::{Config, Limits, ServeError, Server, Stop, Subject, Tally};
use tcplab_units::ServerDesign;
use tcplab_workload::ServerReport;

use crate::message::{read_task, say};
use crate::process::die_with;
use crate::{TrialError, process};

/// Once asked to stop: how long what was accepted has to be finished. The clients have gone by
/// then.
const DRAIN: Duration = Duration::from_secs(1);

/// What the process is to be.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) design: ServerDesign,
    pub(super) workers: Option<u64>,
    /// What it serves.
    pub(super) file: PathBuf,
    pub(super) address: SocketAddrV4,
    pub(super) backlog: Option<u32>,
}

/// Its messages, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    /// Clients can connect.
    Listening,
    /// Its design needs what this machine refuses.
    Impossible(String),
    /// It cannot go on.
    Failed { message: String, remedy: Option<String> },
    /// It was asked to stop, and has.
    Done(ServerReport),
}

/// The main of that process: reads its order, serves until SIGTERM, and reports the result. Must
/// be called while it has a single thread.
pub(crate) fn host(caller: Pid) -> Result<(), TrialError> {
    die_with(caller);
    let order: Order = read_task()?;
    let stop = Stop::new().map_err(TrialError::setup("prepare for being stopped"))?;
    let asker = stop.asker().map_err(TrialError::setup("prepare for being stopped"))?;
    process::on_term(asker).map_err(TrialError::setup("prepare for being stopped"))?;
    say(&serve(&config(&order), &stop).unwrap_or_else(|error| why_not(&error)));
    Ok(())
}

fn config(order: &Order) -> Config {
    let usual = Config::new(order.design, Subject::Http(order.file.clone()));
    Config {
        workers: order.workers.map_or(usual.workers, |workers| workers as usize),
        address: order.address.into(),
        backlog: order.backlog.unwrap_or(usual.backlog),
        limits: Limits { drain: DRAIN, ..usual.limits },
        ..usual
    }
}

fn serve(config: &Config, stop: &Stop) -> Result<Said, ServeError> {
    let server = Server::open(config)?;
    let before = process::processor_time();
    let mut is_serving = false;
    let observe = &mut |_: &Tally| {
        if !std::mem::replace(&mut is_serving, true) {
            say(&Said::Listening);
        }
    };
    let Tally { accepted, requests, sent, .. } = server.serve(stop, observe)?;
    let processor_s = process::processor_time().saturating_sub(before).as_secs_f64();
    Ok(Said::Done(ServerReport { accepted, requests, sent, processor_s }))
}

fn why_not(error: &ServeError) -> Said {
    let (message, remedy) = (error.to_string(), error.remedy());
    match error {
        ServeError::Design { .. } => {
            let remedy = remedy.map(|remedy| format!(" ({remedy})"));
            Said::Impossible(message + &remedy.unwrap_or_default())
        }
        _ => Said::Failed { message: format!("the server: {message}"), remedy },
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn refused_design_does_not_fail_the_trial() {
        let source = || io::Error::from_raw_os_error(libc::EPERM);
        let refused = ServeError::Design { design: ServerDesign::IoUring, source: source() };
        let Said::Impossible(why) = why_not(&refused) else {
            panic!("it is reported as impossible")
        };
        assert!(
            why.contains("`io-uring` cannot run here") && why.contains("disabled here"),
            "{why}"
        );
        let other = ServeError::System { what: "share memory", source: source() };
        assert!(matches!(why_not(&other), Said::Failed { .. }));
    }
}
