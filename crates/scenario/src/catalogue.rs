//! The built-in scenarios.

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
    "haiku-tcp/jitter",
    "haiku-tcp/loss",
    "haiku-tcp/patches-receiving",
    "haiku-tcp/patches-sending",
    "haiku-tcp/receives",
    "haiku-tcp/sends",
    "haiku-tcp/timestamps",
    "interruption",
    "interruption-figures/figure-10",
    "interruption-figures/figure-7",
    "kernels/congestion-controls",
    "kernels/datacentre",
    "kernels/dsl",
    "kernels/interruption",
    "kernels/lte",
    "kernels/opening",
    "kernels/satellite",
    "kernels/wifi",
    "socket-options/buffers",
    "socket-options/keepalive",
    "socket-options/linger",
    "socket-options/nat",
    "socket-options/nodelay",
    "socket-options/receive-timeout",
    "socket-options/small-buffers",
    "socket-options/urgent",
    "socket-options/wireless",
    "sockets-course/baselines",
    "sockets-course/buffer-size",
    "sockets-course/closing-orders",
    "sockets-course/concurrent-servers",
    "sockets-course/datagrams",
    "sockets-course/digital-unix",
    "sockets-course/one-kilobyte",
    "sockets-course/one-kilobyte-linux",
    "sockets-course/states",
    "throughput-vs-response/bulk-beside-dialogue",
    "throughput-vs-response/hanging-clients",
    "throughput-vs-response/linux-buffers",
    "throughput-vs-response/linux-bulk-beside-dialogue",
    "throughput-vs-response/linux-hanging-clients",
    "throughput-vs-response/linux-nodelay-and-cork",
    "throughput-vs-response/nagle-and-push",
    "throughput-vs-response/out-of-order",
    "throughput-vs-response/push-before-last-write",
    "throughput-vs-response/receives",
    "throughput-vs-response/round-trip",
    "throughput-vs-response/sends",
    "throughput-vs-response/three-buffers",
    "throughput-vs-response/write-and-writeall",
    "tuning/bufferbloat",
    "tuning/data-centre-lan",
    "tuning/long-fat-path",
    "tuning/lossy-wifi",
    "tuning/mobile",
    "tuning/satellite",
    "tuning/small-messages",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn every_scenario_is_read_and_asks_a_question() {
        for (name, source) in catalogue() {
            match Scenario::parse(source, name) {
                Err(error) => panic!("{name}: {error}"),
                Ok(read) => assert!(read.question.is_some_and(|it| it.ends_with('?')), "{name}"),
            }
        }
    }
}
