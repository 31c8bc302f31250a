//! `make bench-sim`: one flow in virtual time (or that of `BENCH="RATE SECONDS"`).
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::Instant;

use tcplab_scenario::Scenario;
use tcplab_sim::measure;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let flows = match &arguments[..] {
        [rate, seconds] => vec![(rate.as_str(), seconds.as_str())],
        _ => vec![("100 Mbit/s", "60"), ("1 Gbit/s", "10"), ("10 Gbit/s", "2")],
    };
    for (rate, seconds) in flows {
        let text = format!(
            "title = \"One flow\"\n[path]\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = \"1 bdp\"\n\
             [workload]\nupload = \"100 GB\"\n[client]\nsocket = {{ congestion = \"cubic\" }}\n\
             sysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 16384 268435456\" }}\n\
             [server]\nsysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 268435456\" }}\n\
             [limits]\ntrial = \"{seconds} s\"\n[repeat]\ntrials = 1\n"
        );
        let scenario = Scenario::parse(&text, "flow").expect("the scenario is well-formed");
        let start = Instant::now();
        let measured = measure(&scenario.cases[0], 1).expect("the trial can be run");
        let took = start.elapsed().as_secs_f64();
        let segments = measured.received as f64 / 1448.0;
        println!(
            "{rate:>10}: {segments:.0} segments in {took:.2} s: {:.0} data segments/s, {:.1} s of \
             virtual time a second; {} packets, {} events, {:.1} Mbit/s",
            segments / took,
            measured.duration.as_secs_f64() / took,
            measured.packets,
            measured.events,
            measured.received as f64 * 8e-6 / measured.duration.as_secs_f64(),
        );
    }
}
