//! A trial with several flows: connections of several kinds, which come at their times.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_recording::{AppLog, ConnectionLog, FlowLog, RecordingWriter};
use tcplab_scenario::{Case, FlowConnection};
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{Application, Corrupted, SocketRole, verify_flow};

use crate::host::Host;
use crate::packets::Address;
use crate::trial::{
    ADDRESSES, Measured, SimError, TrialRequest, host_of, machines, main_received, record,
    trial_record,
};
use crate::world::{Recorder, World};

/// Runs a trial with flows to its end.
pub(crate) fn run(
    request: &TrialRequest<'_>,
    writer: RecordingWriter,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let TrialRequest { case, seed, .. } = *request;
    let planned = case.connections(seed);
    let pairs = pairs(case, seed, &planned, |side, connection| {
        Application::new(side, &connection.workload, connection.seed(seed))
            .stopping(connection.stops)
    })?;
    let recorder = Recorder::new(writer, case.sampling.tcp_info);
    let sampled = sampled(case, &planned);
    let mut world = World::of_flows(pairs, sampled, &case.links()?, seed, Some(recorder));
    let limit = Instant::ZERO + case.limits.trial;
    world.run(limit, stop)?;
    let (mut pairs, now, writer) = world.end()?;
    // The trial is over for those in the background, and at its limit for all.
    let is_late = now >= limit;
    for host in pairs.iter_mut().flatten().filter(|host| is_late || host.is_background()) {
        host.run_out(now);
    }
    if stop.load(Ordering::Relaxed) {
        return Err(SimError::Stopped);
    }
    let app = app_log(case, &planned, &pairs);
    let subject = case.subject().map(|flow| (flow, case.flows.iter().position(|it| it == flow)));
    if let (Some(writer), Some(app), Some((flow, Some(index)))) = (writer, &app, subject)
        && let Some([client, server]) = first_of(index, &planned, &pairs)
    {
        let [client_spec, server_spec] = case.ends_of(flow);
        let client = record(&client_spec, client, SocketRole::Client);
        let server = record(&server_spec, server, SocketRole::Accepted);
        writer.finish(app, &trial_record(request, now, [client, server]))?;
    }
    for (host, endpoint) in pairs.iter().flatten().zip(Endpoint::BOTH.into_iter().cycle()) {
        if let Some(error) = host.error().filter(|_| host.has_failed()) {
            return Err(SimError::Connection { endpoint: endpoint.name(), error });
        }
    }
    let mut awaited = pairs.iter().flatten().filter(|host| !host.is_background());
    if is_late && (awaits_more(case, &planned, now) || !awaited.all(Host::is_done)) {
        let received = app.as_ref().map_or(0, |app| main_received(app).as_u64());
        return Err(SimError::Overdue { limit: case.limits.trial, received });
    }
    check(&planned, seed, app.iter().flat_map(|app| &app.flows))
}

/// The same without writing anything down; what is sent are zeros.
pub(crate) fn measure(case: &Case, seed: u64) -> Result<Measured, SimError> {
    let planned = case.connections(seed);
    let pairs = pairs(case, seed, &planned, |side, connection| {
        Application::of_zeros(side, &connection.workload).stopping(connection.stops)
    })?;
    let mut world = World::of_flows(pairs, Vec::new(), &case.links()?, seed, None);
    world.run(Instant::ZERO + case.limits.trial, &AtomicBool::new(false))?;
    let (events, packets) = (world.events, world.packets());
    let (pairs, now, _) = world.end()?;
    let app = app_log(case, &planned, &pairs);
    let received = app.map_or(0, |app| main_received(&app).as_u64());
    Ok(Measured { events, packets, duration: now.since(Instant::ZERO), received })
}

/// Client and server of each connection, in the order in which they begin.
fn pairs(
    case: &Case,
    seed: u64,
    planned: &[FlowConnection],
    application: impl Fn(Endpoint, &FlowConnection) -> Application,
) -> Result<VecDeque<(Instant, [Host; 2])>, SimError> {
    let specs: Vec<_> = case.flows.iter().map(|flow| case.ends_of(flow)).collect();
    let machines = machines(case)?;
    planned
        .iter()
        .map(|connection| {
            let own = connection.seed(seed);
            let is_background = case.flows[connection.flow].spec.background;
            let host = |endpoint: Endpoint| {
                let index = endpoint.index();
                let address = Address { ip: ADDRESSES[index], port: connection.ports[index] };
                let spec = &specs[connection.flow][index];
                let application = application(endpoint, connection);
                let host = host_of(spec, [own, own], endpoint, address, application)?;
                Ok::<Host, SimError>(host.on(&machines[index]).in_background(is_background))
            };
            let client = host(Endpoint::Client)?;
            let server = host(Endpoint::Server)?;
            Ok((connection.start, [client, server]))
        })
        .collect()
}

/// Of each flow the first connection is looked at; that of the subject has no name, for the samples
/// of the trial are its.
fn sampled(case: &Case, planned: &[FlowConnection]) -> Vec<(u16, Option<String>)> {
    let subject = case.subject().map(|flow| flow.name.as_str());
    let of = |(index, flow): (usize, &tcplab_scenario::Flow)| {
        let first = planned.iter().find(|connection| connection.flow == index)?;
        let name = Some(flow.name.clone()).filter(|name| Some(name.as_str()) != subject);
        Some((first.ports[0], name))
    };
    case.flows.iter().enumerate().filter_map(of).collect()
}

/// The connections that were planned and began.
fn began<'a>(
    planned: &'a [FlowConnection],
    pairs: &'a [[Host; 2]],
) -> impl Iterator<Item = (&'a FlowConnection, &'a [Host; 2])> {
    // Both are in the order of the client's ports.
    pairs.iter().filter_map(|pair| {
        let port = pair[0].address().port;
        let at = planned.binary_search_by_key(&port, |connection| connection.ports[0]).ok()?;
        Some((&planned[at], pair))
    })
}

fn first_of<'a>(
    flow: usize,
    planned: &'a [FlowConnection],
    pairs: &'a [[Host; 2]],
) -> Option<&'a [Host; 2]> {
    began(planned, pairs).find(|(connection, _)| connection.flow == flow).map(|(_, pair)| pair)
}

fn app_log(case: &Case, planned: &[FlowConnection], pairs: &[[Host; 2]]) -> Option<AppLog> {
    let mut connections: BTreeMap<usize, Vec<ConnectionLog>> = BTreeMap::new();
    for (planned, [client, server]) in began(planned, pairs) {
        let FlowConnection { ports, start, .. } = *planned;
        let (client, server) = (client.report(), server.report());
        let log = ConnectionLog { ports, start, client, server };
        connections.entry(planned.flow).or_default().push(log);
    }
    let logs = case.flows.iter().enumerate().map(|(index, flow)| FlowLog {
        name: flow.name.clone(),
        background: flow.spec.background,
        connections: connections.remove(&index).unwrap_or_default(),
    });
    AppLog::of_flows(logs.collect())
}

/// Whether any was to come after the end that is not in the background.
fn awaits_more(case: &Case, planned: &[FlowConnection], now: Instant) -> bool {
    planned.iter().any(|it| it.start >= now && !case.flows[it.flow].spec.background)
}

/// Whether what arrived is what was sent, connection by connection.
fn check<'a>(
    planned: &[FlowConnection],
    seed: u64,
    flows: impl Iterator<Item = &'a FlowLog>,
) -> Result<(), SimError> {
    for log in flows.flat_map(|flow| &flow.connections) {
        let planned = planned.iter().find(|it| it.ports == log.ports).expect("it was planned");
        let (own, ends) = (planned.seed(seed), [&log.client, &log.server]);
        verify_flow(&planned.workload, own, planned.stops.is_some(), ends).map_err(
            |Corrupted { sent, received }| SimError::Corrupted {
                sent: sent.as_u64(),
                received: received.as_u64(),
            },
        )?;
    }
    Ok(())
}
