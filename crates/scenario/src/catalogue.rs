//! The scenarios that come with tcplab, whatever directory it runs in.

use crate::embedded::embedded;

/// Name and source of every file in `scenarios/`, by name.
pub fn catalogue() -> &'static [(&'static str, &'static str)] {
    CATALOGUE
}

const CATALOGUE: &[(&str, &str)] = embedded![
    "scenarios":
    "flows/latency-under-load",
    "flows/short-flows",
    "flows/two-flows",
    "haiku-patches",
    "interruption",
    "netburner-buffers",
    "socket-options/buffers",
    "socket-options/keepalive",
    "socket-options/linger",
    "socket-options/nodelay",
    "socket-options/receive-timeout",
    "socket-options/urgent",
    "socket-options/wireless",
    "sockets-course/baselines",
    "sockets-course/buffer-size",
    "sockets-course/concurrent-servers",
    "sockets-course/datagrams",
    "sockets-course/digital-unix",
    "sockets-course/one-kilobyte",
    "sockets-course/one-kilobyte-linux",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn every_file_can_be_read() {
        for (name, source) in catalogue() {
            if let Err(error) = Scenario::parse(source, name) {
                panic!("{name}: {error}");
            }
        }
    }
}
