//! The `[flow.NAME]` sections: several flows in one trial.

use tcplab_path::{Backend, PathSpec, PortDelay};
use tcplab_workload::{SocketRole, Traffic, WorkloadSpec};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::case::{Case, Flow, FlowSpec, PlannedConnection};
use crate::problem::Problem;

/// Most flows of a scenario.
const FLOWS_MAX: usize = 32;
/// Largest `count`.
const COUNT_MAX: u64 = 100;
/// Most connections of all flows together.
const CONNECTIONS_MAX: u64 = 2_000;
/// Longest name of a flow: it becomes part of file names.
const NAME_MAX: usize = 32;

/// The names of the flows in the order of the file.
pub(crate) fn written(file: &DeTable<'_>) -> Vec<String> {
    let Some(DeValue::Table(flows)) = file.get("flow").map(Spanned::get_ref) else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        flows.iter().map(|(name, _)| (name.span().start, name.get_ref().to_string())).collect();
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

/// Checks the flows; an error comes with its key.
pub(crate) fn check(case: &Case) -> Result<(), (String, Problem)> {
    if case.flows.is_empty() {
        return Ok(());
    }
    let refused = |key: String, why: &str| Err((key, Problem::Value(why.into())));
    if case.path.same_host {
        let why = "flows share a path, and `same_host` has none: leave one of them out";
        return refused("path.same_host".into(), why);
    }
    if case.flows.len() > FLOWS_MAX {
        return refused("flow".into(), "more than 32 flows: use `count` for equal ones");
    }
    if case.subject().is_none() {
        let why = "all flows are background: leave `background` out of one";
        return refused("flow".into(), why);
    }
    fits_flows("workload", &case.workload)?;
    for flow in &case.flows {
        check_flow(case, flow)?;
    }
    check_steps(case)?;
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

/// All flows together do no more steps than one connection may.
fn check_steps(case: &Case) -> Result<(), (String, Problem)> {
    let of = |flow: &Flow| match (&flow.spec.workload, &flow.spec.traffic) {
        (Some(workload), _) => workload.steps_done().saturating_mul(flow.spec.count),
        (None, None) => case.workload.steps_done().saturating_mul(flow.spec.count),
        (None, Some(_)) => 0,
    };
    let found = case.flows.iter().map(of).fold(0, u64::saturating_add);
    let most = WorkloadSpec::STEPS_MAX;
    if found > most {
        let why = format!("together an end does {found} steps in a trial: at most {most}");
        return Err(("flow".into(), Problem::Value(why)));
    }
    Ok(())
}

/// A path, with the way that some flows have to it.
pub(super) fn further(path: &PathSpec, flows: &[Flow]) -> PathSpec {
    let mut path = path.clone();
    let delays = flows.iter().enumerate().filter(|(_, flow)| !flow.spec.delay.is_zero());
    let delays = delays.map(|(index, flow)| PortDelay {
        port: PlannedConnection::server_port(index),
        delay: flow.spec.delay,
    });
    let delays: Vec<PortDelay> = delays.collect();
    if !delays.is_empty() {
        path.port_delay.get_or_insert_default().extend(delays);
    }
    path
}

/// Checks that the path can do what the flow's delay asks for.
fn check_delay(case: &Case, Flow { name, spec }: &Flow) -> Result<(), (String, Problem)> {
    if spec.delay.is_zero() {
        return Ok(());
    }
    let refused = |why: String| Err((format!("flow.{name}.delay"), Problem::Value(why)));
    if case.path.backend == Some(Backend::Netem) {
        return refused("netem delays all packets alike: leave `backend` out".into());
    }
    match case.links() {
        Ok(_) => Ok(()),
        Err(error) => refused(format!("{error} (flows have ports from 5001 on)")),
    }
}

fn check_flow(case: &Case, flow: &Flow) -> Result<(), (String, Problem)> {
    let Flow { name, spec } = flow;
    let key = |below: &str| format!("flow.{name}{below}");
    let refused = |below: &str, why: &str| Err((key(below), Problem::Value(why.into())));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
        let why = "invalid flow name: use 1 to 32 letters, digits, `-` and `_`";
        return refused("", why);
    }
    if spec.count > COUNT_MAX {
        return refused(".count", "too many equal flows: use 0 to 100");
    }
    if spec.count == 0 && case.subject() == Some(flow) {
        return refused(".count", "the metrics belong to this flow: use at least 1");
    }
    if spec.start >= case.limits.trial {
        return refused(
            ".start",
            "the flow starts after the end of the trial: start it earlier, or raise `limits.trial`",
        );
    }
    match (&spec.workload, &spec.traffic) {
        (Some(_), Some(_)) => {
            return refused(".traffic", "`workload` and `traffic` exclude each other: keep one");
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
                let why = "the trial would wait forever for this traffic: add `lasting = \"20 s\"` \
                           or `background = true`";
                return refused(".traffic", why);
            }
        }
        (None, None) => {}
    }
    match spec.lasting {
        Some(_) if spec.traffic.is_none() => {
            return refused(
                ".lasting",
                "`lasting` applies to `traffic` only: a workload ends by itself",
            );
        }
        Some(lasting) if lasting.is_zero() => {
            return refused(".lasting", "`lasting` must be above zero");
        }
        _ => {}
    }
    check_delay(case, flow)?;
    check_options(name, spec)
}

/// Checks the socket options of a flow.
fn check_options(name: &str, spec: &FlowSpec) -> Result<(), (String, Problem)> {
    let key = |below: &str| format!("flow.{name}.{below}");
    if !spec.client.accepted.is_empty() {
        let why = "a client accepts no connections: use `client.socket`";
        return Err((key("client.accepted"), Problem::Value(why.into())));
    }
    for (below, options, role) in [
        ("client.socket", &spec.client.socket, SocketRole::Client),
        ("server.socket", &spec.server.socket, SocketRole::Listener),
        ("server.accepted", &spec.server.accepted, SocketRole::Accepted),
    ] {
        options
            .check(role)
            .map_err(|error| (key(&format!("{below}.{}", error.key())), Problem::Socket(error)))?;
    }
    Ok(())
}

/// A flow is one TCP connection to a listening server.
fn fits_flows(key: &str, workload: &WorkloadSpec) -> Result<(), (String, Problem)> {
    let unfit = [
        ("datagrams", workload.datagrams.is_some()),
        ("load", workload.load.is_some()),
        ("connect", workload.connect.is_some()),
        ("connections", workload.connections.is_some()),
        ("through", !workload.through.has_packets()),
    ];
    match unfit.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((below, _)) => {
            let why = "a flow is one TCP connection to a listening server; use `count` for \
                       several";
            Err((format!("{key}.{below}"), Problem::Value(why.into())))
        }
    }
}

#[cfg(test)]
mod tests;
