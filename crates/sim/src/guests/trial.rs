//! One trial on kernels in virtual time, from its case to its recording.

use std::iter;

use tcplab_path::{LinkPlan, PathError};
use tcplab_recording::{AppLog, GuestOutcome, WorldRecord};
use tcplab_scenario::Case;
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{LoadReport, PayloadMismatch, verify};

use super::awaited::{self, Applications};
use super::error::GuestTrialError;
use super::guest::Guest;
use super::recorder::Recorder;
use super::world::{GuestWorld, Left};
use crate::packets::ADDRESSES;
use crate::trial::{TrialRequest, trial_record};

/// How much later than a packet leaves one end something may arrive there because of it.
///
/// # Errors
/// When the path cannot be built.
pub fn response_time(case: &Case) -> Result<Span, PathError> {
    Ok(response_of(&paths_of(case)?))
}

pub(super) fn response_of(paths: &[[LinkPlan; 2]]) -> Span {
    // A router answers what is too large at once.
    let may_refuse = paths.iter().flatten().any(LinkPlan::may_answer);
    // The answer may come on another path.
    let least = |way: usize| paths.iter().map(|links| links[way].least_delay()).min();
    let both = [0, 1].map(|way| least(way).unwrap_or(Span::ZERO));
    if may_refuse { Span::ZERO } else { both[0] + both[1] }
}

/// The links of the path, and those of the second one, if there is one.
pub(super) fn paths_of(case: &Case) -> Result<Vec<[LinkPlan; 2]>, PathError> {
    Ok(iter::once(case.links()?).chain(case.second_links()?).collect())
}

/// Runs one trial to its end, with the client and the server in `guests`, which are ready; `stop`
/// is asked now and then whether to end it.
///
/// # Errors
/// When it could not be run, was stopped, or did not pass. The directory may then hold a part of a
/// recording, without its `DONE`.
pub fn run_guests<G: Guest>(
    request: &TrialRequest<'_>,
    guests: [G; 2],
    kernels: [&str; 2],
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), GuestTrialError<G::Error>> {
    let TrialRequest { case, seed, .. } = *request;
    let descriptions = ADDRESSES.map(|address| address.to_string());
    let writer = request.writer(&descriptions)?;
    let plans = paths_of(case).map_err(GuestTrialError::Path)?;
    let applications = Applications::of(case, seed);
    let names = Endpoint::BOTH.map(Endpoint::name);
    let recorder = Recorder::new(Some(writer));
    let mut world = GuestWorld::new(guests, names, &plans, seed, applications, recorder);
    let finished = world.run(stop)?;
    let Left { awaited, at, recorder } = world.end()?;
    if !finished {
        return Err(GuestTrialError::Stopped);
    }
    let received = awaited.received;
    let [Some(client), Some(server)] = awaited.left else {
        let (limit, wanted) = (case.limits.trial, case.workload.amount());
        return Err(GuestTrialError::Overdue { limit, received, wanted });
    };
    let (app, verified) = results(case, seed, &client, &server);
    let world = WorldRecord {
        name: "virtual".into(),
        device: "ring".into(),
        device_drops: client.device_drops + server.device_drops,
        notes: vec![format!("hosts: {} and {}", kernels[0], kernels[1])],
        ..WorldRecord::default()
    };
    let record = trial_record(request, at, [client.record, server.record], world);
    if let (Some(app), Some(writer)) = (app, recorder.writer) {
        writer.finish(&app, &record)?;
    }
    Ok(case.accept(verified)?)
}

/// What the applications did, and whether what arrived is what was sent.
fn results(
    case: &Case,
    seed: u64,
    client: &GuestOutcome,
    server: &GuestOutcome,
) -> (Option<AppLog>, Result<(), PayloadMismatch>) {
    let connections = crate::connections::Connections::of(case, seed);
    if awaited::has_flows(case) {
        let flows = connections.logs_of([&client.connections, &server.connections]);
        let verified = connections.verify(&flows);
        return (AppLog::of_flows(flows), verified);
    }
    let verified = verify(&case.workload, seed, &client.report, &server.report);
    let load = client.load.clone();
    let load = load.map(|load| LoadReport { server: server.served.unwrap_or_default(), ..load });
    let app = AppLog { load, ..AppLog::of(client.report.clone(), server.report.clone()) };
    (Some(app), verified)
}
