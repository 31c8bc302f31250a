//! What one recording says.

use tcplab_path::{Direction, PathSpec};
use tcplab_recording::{AppLog, TrialRecord};
use tcplab_results::{OptionRow, Trial, remark};
use tcplab_trace::{Connection, Flow, Trace};
use tcplab_units::{Endpoint, Instant, Span};

use super::captures;
use super::contents::Contents;
use super::ends::{ending, ends};
use super::episodes::{drops, episode_rows};
use super::findings::findings_of;
use super::ideal::Ideal;
use super::interruptions::{costs, interruption_times};
use super::metrics::{Sources, named, of_applications};
use super::options::{refusal, remarkable};
use super::sender::{flow_of, sending_end};
use super::sizes::Sizes;
use super::{datagrams, flows, loads, pooled};
use crate::error::LabError;

/// The warning of each trial whose path tcplab did not make.
const NETEM_WARNING: &str = "netem made the path and logs no verdicts: losses are those that the \
                             capture shows";
/// What is added where that path is not quite the one asked for.
const NETEM_DIFFERS: &str = "; result.json (world.notes) says how the path differs from the one \
                             asked for";

/// What one recording says, except its number, seed and place.
/// `round_trip` is the measured RTT of its idle path, if there is one.
pub(crate) fn examine(
    contents: &Contents,
    case: &tcplab_scenario::Case,
    round_trip: Option<Span>,
) -> Result<Trial, LabError> {
    let through = case.workload.through;
    let Contents { recording, record, app, samples, flaws } = contents;
    let path = &case.path.with_events(&record.path_events);
    let flaws = flaws.clone();
    let sizes = Sizes::of(case, record.seed);
    if !through.has_packets() {
        let metrics = named(of_applications(app, sizes.subject)).collect();
        let medium = Some(through.name().into());
        return Ok(Trial { metrics, medium, flaws, ..Trial::empty(Vec::new()) });
    }
    let traces = captures::traces(recording, record, Some(app), app.load.is_some())?;
    if let Some(load) = &app.load {
        return loads::examine(contents, [&traces[0], &traces[1]], load);
    }
    let lost = recording.lost_packets()?;
    let sending_end = sending_end(app);
    let direction = Direction::from_sender(sending_end);
    let [client, server] = traces;
    let has_truth = record.has_truth();
    let ideal = |direction| ideal(path, direction, record, round_trip);
    let traces = [&client, &server];
    let (lost, sizes) = (&lost, &sizes);
    let known = flows::FlowSources { recording, app, path, lost, record, sizes, traces };
    let flows = known.examine(&ideal)?;
    let ends = ends(app, record, traces);
    let trace = match sending_end {
        Endpoint::Client => client,
        Endpoint::Server => server,
    };
    let ending = ending(&trace);
    let options = remarkable(record);
    let mut warnings = warnings(&trace, sending_end, app, &options);
    if !has_truth && !path.same_host {
        let differs = if record.world.notes.is_empty() { "" } else { NETEM_DIFFERS };
        warnings.push(format!("{NETEM_WARNING}{differs}"));
    }
    warnings.extend(contents.is_steered().then(|| steered(record)));
    if let Some(all) = captures::correspondence(recording, record, Some(app))? {
        let metrics = datagrams::metrics(app, &all).into();
        return Ok(Trial { metrics, ends, flaws, options, ..Trial::empty(warnings) });
    }
    let Some(connection) = trace.connections.first() else {
        warnings.push("the capture holds no connection".into());
        return Ok(Trial { ends, ending, flaws, options, ..Trial::empty(warnings) });
    };
    let flow = flow_of(connection, sending_end);
    let of_first = has_truth.then(|| drops(flow, lost, direction));
    let (episodes, outside) = episode_rows(connection, flow, of_first.as_deref());
    warnings.extend(outside);
    let findings = findings_of(connection);
    let (own, later) = measured(&trace, sending_end, case, record);
    let all = [&own[..], &later].concat();
    let lost = has_truth.then(|| all.iter().map(|flow| drops(flow, lost, direction).len()).sum());
    let together = (all.len() > 1).then(|| pooled::of_subflows(&own, &later));
    let measured = together.as_ref().unwrap_or(flow);
    let ports = [connection.client, connection.server].map(|end| end.port());
    let ideal = ideal(direction).map(|it| it.between_ports(path, ports));
    let size = sizes.subject;
    let metrics = Sources { app, size, flow: measured, samples, lost, ideal }.metrics();
    let interruptions = costs(flow, &interruption_times(path, record.seed, record.duration));
    let (metrics, flows) = (flows.metrics(metrics).into(), flows.rows);
    let connections = (own.len() > 1).then_some(own.len());
    let whole = Trial { metrics, episodes, findings, options, ..Trial::empty(warnings) };
    Ok(Trial { connections, interruptions, ends, ending, flaws, flows, ..whole })
}

/// What the metrics are of, in the direction of the payload: the first connection, or all of a
/// workload that has several, as its applications' reports are; and the subflows of these on the
/// second path, where no other flow has any.
fn measured<'t>(
    trace: &'t Trace,
    sending_end: Endpoint,
    case: &tcplab_scenario::Case,
    record: &TrialRecord,
) -> (Vec<&'t Flow>, Vec<&'t Flow>) {
    let most = if case.workload.connections.is_some() { usize::MAX } else { 1 };
    let is_later = |it: &&Connection| record.is_on_second_path(it.client.ip());
    let (later, own): (Vec<_>, Vec<_>) = trace.connections.iter().partition(is_later);
    let flow = |it: &'t Connection| flow_of(it, sending_end);
    let later = if case.flows.is_empty() { later } else { Vec::new() };
    (own.into_iter().take(most).map(flow).collect(), later.into_iter().map(flow).collect())
}

/// The warning of a trial that is not like the others of its case.
fn steered(record: &TrialRecord) -> String {
    let changes = match record.path_events.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    format!("the path was changed {changes} while the trial ran (result.json, path_events)")
}

/// What the path gives at best, with the round trip that was measured before the trials, if it was.
fn ideal(
    path: &PathSpec,
    direction: Direction,
    record: &TrialRecord,
    round_trip: Option<Span>,
) -> Option<Ideal> {
    let until = Instant::ZERO + record.duration;
    let of = |path: &PathSpec| Ideal::of(path, direction, until, record.seed);
    let mut ideal = of(path)?.beside(record.second_path.as_ref().and_then(of));
    ideal.base_rtt = round_trip.unwrap_or(ideal.base_rtt);
    Some(ideal)
}

/// What is less than perfect, by what the capture, the applications and the sockets say.
fn warnings(
    trace: &Trace,
    sending_end: Endpoint,
    app: &AppLog,
    options: &[OptionRow],
) -> Vec<String> {
    let notes = trace.notes.iter().map(|note| remark(sending_end, note));
    let limit = |(end, call): (&str, &str)| {
        format!("the {end} still waited in {call} when the trial's time was over")
    };
    let refusals = options.iter().filter_map(refusal);
    notes.chain(unfinished(app).map(limit)).chain(refusals).collect()
}

/// The calls that had not returned when the trial's time was over, and whose they were.
fn unfinished(app: &AppLog) -> impl Iterator<Item = (&'static str, &str)> {
    let ends = [("client", &app.client), ("server", &app.server)];
    ends.into_iter().flat_map(|(end, report)| {
        let calls = report.log.iter().filter(|row| row.result == tcplab_workload::WAITING);
        calls.map(move |row| (end, row.call.as_ref()))
    })
}
