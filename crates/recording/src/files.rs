//! The names of the files of a recording.

use tcplab_units::Endpoint;

/// The name of an endpoint's capture in a recording.
pub fn capture_file(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Client => "client.pcapng",
        Endpoint::Server => "server.pcapng",
    }
}

pub(crate) const TRUTH_FILE: &str = "path.jsonl";
pub(crate) const SAMPLES_FILE: &str = "samples.csv";

/// The samples of one of several flows; its name is fit for that.
pub(crate) fn flow_samples_file(flow: &str) -> String {
    format!("samples-{flow}.csv")
}

pub(crate) const APP_FILE: &str = "app.json";
pub(crate) const RESULT_FILE: &str = "result.json";
pub(crate) const DONE_FILE: &str = "DONE";
