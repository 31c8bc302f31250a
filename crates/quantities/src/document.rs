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
    ($($name:ident = $schema:literal $version:literal, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub const $name: Document =
                Document { schema: $schema, version: $version, about: $about };
        )*
        /// All kinds of documents.
        pub const DOCUMENTS: &[Document] = &[$($name),*];
    };
}

documents! {
    TRACE_DOCUMENT = "tcplab.trace" 1,
        "An analysed capture: `tcplab trace --json`";
    TRACE_LINES_DOCUMENT = "tcplab.trace-lines" 2,
        "An analysed capture, a JSON object for each line: `tcplab trace --jsonl`";
    PACKETS_DOCUMENT = "tcplab.packets" 1,
        "Packets as bytes, field by field: `tcplab trace --hex FRAME --json`";
    JOINED_DOCUMENT = "tcplab.joined-captures" 1,
        "Two captures of the same connections: `tcplab trace --client A --server B --json`";
    RUN_DOCUMENT = "tcplab.run" 1,
        "Everything about a run but its packets: `run.json`";
    PLAN_DOCUMENT = "tcplab.plan" 1,
        "What a run is to do: `plan.json`";
    ENVIRONMENT_DOCUMENT = "tcplab.environment" 1,
        "Where a run was made: versions, kernel, processor, settings: `environment.json`";
    CALIBRATION_DOCUMENT = "tcplab.calibration" 1,
        "The paths verified before the trials: `calibration.json`";
    TRIAL_DOCUMENT = "tcplab.trial" 1,
        "The results of a trial: `trial.json`";
    FAILED_TRIAL_DOCUMENT = "tcplab.failed-trial" 1,
        "Why a trial failed: `failed.json`";
    APPLICATIONS_DOCUMENT = "tcplab.applications" 1,
        "What both applications of a trial did: `app.json`";
    RECORDING_DOCUMENT = "tcplab.recording" 1,
        "How a trial was set up, and how the kernel or simulation behaved: `result.json`";
    ESTIMATE_DOCUMENT = "tcplab.run-estimate" 1,
        "What a run would do: `tcplab run --dry-run --json`";
    CLEAN_DOCUMENT = "tcplab.clean" 1,
        "Runs with their sizes, and what was removed: `tcplab clean --json`";
    COMPARISON_DOCUMENT = "tcplab.comparison" 1,
        "Two runs or two groups of cases compared: `tcplab compare --json`";
    CAPTURE_COMPARISON_DOCUMENT = "tcplab.capture-comparison" 1,
        "Two captures compared: `tcplab compare A.pcap B.pcap --json`";
    COMPARISONS_DOCUMENT = "tcplab.comparisons" 1,
        "The comparisons that a scenario asks for: `comparisons.json`";
    ADVICE_DOCUMENT = "tcplab.advice" 1,
        "Settings for a path: `tcplab advise --json`";
    RFC6349_DOCUMENT = "tcplab.rfc6349" 1,
        "A throughput test: `tcplab rfc6349 --json`";
    FIGURE_DOCUMENT = "tcplab.figure" 1,
        "The numbers in a figure of a run: `tcplab plot --table=json`";
    BENCH_DOCUMENT = "tcplab.bench" 1,
        "Commands timed against one another behind paths: `tcplab bench --export-json`";
    LOAD_DOCUMENT = "tcplab.load" 1,
        "A load test of a server: `tcplab load --json`";
    SERVERS_LOAD_DOCUMENT = "tcplab.servers-load" 1,
        "Designs of test servers under the same load: `tcplab load --server DESIGN,… --json`";
    BULK_DOCUMENT = "tcplab.bulk" 1,
        "A bulk transfer: `tcplab load --json` with an echo or discard service";
    LATENCY_DOCUMENT = "tcplab.latency" 1,
        "Latency to a host, each way: `tcplab latency --json`";
    SOCKET_OPTIONS_DOCUMENT = "tcplab.socket-options" 1,
        "Socket options of this machine: `tcplab sockopts --json`";
    METRICS_DOCUMENT = "tcplab.metrics" 1,
        "The metrics: `tcplab metrics --json`";
    SCENARIOS_DOCUMENT = "tcplab.scenarios" 1,
        "The catalogue of scenarios: `tcplab scenarios --json`";
    PATHS_DOCUMENT = "tcplab.paths" 1,
        "The catalogue of paths: `tcplab path presets --json`";
    PATH_DOCUMENT = "tcplab.path" 1,
        "A path: `tcplab path show --json`";
    PATH_OUTLOOK_DOCUMENT = "tcplab.path-outlook" 1,
        "A path over time: `tcplab path plot --json`";
    PATH_CHECK_DOCUMENT = "tcplab.path-check" 1,
        "A path verified: `tcplab path verify --json`";
    TC_DOCUMENT = "tcplab.tc" 1,
        "A path as commands of tc: `tcplab path tc --json`";
    ABILITIES_DOCUMENT = "tcplab.abilities" 1,
        "What this machine can do: `tcplab doctor --json`";
    KERNELS_DOCUMENT = "tcplab.kernels" 1,
        "The kernels built for virtual time: `tcplab kernel list --json`";
    KERNEL_DOCUMENT = "tcplab.kernel" 1,
        "A kernel built for virtual time: `manifest.json`, `tcplab kernel show --json`";
    BISECTION_DOCUMENT = "tcplab.bisection" 1,
        "A search for the commit that changed a claim: `bisect.json`, `tcplab bisect --json`";
    PACKETDRILL_DOCUMENT = "tcplab.packetdrill" 1,
        "Packetdrill scripts on models and kernels: `tcplab packetdrill --json`";
    STATES_DOCUMENT = "tcplab.states" 1,
        "States of connections of a capture: `tcplab states FILE --json`";
    SOCKETS_DOCUMENT = "tcplab.sockets" 1,
        "TCP sockets of this machine: `tcplab states --json`";
    REPLAY_DOCUMENT = "tcplab.replay" 1,
        "A recording checked: `tcplab replay --json`";
    FIDELITY_DOCUMENT = "tcplab.fidelity" 1,
        "The model against the kernel: `tcplab fidelity --json`";
    TRAFFIC_DOCUMENT = "tcplab.traffic" 1,
        "What passed a path: `tcplab shell --json`, `tcplab bridge --json`";
}
