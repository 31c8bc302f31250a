//! The `[flow.NAME]` sections: several flows in one trial.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};
use tcplab_workload::{Connections, SocketOptions, SocketRole, Traffic, WorkloadSpec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Problem;
use crate::{Case, EndpointSpec};

/// The client's port of the first connection, where Linux begins to give them out, and the server's
/// of the first flow; those of the others follow. A trial has its own network, so all are free.
const PORTS: [u16; 2] = [32_768, 5_001];
/// So many flows there can be.
const FLOWS_MAX: usize = 32;
/// So many alike.
const COUNT_MAX: u64 = 100;
/// So many connections in all, by the most that each flow can have.
const CONNECTIONS_MAX: u64 = 2_000;
/// It is in names of files.
const NAME_MAX: usize = 32;

/// A flow by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The part behind `flow.`
    pub name: String,
    /// What it is.
    pub spec: FlowSpec,
}

/// One of several flows that share the path, each with a connection of its own. Where there are
/// flows, they are all there is: `[workload]` says what those do that do not say it themselves, and
/// `[client]` and `[server]` have the options that they do not set themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// When it begins, after the beginning of the trial. Default: 0 s.
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub start: Span,
    /// So many flows, all alike, begin together: 1 to 100, or 0 for none, where that is a level of
    /// what is varied. Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(max = 100))]
    pub count: u64,
    /// Whether it is only there for the others to meet: the trial does not wait for its end, its
    /// calls may fail, and it is no part of `fairness` and `convergence`. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What it does. Default: as `[workload]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSpec>,
    /// What it does by a rule, in place of a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Of traffic: for how long, from its start; nothing is begun after that. Default: until the
    /// trial ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting: Option<Span>,
    /// What is otherwise at its client.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub client: FlowEnd,
    /// What is otherwise at its server.
    #[serde(default, skip_serializing_if = "FlowEnd::is_empty")]
    pub server: FlowEnd,
}

impl Default for FlowSpec {
    fn default() -> FlowSpec {
        FlowSpec {
            start: Span::ZERO,
            count: one(),
            background: false,
            workload: None,
            traffic: None,
            lasting: None,
            client: FlowEnd::default(),
            server: FlowEnd::default(),
        }
    }
}

/// What one end of a flow has otherwise than the host that it is on. The stack and the settings
/// of the network namespace are of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowEnd {
    /// Options of its socket, the server's of the one it listens on; they go before those of the
    /// host.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub socket: SocketOptions,
    /// Options of the sockets that the server accepts.
    #[serde(default, skip_serializing_if = "SocketOptions::is_empty")]
    pub accepted: SocketOptions,
}

impl FlowEnd {
    fn is_empty(&self) -> bool {
        self.socket.is_empty() && self.accepted.is_empty()
    }

    fn on(&self, host: &EndpointSpec) -> EndpointSpec {
        EndpointSpec {
            socket: self.socket.or(&host.socket),
            accepted: self.accepted.or(&host.accepted),
            ..host.clone()
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_at_once(start: &Span) -> bool {
    start.is_zero()
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// One TCP connection of a trial, as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedConnection {
    /// Its flow: index into [`Case::all_flows`].
    pub flow: usize,
    /// Its ports, the client's and the server's. The first belongs to it alone, the second to its
    /// flow.
    pub ports: [u16; 2],
    /// When its client connects; `None`: as soon as another connection is over.
    pub start: Option<Instant>,
    /// When it stops to begin writes.
    pub stops: Option<Instant>,
    /// What it does.
    pub workload: WorkloadSpec,
    /// Seeds its sequence numbers, timestamps and IP identification.
    pub seed: u64,
    /// Seeds its payload and its congestion control. The connections of a `[workload]` share it.
    pub payload_seed: u64,
}

impl PlannedConnection {
    /// The server's port of the flow with this index.
    pub fn server_port(flow: usize) -> u16 {
        PORTS[1] + flow as u16
    }
}

impl Case {
    /// Every TCP flow of a trial: those of the file, or the one without a name that `[workload]`
    /// describes.
    pub fn all_flows(&self) -> Cow<'_, [Flow]> {
        if self.flows.is_empty() {
            Cow::Owned(vec![Flow { name: String::new(), spec: FlowSpec::default() }])
        } else {
            Cow::Borrowed(&self.flows)
        }
    }

    /// Whose the metrics of a trial are that belong to one flow: the first that is not in the
    /// background.
    pub fn subject(&self) -> Option<&Flow> {
        self.flows.iter().find(|flow| !flow.spec.background)
    }

    /// Client and server as a flow has them.
    pub fn ends_of(&self, flow: &Flow) -> [EndpointSpec; 2] {
        [flow.spec.client.on(&self.client), flow.spec.server.on(&self.server)]
    }

    /// Every connection of a trial with this seed, in the order in which they begin.
    pub fn connections(&self, seed: u64) -> Vec<PlannedConnection> {
        let in_turn = self.workload.connections.filter(|_| self.flows.is_empty());
        let mut all = match in_turn {
            Some(connections) => self.in_turn(connections, seed),
            None => self.of_flows(seed),
        };
        // The sort is stable: those that begin together keep the order of the file. Those that wait
        // for others come last.
        all.sort_by_key(|connection| (connection.start.is_none(), connection.start));
        for (nth, connection) in all.iter_mut().enumerate() {
            connection.ports[0] = PORTS[0] + nth as u16;
            connection.seed = seed.wrapping_add(nth as u64);
            if in_turn.is_none() {
                connection.payload_seed = connection.seed;
            }
        }
        all
    }

    /// The connections of `[workload]`: some at once, the others as places become free.
    fn in_turn(&self, connections: Connections, seed: u64) -> Vec<PlannedConnection> {
        let workload = WorkloadSpec { connections: None, ..self.workload.clone() };
        let planned = |nth| PlannedConnection {
            flow: 0,
            ports: [0, PlannedConnection::server_port(0)],
            start: (nth < connections.at_once).then_some(Instant::ZERO),
            stops: None,
            workload: workload.clone(),
            seed,
            payload_seed: seed,
        };
        (0..connections.total).map(planned).collect()
    }

    fn of_flows(&self, seed: u64) -> Vec<PlannedConnection> {
        let limit = self.limits.trial;
        let mut all = Vec::new();
        for (index, Flow { name, spec }) in self.all_flows().iter().enumerate() {
            let begin = Instant::ZERO + spec.start;
            let rest = Span::from_nanos(limit.as_nanos().saturating_sub(spec.start.as_nanos()));
            let until = spec.lasting.unwrap_or(rest).min(rest);
            for nth in 0..spec.count {
                let planned = match &spec.traffic {
                    None => {
                        let workload = spec.workload.as_ref().unwrap_or(&self.workload);
                        vec![(Span::ZERO, workload.clone())]
                    }
                    Some(traffic) => {
                        traffic.connections(seed, &format!("flow {name} {nth}"), until)
                    }
                };
                let stops = spec.lasting.filter(|_| spec.traffic.is_some());
                all.extend(planned.into_iter().map(|(after, mut workload)| {
                    if spec.background {
                        workload.may_fail = Some(true);
                    }
                    PlannedConnection {
                        flow: index,
                        ports: [0, PlannedConnection::server_port(index)],
                        start: Some(begin + after),
                        stops: stops.map(|span| begin + span),
                        workload,
                        seed,
                        payload_seed: seed,
                    }
                }));
            }
        }
        all
    }
}

/// The names of the flows in the order in which they are written.
pub(crate) fn written(file: &DeTable<'_>) -> Vec<String> {
    let Some(DeValue::Table(flows)) = file.get("flow").map(Spanned::get_ref) else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        flows.iter().map(|(name, _)| (name.span().start, name.get_ref().to_string())).collect();
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

/// What cannot be of flows, with its key.
pub(crate) fn check(case: &Case) -> Result<(), (String, Problem)> {
    if case.flows.is_empty() {
        return Ok(());
    }
    let refused = |key: String, why: &str| Err((key, Problem::Value(why.into())));
    if case.path.same_host {
        let why =
            "flows share a path, and with `same_host` there is none: leave one of the two out";
        return refused("path.same_host".into(), why);
    }
    if case.flows.len() > FLOWS_MAX {
        return refused("flow".into(), "more than 32 flows: flows that are alike are a `count`");
    }
    if case.subject().is_none() {
        let why = "all flows are in the background: there is none that the trial is about";
        return refused("flow".into(), why);
    }
    fits_flows("workload", &case.workload)?;
    for flow in &case.flows {
        check_flow(case, flow)?;
    }
    let most = |flow: &Flow| {
        let each = flow.spec.traffic.as_ref().map_or(1, Traffic::most_connections);
        flow.spec.count * each
    };
    if case.flows.iter().map(most).sum::<u64>() > CONNECTIONS_MAX {
        let why = "together the flows may have more than 2000 connections: write a smaller `most`";
        return refused("flow".into(), why);
    }
    Ok(())
}

fn check_flow(case: &Case, flow: &Flow) -> Result<(), (String, Problem)> {
    let Flow { name, spec } = flow;
    let key = |below: &str| format!("flow.{name}{below}");
    let refused = |below: &str, why: &str| Err((key(below), Problem::Value(why.into())));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
        let why = "a flow's name has 1 to 32 letters, digits, `-` and `_`: it is in names of files";
        return refused("", why);
    }
    if spec.count > COUNT_MAX {
        return refused(".count", "there can be 100 flows at most that are alike, or 0 for none");
    }
    if spec.count == 0 && case.subject() == Some(flow) {
        return refused(".count", "the trial is about this flow: there has to be one at least");
    }
    if spec.start >= case.limits.trial {
        return refused(".start", "the trial's time is over by then (`limits.trial`)");
    }
    match (&spec.workload, &spec.traffic) {
        (Some(_), Some(_)) => {
            return refused(".traffic", "`workload` and `traffic` exclude one another: keep one");
        }
        (Some(workload), None) => {
            workload.check().map_err(|error| {
                let below = error.key().map_or(String::new(), |key| format!(".{key}"));
                (key(&format!(".workload{below}")), Problem::Workload(error))
            })?;
            fits_flows(&key(".workload"), workload)?;
        }
        (None, Some(traffic)) => {
            traffic
                .check()
                .map_err(|(below, why)| (key(&format!(".traffic.{below}")), Problem::Value(why)))?;
            if traffic.is_endless() && !spec.background && spec.lasting.is_none() {
                let why = "it never ends, and the trial waits for it: write `lasting = \"20 s\"` \
                           beside it, or `background = true`";
                return refused(".traffic", why);
            }
        }
        (None, None) => {}
    }
    match spec.lasting {
        Some(_) if spec.traffic.is_none() => {
            return refused(".lasting", "a workload ends by itself: it is of `traffic` only");
        }
        Some(lasting) if lasting.is_zero() => {
            return refused(".lasting", "in no time nothing begins");
        }
        _ => {}
    }
    if !spec.client.accepted.is_empty() {
        let why = "a client accepts nothing: its options are `client.socket`";
        return refused(".client.accepted", why);
    }
    for (below, options, role) in [
        ("client.socket", &spec.client.socket, SocketRole::Client),
        ("server.socket", &spec.server.socket, SocketRole::Listener),
        ("server.accepted", &spec.server.accepted, SocketRole::Accepted),
    ] {
        options
            .check(role)
            .map_err(|error| (key(&format!(".{below}.{}", error.key())), Problem::Socket(error)))?;
    }
    Ok(())
}

/// A flow is one connection of TCP, to a server that is there.
fn fits_flows(key: &str, workload: &WorkloadSpec) -> Result<(), (String, Problem)> {
    let unfit = [
        ("datagrams", workload.datagrams.is_some()),
        ("load", workload.load.is_some()),
        ("connect", workload.connect.is_some()),
        ("connections", workload.connections.is_some()),
        ("through", !workload.through.is_tcp()),
    ];
    match unfit.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((below, _)) => {
            let why = "a flow is one TCP connection to a server that is there; several alike are a \
                       `count`";
            Err((format!("{key}.{below}"), Problem::Value(why.into())))
        }
    }
}

#[cfg(test)]
mod tests;
