//! The documents that tcplab writes for programs.

use serde::Serialize;

/// A kind of JSON document. Each begins with `schema` and `version`; within a version, fields are
/// only added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// Its name: the value of `schema`.
    pub schema: &'static str,
    /// The value of `version`.
    pub version: u64,
    /// What it is, and what writes it.
    pub about: &'static str,
}

impl Document {
    /// The document with the fields of `value`, which must be an object.
    pub fn of<T: Serialize>(&self, value: T) -> impl Serialize {
        #[derive(Serialize)]
        struct Whole<T> {
            schema: &'static str,
            version: u64,
            #[serde(flatten)]
            value: T,
        }
        Whole { schema: self.schema, version: self.version, value }
    }
}

macro_rules! documents {
    ($($name:ident = $schema:literal, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub const $name: Document = Document { schema: $schema, version: 1, about: $about };
        )*
        /// All kinds of documents.
        pub const DOCUMENTS: &[Document] = &[$($name),*];
    };
}

documents! {
    TRACE_DOCUMENT = "tcplab.trace",
        "An analysed capture: `tcplab trace --json`";
    TRACE_LINES_DOCUMENT = "tcplab.trace-lines",
        "An analysed capture, a JSON object for each line: `tcplab trace --jsonl`";
    JOINED_DOCUMENT = "tcplab.joined-captures",
        "Two captures of the same connections: `tcplab trace --client A --server B --json`";
    RUN_DOCUMENT = "tcplab.run",
        "Everything about a run but its packets: `run.json`";
    PLAN_DOCUMENT = "tcplab.plan",
        "What a run is to do: `plan.json`";
    ENVIRONMENT_DOCUMENT = "tcplab.environment",
        "Where a run was made: versions, kernel, processor, settings: `environment.json`";
    CALIBRATION_DOCUMENT = "tcplab.calibration",
        "The paths verified before the trials: `calibration.json`";
    TRIAL_DOCUMENT = "tcplab.trial",
        "The results of a trial: `trial.json`";
    FAILED_TRIAL_DOCUMENT = "tcplab.failed-trial",
        "Why a trial failed: `failed.json`";
    APPLICATIONS_DOCUMENT = "tcplab.applications",
        "What both applications of a trial did: `app.json`";
    RECORDING_DOCUMENT = "tcplab.recording",
        "How a trial was set up, and how the kernel or simulation behaved: `result.json`";
    ESTIMATE_DOCUMENT = "tcplab.run-estimate",
        "What a run would do: `tcplab run --dry-run --json`";
    COMPARISON_DOCUMENT = "tcplab.comparison",
        "Two runs or two groups of cases compared: `tcplab compare --json`";
    CAPTURE_COMPARISON_DOCUMENT = "tcplab.capture-comparison",
        "Two captures compared: `tcplab compare A.pcap B.pcap --json`";
    COMPARISONS_DOCUMENT = "tcplab.comparisons",
        "The comparisons that a scenario asks for: `comparisons.json`";
    ADVICE_DOCUMENT = "tcplab.advice",
        "Settings for a path: `tcplab advise --json`";
    RFC6349_DOCUMENT = "tcplab.rfc6349",
        "A throughput test: `tcplab rfc6349 --json`";
    LOAD_DOCUMENT = "tcplab.load",
        "A load test of a server: `tcplab load --json`";
    BULK_DOCUMENT = "tcplab.bulk",
        "A bulk transfer: `tcplab load --json` with an echo or discard service";
    SOCKET_OPTIONS_DOCUMENT = "tcplab.socket-options",
        "Socket options of this machine: `tcplab sockopts --json`";
    METRICS_DOCUMENT = "tcplab.metrics",
        "The metrics: `tcplab metrics --json`";
    SCENARIOS_DOCUMENT = "tcplab.scenarios",
        "The catalogue of scenarios: `tcplab scenarios --json`";
    PATHS_DOCUMENT = "tcplab.paths",
        "The catalogue of paths: `tcplab path presets --json`";
    PATH_DOCUMENT = "tcplab.path",
        "A path: `tcplab path show --json`";
    PATH_OUTLOOK_DOCUMENT = "tcplab.path-outlook",
        "A path over time: `tcplab path plot --json`";
    PATH_CHECK_DOCUMENT = "tcplab.path-check",
        "A path verified: `tcplab path verify --json`";
    TC_DOCUMENT = "tcplab.tc",
        "A path as commands of tc: `tcplab path tc --json`";
    ABILITIES_DOCUMENT = "tcplab.abilities",
        "What this machine can do: `tcplab doctor --json`";
    PACKETDRILL_DOCUMENT = "tcplab.packetdrill",
        "Packetdrill scripts on a model: `tcplab packetdrill --json`";
    STATES_DOCUMENT = "tcplab.states",
        "States of connections of a capture: `tcplab states --json`";
    SOCKETS_DOCUMENT = "tcplab.sockets",
        "TCP sockets of this machine: `tcplab states --live --json`";
    REPLAY_DOCUMENT = "tcplab.replay",
        "A recording checked: `tcplab replay --json`";
    FIDELITY_DOCUMENT = "tcplab.fidelity",
        "The model against the kernel: `tcplab fidelity --json`";
    TRAFFIC_DOCUMENT = "tcplab.traffic",
        "What passed a path: `tcplab shell --json`, `tcplab bridge --json`";
}
