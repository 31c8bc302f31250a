//! Why a stack cannot be set, and why a trial failed.

use tcplab_path::PathError;
use tcplab_recording::RecordingError;
use tcplab_scenario::ModelSettingError;
use tcplab_stack::ConnectionError;
use tcplab_units::{Bytes, Span, rounded};
use tcplab_workload::PayloadMismatch;

/// Why a trial could not be run, or did not pass.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message names each field")]
pub enum SimError {
    /// A stack cannot be set as asked.
    #[error("the {endpoint}: {source}")]
    Settings { endpoint: &'static str, source: SettingsError },
    /// The path cannot be built.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The transfer took longer than the scenario allows.
    #[error("{}", overdue(*limit, Some(*received), *wanted))]
    Overdue { limit: Span, received: u64, wanted: Bytes },
    /// An endpoint aborted its connection.
    #[error("the {endpoint}'s connection was lost: {error}")]
    Connection { endpoint: &'static str, error: ConnectionError },
    /// There is no model of that congestion control.
    #[error("the {endpoint}: `{name}` is no congestion control of a model; there are {known}")]
    Congestion { endpoint: &'static str, name: String, known: String },
    /// A load has a server of processes and threads.
    #[error("the workload is a load: its server is processes and threads, which no model has")]
    Load,
    /// The payload that arrived is not the one that was sent.
    #[error(transparent)]
    PayloadMismatch(#[from] PayloadMismatch),
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}

/// Why a stack cannot be set as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The model has no such setting.
    #[error(transparent)]
    Model(#[from] ModelSettingError),
    /// The model does not know that setting.
    #[error("`{name}` is no setting of a model; there are {known}")]
    Unknown {
        /// The sysctl's name.
        name: String,
        /// The names of those that models know.
        known: String,
    },
    /// The setting is known, but not with that value.
    #[error("`{name}` of a model cannot be `{value}`: {expected}")]
    Value {
        /// The sysctl's name.
        name: String,
        /// What was asked for.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// The model does not have that attribute of a route.
    #[error("`route.{key}` is no setting of a model")]
    Route {
        /// Its key in the scenario.
        key: &'static str,
    },
    /// A model has no kernel modules.
    #[error("`module.'{name}'` is a parameter of a kernel module, and a model has none")]
    Module {
        /// Module and parameter.
        name: String,
    },
    /// The model does not have that socket option.
    #[error(
        "{option} = {value} cannot be set on a model: {reason}; a kernel can, in virtual time too: \
         `--kernel VERSION`"
    )]
    Option {
        /// As in the man page.
        option: &'static str,
        /// What was asked for.
        value: String,
        /// Why not.
        reason: String,
    },
}

/// That a trial of so much data, none where it has no such amount, was not done in time.
pub(crate) fn overdue(limit: Span, received: Option<u64>, wanted: Bytes) -> String {
    let arrived = received.map_or_else(String::new, |received| {
        let received = Bytes::new(received);
        // Of flows by a rule, more than one has arrives.
        let all = (received <= wanted).then(|| format!(" of {}", rounded::bytes(wanted)));
        format!(": {}{} have arrived", rounded::bytes(received), all.unwrap_or_default())
    });
    format!("not done after {limit}{arrived}; raise `[limits] trial` if it needs longer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_trial_says_how_much_of_how_much_has_arrived() {
        let words = |received: Option<u64>, wanted| {
            let text = overdue(Span::from_secs(1), received, Bytes::new(wanted));
            text[..text.find(';').unwrap()].to_owned()
        };
        assert_eq!(words(None, 5), "not done after 1 s");
        assert_eq!(words(Some(1_000), 0), "not done after 1 s: 1.00 kB have arrived");
        assert_eq!(
            words(Some(1_000), 3_000),
            "not done after 1 s: 1.00 kB of 3.00 kB have arrived"
        );
        assert_eq!(words(Some(3_000), 1_000), "not done after 1 s: 3.00 kB have arrived");
    }
}
