//! Names of metrics for people.

/// A metric's name for people: `transfer_time` as `transfer time`, `mean_rtt` as `mean RTT`.
pub(crate) fn title(name: &str) -> String {
    if let Some(name) = name.strip_suffix("_p99") {
        return format!("{} p99", title(name));
    }
    let words = name.split(['_', '.']).map(|word| match word {
        "rtt" => "RTT",
        "syn" => "SYN",
        "mss" => "MSS",
        "app" => "application",
        "sndbuf" => "send buffer",
        "rcvbuf" => "receive buffer",
        word => word,
    });
    let title = words.collect::<Vec<_>>().join(" ");
    match title.as_str() {
        "load rate" => "requests answered".to_string(),
        "load connect" => "connect time".to_string(),
        "load response" => "response time".to_string(),
        "load data rate each" => "data rate per client".to_string(),
        "load server time" => "server CPU time per request".to_string(),
        "load response mean" => "response time mean".to_string(),
        _ => title.strip_prefix("load ").unwrap_or(&title).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_become_titles() {
        for (name, text) in [
            ("transfer_time", "transfer time"),
            ("mean_rtt", "mean RTT"),
            ("max_in_flight", "max in flight"),
            ("max_window", "max window"),
            ("socket.sndbuf", "socket send buffer"),
            ("syn.scale", "SYN scale"),
            ("window.min", "window min"),
            ("load.connect", "connect time"),
            ("load.connect_p99", "connect time p99"),
        ] {
            assert_eq!(title(name), text);
        }
    }
}
