//! Whether what comes of a case of models depends on its seed.

use tcplab_path::LinkPlan;
use tcplab_scenario::Case;
use tcplab_stack::congestion;
use tcplab_workload::Traffic;

use crate::options;

/// Whether the seed may change the results of a case whose ends are both models: an element of its
/// path, its traffic or its congestion control draws numbers. What is drawn in any case, as initial
/// sequence numbers and payload, changes none.
pub fn leaves_to_chance(case: &Case) -> bool {
    let path = case.links().map_or(true, |links| links.iter().any(LinkPlan::leaves_to_chance));
    let controls = || {
        let flows = case.all_flows();
        let ends: Vec<_> = flows.iter().flat_map(|flow| case.ends_of(flow)).collect();
        ends.into_iter().map(|end| options::config(&end))
    };
    let is_drawn = |flow: &tcplab_scenario::Flow| {
        flow.spec.traffic.as_ref().is_some_and(Traffic::draws_numbers)
    };
    path || case.second_path.is_some()
        || case.workload.load.is_some()
        || case.flows.iter().any(is_drawn)
        || controls().any(|config| {
            config.map_or(true, |config| congestion::draws_numbers(&config.window.congestion))
        })
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::Scenario;

    use super::*;

    fn of(lines: &str) -> bool {
        let text = format!("[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{lines}");
        let text = format!("title = \"a transfer\"\n{text}\n[workload]\nupload = \"1 MB\"\n");
        leaves_to_chance(&Scenario::parse(&text, "a").unwrap().cases[0])
    }

    #[test]
    fn chance_by_path_and_control() {
        for lines in [
            "",
            "loss = { every = 50 }",
            "queue = \"20 packets\"",
            "interruption = { every = \"3 s\", lasting = \"200 ms\" }",
            "reorder = { every = 10, gap = 3 }",
            "drop = [{ kind = \"data\", nth = [3] }]",
            "[client.socket]\ncongestion = \"cubic\"",
            "[flow.a]\n[flow.b]\ntraffic = { bulk = \"download\" }\nbackground = true",
            "[flow.a]\n[flow.b]\n\
             traffic = { arrivals = { every = \"1 s\", size = \"9 kB\" } }\nbackground = true",
        ] {
            assert!(!of(lines), "{lines}");
        }
        for lines in [
            "loss = \"1 %\"",
            "jitter = { uniform = \"1 ms\" }",
            "queue = { fq_codel = {} }",
            "reorder = { probability = \"1 %\", gap = 3 }",
            "duplicate = \"1 %\"",
            "drop = [{ kind = \"data\", nth = [3], probability = \"50 %\" }]",
            "[client.socket]\ncongestion = \"bbr\"",
            "[flow.a]\n[flow.b]\n\
             traffic = { arrivals = { every = { exponential = \"1 s\" }, size = \"9 kB\" } }\nbackground = true",
            "[server.socket]\ncongestion = \"bbr\"",
        ] {
            assert!(of(lines), "{lines}");
        }
    }
}
