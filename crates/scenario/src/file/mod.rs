//! The scenario file as serde reads it and the schema describes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tcplab_path::{Backend, Direction, ElementPlan, PathSpec};
use tcplab_units::visible_line;
use tcplab_workload::{Datagrams, Level, Medium, SocketOptions, SocketRole, WorkloadSpec};
use toml::Spanned;
use toml::de::DeTable;

use crate::case::{Case, EndpointSpec, Flow, FlowSpec, LimitsSpec, SamplingSpec, Stack};
use crate::compares::CompareSpec;
use crate::design::DesignSpec;
use crate::expect::ExpectSpec;
use crate::fault::{Fault, wrong_value};
use crate::located::Located;
use crate::matrix::Cell;
use crate::path_file::{self, Files};
use crate::plots::PlotSpec;
use crate::problem::Problem;
use crate::question::asked_metrics;
use crate::repeat::{RecordingSpec, RepeatSpec};

mod flows;
mod load;

/// The most interruptions of a direction in a trial: each takes some work and memory, and where
/// they come at random, each is drawn.
const INTERRUPTIONS_MAX: u64 = 1_000_000;

/// Characters of a question.
const QUESTION_MAX: usize = 200;

/// An experiment on TCP: two endpoints, the path between them, what the applications do, what
/// varies, and claims about the outcome.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab scenario")]
pub(crate) struct ScenarioFile {
    /// What the experiment tests, in a line.
    pub(crate) title: String,
    /// The document it comes from.
    pub(crate) reference: Option<String>,
    /// The question that it answers, in a line of at most 200 characters: "Which congestion
    /// control is fastest on a lossy link?" The report starts with it and its answer.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) question: Option<String>,
    /// The factor that the question is about: a key of `matrix`. Default: that of the first
    /// `[[compare]]`; without one the factor that explains most of the main metric's variance.
    pub(crate) question_factor: Option<Located<String>>,
    /// The metric that the question is about: one number for each trial, with a better direction;
    /// or `claims`, where the question asks for no number: then the answer is whether the claims
    /// hold. Default: that of the first `[[compare]]`, plot or claim.
    #[schemars(extend("enum" = asked_metrics()))]
    pub(crate) question_metric: Option<Located<String>>,
    /// The network path between client and server.
    path: PathSpec,
    /// A second path between them, with the keys of `[path]`: `client` and `server` have an address
    /// more on it, and a connection through `mptcp` opens a second subflow there. In virtual time
    /// only.
    second_path: Option<PathSpec>,
    /// The endpoint that opens the connection.
    #[serde(default)]
    client: EndpointSpec,
    /// The endpoint that accepts it.
    #[serde(default)]
    server: EndpointSpec,
    /// What the applications at both ends do.
    workload: WorkloadSpec,
    /// Several flows that share the path, with names of your choice: `[flow.first]`,
    /// `[flow.second]`. Metrics of a trial belong to the first flow in the file that is not
    /// background. Default: one connection, which runs `[workload]`.
    #[serde(default)]
    flow: BTreeMap<String, FlowSpec>,
    /// Their names in the order of the file.
    #[serde(skip)]
    flows_written: Vec<String>,
    /// What varies: keys of `path`, `second_path`, `client`, `server`, `workload`, `flow`,
    /// `sampling` and `limits`, in quotes with dots between their parts
    /// (`"client.socket.congestion"`), each with a list of levels. Every combination is a case,
    /// unless `[design]` chooses some. To change several keys together, name the factor, and give
    /// each level a name and the keys it sets: `variant = { old = { "client.stack" =
    /// "model:osx-10.7" }, new = { … } }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Levels>")]
    #[expect(dead_code, reason = "read earlier with its spans; here for the schema")]
    matrix: Option<serde::de::IgnoredAny>,
    /// Which combinations of the matrix are cases.
    #[serde(default)]
    #[schemars(with = "DesignSpec")]
    #[expect(dead_code, reason = "read earlier with its spans; here for the schema")]
    design: Option<serde::de::IgnoredAny>,
    /// How often each case runs.
    #[serde(default)]
    pub(crate) repeat: RepeatSpec,
    /// Which packets the run keeps.
    #[serde(default)]
    pub(crate) recording: RecordingSpec,
    /// What is sampled while a trial runs.
    #[serde(default)]
    sampling: SamplingSpec,
    /// Time limits.
    #[serde(default)]
    limits: LimitsSpec,
    /// Plots in the report: metrics over a factor.
    pub(crate) plot: Option<Vec<PlotSpec>>,
    /// Comparisons at the top of the report: which of two levels is better.
    #[serde(default)]
    pub(crate) compare: Vec<CompareSpec>,
    /// Claims about the outcome; each passes or fails.
    #[serde(default)]
    pub(crate) expect: Vec<ExpectSpec>,
}

/// The levels of a factor: a list of values, or names with the keys that each sets.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read with their spans; here for the schema")]
enum Levels {
    /// Values of a key.
    Values(Vec<serde_json::Value>),
    /// Names with the keys that each sets.
    Named(BTreeMap<String, BTreeMap<String, serde_json::Value>>),
}

impl ScenarioFile {
    /// Reads the file with the levels of one cell, and checks all but claims.
    pub(crate) fn read<'i>(
        mut file: Spanned<DeTable<'i>>,
        cell: &Cell<'_, 'i>,
        files: &mut Files<'_>,
    ) -> Result<ScenarioFile, Fault> {
        for setting in cell.iter().flat_map(|(_, level)| &level.settings) {
            setting.key.put(file.get_mut(), &setting.span, setting.value.clone()).map_err(
                |key| {
                    let problem = Problem::NotATable(key.to_string(), setting.key.to_string());
                    Fault::new(problem, setting.span.clone())
                },
            )?;
        }
        let mut read = ScenarioFile::deserialize(toml::de::Deserializer::from(file.clone()))
            .map_err(|error| Fault::reading(&error, &file))?;
        let at = |(key, problem): (String, Problem)| Fault::at(&key, problem, &file);
        read.path = path_file::complete(read.path, files)
            .map_err(|(key, problem)| at((format!("path.{key}"), problem)))?;
        if let Some(path) = read.second_path.take() {
            let complete = path_file::complete(path, files);
            read.second_path = Some(
                complete.map_err(|(key, problem)| at((format!("second_path.{key}"), problem)))?,
            );
        }
        read.check().map_err(at)?;
        read.flows_written = flows::written(file.get_ref());
        if !read.flow.is_empty() {
            flows::check(&read.case(cell)).map_err(at)?;
        }
        if read.sampling.each_ack {
            check_each_ack(&read.case(cell)).map_err(at)?;
        }
        Ok(read)
    }

    /// A question is one line, for people.
    fn check_question(&self) -> Result<(), (String, Problem)> {
        let Some(question) = &self.question else { return Ok(()) };
        let is_short = question.chars().take(QUESTION_MAX + 1).count() <= QUESTION_MAX;
        let is_line = !question.trim().is_empty() && visible_line(question) == *question;
        if is_short && is_line {
            return Ok(());
        }
        let why = format!("a question is one line of 1 to {QUESTION_MAX} visible characters");
        Err(("question".into(), Problem::Value(why)))
    }

    /// Finds values that are well-formed and impossible.
    fn check(&self) -> Result<(), (String, Problem)> {
        self.check_question()?;
        path_file::check(&self.path).map_err(|(key, problem)| (format!("path.{key}"), problem))?;
        self.check_second_path()?;
        if self.path.same_host {
            self.check_same_host()?;
        } else if !self.workload.through.has_packets() {
            let why = "only TCP works over a path: write `same_host = true` in \
                       `[path]`, and nothing else there";
            return Err(("workload.through".into(), Problem::Value(why.into())));
        }
        self.workload.check().map_err(|error| {
            let key = error.key().map_or("workload".into(), |key| format!("workload.{key}"));
            (key, Problem::Workload(error))
        })?;
        for (name, endpoint) in [("client", &self.client), ("server", &self.server)] {
            let (role, accepts) = match name {
                "client" => (SocketRole::Client, false),
                _ => (SocketRole::Listener, true),
            };
            let checked = |table: &str, options: &SocketOptions, role| {
                options.check(role).map_err(|error| {
                    (format!("{name}.{table}.{}", error.key()), Problem::Socket(error))
                })
            };
            checked("socket", &endpoint.socket, role)?;
            if !accepts && !endpoint.accepted.is_empty() {
                let problem = "a client accepts no connections: use `[client] socket`";
                return Err((format!("{name}.accepted"), Problem::Value(problem.into())));
            }
            checked("accepted", &endpoint.accepted, SocketRole::Accepted)?;
            endpoint.route.check().map_err(|(key, problem)| {
                (format!("{name}.route.{key}"), Problem::Value(problem))
            })?;
            if self.workload.datagrams.is_some() {
                fits_datagrams(name, endpoint)?;
            }
            if self.workload.load.is_some() {
                load::check_end(name, endpoint)?;
            }
            endpoint.check_model().map_err(|error| {
                let key = format!("{name}.model.{}", error.key);
                let table = key.rsplit_once('.').map(|(table, _)| table.to_owned());
                (key, wrong_value(&error.message, |_| table.clone()))
            })?;
        }
        if let Some(datagrams) = &self.workload.datagrams {
            self.carries(datagrams)?;
        }
        if self.sampling.tcp_info < SamplingSpec::SHORTEST {
            return Err(("sampling.tcp_info".into(), Problem::SampledTooOften));
        }
        if self.limits.trial.is_zero() {
            return Err(("limits.trial".into(), Problem::NoTime));
        }
        self.check_interruptions()?;
        let of =
            |section: &str, (key, problem): (&str, Problem)| (format!("{section}.{key}"), problem);
        self.repeat.check().map_err(|fault| of("repeat", fault))?;
        self.recording.check().map_err(|fault| of("recording", fault))
    }

    /// Whether a trial has not too many interruptions.
    fn check_interruptions(&self) -> Result<(), (String, Problem)> {
        let limit = self.limits.trial;
        let second = self.second_path.as_ref().map(|path| ("second_path", path));
        for (name, path) in [("path", &self.path)].into_iter().chain(second) {
            let links = Direction::BOTH.into_iter().filter_map(|it| path.link(it).ok());
            let found = links.map(|link| link.interruptions_in(limit)).max().unwrap_or(0);
            if found > INTERRUPTIONS_MAX {
                let why = format!(
                    "{found} interruptions in a trial of {limit}: at most {INTERRUPTIONS_MAX}; \
                     let them come less often, or lower `[limits] trial`"
                );
                return Err((format!("{name}.interruption"), Problem::Value(why)));
            }
        }
        Ok(())
    }

    /// Checks the second path, and whether anything takes it.
    fn check_second_path(&self) -> Result<(), (String, Problem)> {
        let Some(second) = &self.second_path else { return Ok(()) };
        let refused = |key: &str, why: &str| Err((key.into(), Problem::Value(why.into())));
        path_file::check(second)
            .map_err(|(key, problem)| (format!("second_path.{key}"), problem))?;
        if second.same_host || self.path.same_host {
            let why = "with `same_host` there is no path, and no second one: leave one of them out";
            let key = if second.same_host { "second_path.same_host" } else { "path.same_host" };
            return refused(key, why);
        }
        for (key, path) in [("path.backend", &self.path), ("second_path.backend", second)] {
            if path.backend == Some(Backend::Netem) {
                let why = "a second path needs tcplab's own paths: leave `backend` out";
                return refused(key, why);
            }
        }
        let of_flows = self.flow.values().filter_map(|flow| flow.workload.as_ref());
        let is_used = of_flows.chain([&self.workload]).any(|it| it.through == Medium::Mptcp);
        if !is_used {
            return Err(("second_path".into(), Problem::NoMultipath));
        }
        Ok(())
    }

    /// Checks settings that two endpoints in one network namespace cannot have.
    fn check_same_host(&self) -> Result<(), (String, Problem)> {
        let refused = |key: &str, why: &str| Err((key.into(), Problem::Value(why.into())));
        for (key, end) in [("client.stack", &self.client), ("server.stack", &self.server)] {
            if matches!(end.stack, Stack::Model(_)) {
                let why = "`same_host` needs a kernel: write `stack = \"linux\"`, or leave \
                           `same_host` out";
                return refused(key, why);
            }
        }
        if self.client.stack != self.server.stack {
            let why = "with `same_host` both endpoints have one kernel: write the same `stack` in \
                       `[client]` and `[server]`";
            return refused("server.stack", why);
        }
        let sockets = [
            ("client.socket", &self.client.socket),
            ("server.socket", &self.server.socket),
            ("server.accepted", &self.server.accepted),
        ];
        let asked = sockets.into_iter().find(|(_, options)| !options.is_empty());
        if let (Some((key, _)), false) = (asked, self.workload.through.has_packets()) {
            return refused(key, "only TCP sockets have these options: leave it out");
        }
        for (key, end) in [("client.route", &self.client), ("server.route", &self.server)] {
            if !end.route.is_empty() {
                let why = "with `same_host` there is no route to the other end: leave it out, or \
                           leave `same_host` out";
                return refused(key, why);
            }
        }
        if self.client.module != self.server.module {
            let why = "with `same_host` both endpoints have one kernel: write the same parameters \
                       in `[client]` and `[server]`";
            let is_at_server = self.client.module.is_empty();
            return refused(if is_at_server { "server.module" } else { "client.module" }, why);
        }
        if self.client.sysctl != self.server.sysctl {
            let why = "with `same_host` both endpoints share one namespace: write the same \
                       sysctls in `[client]` and `[server]`";
            let is_at_server = self.client.sysctl.is_empty();
            return refused(if is_at_server { "server.sysctl" } else { "client.sysctl" }, why);
        }
        Ok(())
    }

    /// Larger packets would become fragments, which tcplab does not follow.
    fn carries(&self, datagrams: &Datagrams) -> Result<(), (String, Problem)> {
        let largest = datagrams.largest_packet();
        let links = Direction::BOTH.into_iter().filter_map(|way| self.path.link(way).ok());
        let limits = links.flat_map(|link| link.elements).filter_map(|element| match element {
            ElementPlan::Mtu(plan) => Some(plan.size),
            _ => None,
        });
        match limits.min() {
            Some(limit) if limit < largest => {
                let problem = format!(
                    "the datagrams need packets of {largest} with headers, and the path's MTU is \
                     {limit}: use smaller datagrams or a larger MTU"
                );
                Err(("workload.datagrams".into(), Problem::Value(problem)))
            }
            _ => Ok(()),
        }
    }

    fn flows(&self) -> Vec<Flow> {
        let of =
            |name: &String| Some(Flow { name: name.clone(), spec: self.flow.get(name)?.clone() });
        self.flows_written.iter().filter_map(of).collect()
    }

    /// The case of a cell, still without a name.
    pub(crate) fn case(&self, cell: &Cell<'_, '_>) -> Case {
        let levels =
            cell.iter().map(|(factor, level)| (factor.key.to_string(), level.text.clone()));
        let flows = self.flows();
        let mut case = Case {
            name: String::new(),
            levels: levels.collect(),
            client: self.client.clone(),
            server: self.server.clone(),
            path: flows::further(&self.path, &flows),
            second_path: self.second_path.as_ref().map(|path| flows::further(path, &flows)),
            workload: self.workload.clone(),
            flows,
            sampling: self.sampling.clone(),
            limits: self.limits.clone(),
            hash: String::new(),
        };
        case.hash = case.compute_hash();
        case
    }
}

/// A datagram socket has no TCP options, and the workload sets its timeout.
fn fits_datagrams(name: &str, endpoint: &EndpointSpec) -> Result<(), (String, Problem)> {
    if !endpoint.accepted.is_empty() {
        let problem = "datagrams have no connections to accept: leave it out";
        return Err((format!("{name}.accepted"), Problem::Value(problem.into())));
    }
    if !endpoint.route.is_empty() {
        let problem = "datagrams have no connection that a route's attributes apply to: leave it \
                       out";
        return Err((format!("{name}.route"), Problem::Value(problem.into())));
    }
    for (key, info, _) in endpoint.socket.iter() {
        let problem = if !matches!(info.level, Level::Socket | Level::Ip) {
            format!("{} is a TCP option: datagram sockets do not have it", info.name)
        } else if matches!(key, "rcvtimeo" | "sndtimeo") {
            format!("{} does not apply: set `workload.datagrams.timeout`", info.name)
        } else {
            continue;
        };
        return Err((format!("{name}.socket.{key}"), Problem::Value(problem)));
    }
    Ok(())
}

/// Checks that the states of senders can be had.
fn check_each_ack(case: &Case) -> Result<(), (String, Problem)> {
    let why = if case.path.same_host {
        "with `same_host` there is no path that acknowledgements take: leave it out, and give \
         `tcp_info` an interval"
    } else if case.is_multipath() {
        "a connection of Multipath TCP has a sender on each path: leave it out, and give \
         `tcp_info` an interval"
    } else {
        return Ok(());
    };
    Err(("sampling.each_ack".into(), Problem::Value(why.into())))
}
