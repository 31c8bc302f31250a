//! Socket options of a trial: requested and effective values.

use tcplab_recording::{OptionRecord, TrialRecord};
use tcplab_results::OptionRow;
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_workload::SocketRole;

/// Those of a trial that are worth telling, socket by socket.
pub(crate) fn remarkable(record: &TrialRecord) -> Vec<OptionRow> {
    let all = [
        (SocketRole::Client.name(), &record.client.options),
        ("client's route", &record.client.route),
        (SocketRole::Listener.name(), &record.server.listener),
        (SocketRole::Accepted.name(), &record.server.options),
        ("server's route", &record.server.route),
    ];
    all.into_iter()
        .flat_map(|(socket, options)| {
            options
                .iter()
                .filter(|option| option.is_remarkable())
                .map(move |option| OptionRow { socket: socket.into(), record: option.clone() })
        })
        .collect()
}

/// The warning about a refused option.
pub(crate) fn refusal(row: &OptionRow) -> Option<String> {
    let OptionRecord { option, requested, because, .. } = &row.record;
    row.is_refused().then(|| {
        format!(
            "{option} = {} was refused ({} socket): {}",
            requested.as_deref().unwrap_or_default(),
            row.socket,
            because.as_deref().unwrap_or("the kernel does not say why")
        )
    })
}

/// The sizes of both buffers at the end, bytes, where they are known.
pub(crate) fn buffers(rows: &[OptionRecord]) -> impl Iterator<Item = (&'static MetricInfo, f64)> {
    [(metrics::SOCKET_SNDBUF, "sndbuf"), (metrics::SOCKET_RCVBUF, "rcvbuf")].into_iter().filter_map(
        |(metric, option)| {
            let row = rows.iter().find(|row| row.name == option)?;
            Some((metric, row.effective.strip_suffix(" B")?.parse().ok()?))
        },
    )
}

#[cfg(test)]
mod tests {
    use tcplab_workload::Outcome;

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
    fn options_asked_or_changed_are_remarkable() {
        for (is_remarkable, row) in [
            (false, row("nodelay", None, ["off", "off"], Outcome::Default)),
            (true, row("nodelay", Some("off"), ["off", "off"], Outcome::AsAsked)),
            (true, row("rcvbuf", None, ["131072 B", "6291456 B"], Outcome::Default)),
            (true, row("nodelay", None, ["on", "on"], Outcome::Inherited)),
        ] {
            assert_eq!(row.is_remarkable(), is_remarkable, "{row:?}");
        }
    }

    #[test]
    fn refused_option_gives_warning() {
        let record = OptionRecord {
            because: Some("EPERM: it needs CAP_NET_ADMIN".into()),
            ..row("sndbufforce", Some("8 MB"), ["16384 B", "16384 B"], Outcome::Refused)
        };
        let refused = OptionRow { socket: "client".into(), record };
        assert_eq!(
            refusal(&refused).unwrap(),
            "SO_SNDBUFFORCE = 8 MB was refused (client socket): EPERM: it needs CAP_NET_ADMIN"
        );
    }

    #[test]
    fn buffer_sizes_are_parsed() {
        let rows = [
            row("rcvbuf", Some("1000 B"), ["131072 B", "2304 B"], Outcome::Raised),
            row("sndbuf", None, ["16384 B", "unknown"], Outcome::Default),
        ];
        let values: Vec<_> = buffers(&rows).collect();
        assert_eq!(values, [(metrics::SOCKET_RCVBUF, 2304.0)]);
    }
}
