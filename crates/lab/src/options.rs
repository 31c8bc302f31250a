//! Socket options of a trial: what was asked for, and what it was.

use serde::{Deserialize, Serialize};
use tcplab_recording::{OptionRecord, TrialRecord};
use tcplab_trace::{Connection, SynOptions};
use tcplab_workload::{Outcome, SocketRole};

/// A socket option of one socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRow {
    /// `client`, `listener` or `accepted`.
    pub socket: String,
    /// What was asked for and what it was.
    #[serde(flatten)]
    pub record: OptionRecord,
}

impl OptionRow {
    /// Those of a trial that are worth telling, socket by socket.
    pub(crate) fn of(record: &TrialRecord) -> Vec<OptionRow> {
        let sockets = [
            (SocketRole::Client, &record.client.options),
            (SocketRole::Listener, &record.server.listener),
            (SocketRole::Accepted, &record.server.options),
        ];
        sockets
            .into_iter()
            .flat_map(|(role, options)| {
                options.iter().filter(|option| option.is_remarkable()).map(move |option| {
                    OptionRow { socket: role.name().into(), record: option.clone() }
                })
            })
            .collect()
    }

    /// Whether the kernel refused it.
    pub fn is_refused(&self) -> bool {
        self.record.outcome == Outcome::Refused
    }

    /// What is said where it was refused.
    pub(crate) fn refusal(&self) -> Option<String> {
        let OptionRecord { option, requested, because, .. } = &self.record;
        self.is_refused().then(|| {
            format!(
                "{option} = {} was refused ({} socket): {}",
                requested.as_deref().unwrap_or_default(),
                self.socket,
                because.as_deref().unwrap_or("the kernel does not say why")
            )
        })
    }
}

/// Metrics of what came of the options, at the ends where some were asked for: buffer sizes as
/// they were at the end, and what the SYN of that end offered.
pub(crate) fn metrics(record: &TrialRecord, connection: &Connection) -> Vec<(&'static str, f64)> {
    let (client, server) = (&record.client, &record.server);
    let handshake = &connection.handshake;
    let is_asked = |rows: &[OptionRecord]| rows.iter().any(|row| row.requested.is_some());
    let mut values = Vec::new();
    if is_asked(&client.options) {
        values.extend(sizes(&client.options, ["client_sndbuf", "client_rcvbuf"]));
        values.extend(offers(&handshake.client, ["client_syn_window", "client_syn_scale"]));
    }
    if is_asked(&server.listener) || is_asked(&server.options) {
        values.extend(sizes(&server.options, ["server_sndbuf", "server_rcvbuf"]));
        values.extend(offers(&handshake.server, ["server_syn_window", "server_syn_scale"]));
    }
    values
}

/// The sizes of both buffers, bytes.
fn sizes(
    rows: &[OptionRecord],
    names: [&'static str; 2],
) -> impl Iterator<Item = (&'static str, f64)> {
    names.into_iter().zip(["sndbuf", "rcvbuf"]).filter_map(|(name, key)| {
        let row = rows.iter().find(|row| row.name == key)?;
        let bytes = row.effective.strip_suffix(" B")?.parse().ok()?;
        Some((name, bytes))
    })
}

fn offers(
    syn: &SynOptions,
    [window, scale]: [&'static str; 2],
) -> impl Iterator<Item = (&'static str, f64)> {
    let seen = syn.seen.then_some((window, f64::from(syn.window)));
    seen.into_iter().chain(syn.window_scale.map(|shift| (scale, f64::from(shift))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        name: &str,
        requested: Option<&str>,
        times: [&str; 2],
        outcome: Outcome,
    ) -> OptionRecord {
        OptionRecord {
            name: name.into(),
            option: format!("SO_{}", name.to_uppercase()),
            requested: requested.map(Into::into),
            before: Some(times[0].into()),
            effective: times[1].into(),
            outcome,
            ..OptionRecord::default()
        }
    }

    #[test]
    fn what_is_worth_telling() {
        for (told, row) in [
            (false, row("nodelay", None, ["off", "off"], Outcome::Default)),
            (true, row("nodelay", Some("off"), ["off", "off"], Outcome::AsAsked)),
            (true, row("rcvbuf", None, ["131072 B", "6291456 B"], Outcome::Default)),
            (true, row("nodelay", None, ["on", "on"], Outcome::Inherited)),
        ] {
            assert_eq!(row.is_remarkable(), told, "{row:?}");
        }
    }

    #[test]
    fn refusals_are_told() {
        let record = OptionRecord {
            because: Some("EPERM: it needs CAP_NET_ADMIN".into()),
            ..row("sndbufforce", Some("8 MB"), ["16384 B", "16384 B"], Outcome::Refused)
        };
        let refused = OptionRow { socket: "client".into(), record };
        assert_eq!(
            refused.refusal().unwrap(),
            "SO_SNDBUFFORCE = 8 MB was refused (client socket): EPERM: it needs CAP_NET_ADMIN"
        );
    }

    #[test]
    fn sizes_are_read() {
        let rows = [
            row("rcvbuf", Some("1000 B"), ["131072 B", "2304 B"], Outcome::Raised),
            row("sndbuf", None, ["16384 B", "unknown"], Outcome::Default),
        ];
        let values: Vec<_> = sizes(&rows, ["client_sndbuf", "client_rcvbuf"]).collect();
        assert_eq!(values, [("client_rcvbuf", 2304.0)]);
    }
}
