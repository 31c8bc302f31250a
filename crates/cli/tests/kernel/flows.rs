//! Several flows on the kernel: each has its own ports, traffic and options, and the model behaves
//! nearly equally.

use std::fs;

use tcplab_recording::{FlowLog, Recording};
use tcplab_units::Endpoint;

use crate::experiment::{Experiment, Recorded};
use crate::forwarded::{connections, each_flow_gets_what_was_forwarded};
use crate::home::Home;
use crate::program::Io;

const SCENARIO: &str = r#"
title    = "Several flows"
path     = { rate = "10 Mbit/s", delay = "5 ms", queue = "60 packets" }
workload = { upload = "1 MB" }
repeat   = { trials = 1, retries = 0 }
[flow.first]
client.socket = { congestion = "reno", maxseg = 1000 }
[flow.second]
start    = "300 ms"
count    = 2
client.socket.congestion = "cubic"
workload = { download = "500 kB" }
[flow.cross]
background   = true
traffic.bulk = "upload"
[flow.web]
background = true
traffic.arrivals = { every = { exponential = "60 ms" }, size = { pareto = { mean = "20 kB", shape = 1.3 } }, most = 12 }
[[expect]]
claim  = "all of it arrives"
metric = "payload_intact"
equals = true
[[expect]]
claim    = "and nearly all of the path is used"
metric   = "path_utilisation"
at_least = 50
[[expect]]
claim    = "flows have metrics of their own"
flow     = "second"
metric   = "goodput"
at_least = "100 kbit/s"
"#;

fn flow<'a>(flows: &'a [FlowLog], name: &str) -> &'a FlowLog {
    flows.iter().find(|flow| flow.name == name).unwrap()
}

#[test]
fn flows_share_kernel_path_and_plan_equals_virtual_time() {
    let Some(experiment) = Experiment::run(SCENARIO, Io::Tun) else { return };
    let trial = &experiment.trials()[0];
    flows_receive_what_the_path_delivered(trial);
    model_has_same_connections(trial);
}

/// A client that vanishes leaves its server's data unacknowledged, and does not delay the trial.
const VANISHING: &str = r#"
title    = "One client hangs"
path     = { rate = "10 Mbit/s", delay = "5 ms", queue = "60 packets" }
workload = { upload = "200 kB" }
repeat   = { trials = 1, retries = 0 }
[flow.good]
start = "300 ms"
[flow.hanging]
background = true
workload   = { client = ["write 10 B", "read 10 B", "vanish"], server = ["read 10 B", "write 10 B", "sleep 200 ms", "write 10 kB", "read to end"] }
[flow.none]
background = true
count      = 0
[[expect]]
claim  = "all of it arrives"
metric = "payload_intact"
equals = true
"#;

#[test]
fn vanished_client_sends_nothing() {
    let Some(experiment) = Experiment::run(VANISHING, Io::Tun) else { return };
    let trial = &experiment.trials()[0];
    assert_eq!(flow(&trial.app.flows, "none").connections, []);
    let hanging = &flow(&trial.app.flows, "hanging").connections[0];
    let last = hanging.client.log.last().unwrap();
    assert_eq!((&*last.call, &*last.result), ("vanish", "waiting"));
    assert_eq!(hanging.server.bytes.as_u64(), 10_010, "the server has written all");
    // Its server's data was retransmitted and not acknowledged.
    let (_, file) = trial.recording.capture(Endpoint::Server).unwrap();
    let connections = tcplab_trace::analyze(tcplab_capture::Reader::new(file).unwrap()).connections;
    let port = hanging.ports[0];
    let connection = connections.iter().find(|it| it.client.port() == port).unwrap();
    assert!(connection.reverse.totals.retransmissions > 0);
    assert_eq!(connection.reverse.acks.last().unwrap().ack.as_u64(), 11);
}

fn flows_receive_what_the_path_delivered(trial: &Recorded<'_>) {
    let flows = &trial.app.flows;
    let counts: Vec<(&str, usize)> =
        flows.iter().map(|flow| (flow.name.as_str(), flow.connections.len())).collect();
    assert_eq!(counts[..3], [("first", 1), ("second", 2), ("cross", 1)]);
    assert!(counts[3].1 > 0, "{counts:?}");
    let recording = Recording::open(&trial.directory).unwrap();
    let finished = each_flow_gets_what_was_forwarded(&recording, &trial.app);
    assert!(finished >= 3, "{finished}: those that the trial waits for");
    for connection in flows.iter().flat_map(|flow| &flow.connections) {
        let [client, server] =
            [&connection.client, &connection.server].map(|end| end.processor.is_some());
        // A server that had just accepted when the trial ended has worked and not begun.
        let is_served = connection.server.started.is_some();
        assert!(client && (server || !is_served), "{:?}", connection.ports);
    }
    let cross = &flow(flows, "cross").connections[0];
    assert_eq!(cross.client.log.last().unwrap().result, "waiting");
    for name in ["second", "cross"] {
        assert!(!recording.samples_of(name).unwrap().is_empty(), "{name}");
    }
    // The first flow's options are recorded, and its segments have the configured size.
    let record = recording.record().unwrap();
    let option = |name: &str| record.client.options.iter().find(|it| it.name == name).unwrap();
    assert_eq!(option("congestion").effective, "reno");
    assert!(carries_small_segments(&recording, flow(flows, "first").connections[0].ports[0]));
}

/// In virtual time the same seeds give the same connections.
fn model_has_same_connections(trial: &Recorded<'_>) {
    let home = Home::with("made.toml", SCENARIO);
    home.answer("run made.toml --world sim");
    let run = home.only("runs/made");
    assert_eq!(fs::read_to_string(run.join("flows.csv")).unwrap().lines().count(), 5);
    let own = Recording::open(&run.join(&trial.row.directory)).unwrap().app().unwrap();
    // The number of background connections until the others end may differ.
    for (kernel, model) in trial.app.flows.iter().zip(&own.flows) {
        let both = kernel.connections.iter().zip(&model.connections);
        for (one, other) in both {
            assert_eq!((one.ports, one.start), (other.ports, other.start), "{}", kernel.name);
            if one.client.finished.is_some() && other.client.finished.is_some() {
                assert_eq!(one.server.digest, other.server.digest, "{:?}", one.ports);
            }
        }
    }
}

/// Whether all segments of that client fit its TCP_MAXSEG.
fn carries_small_segments(recording: &Recording, port: u16) -> bool {
    let all = connections(recording, Endpoint::Client);
    let own = all.iter().find(|it| it.client.port() == port).unwrap();
    own.forward.segments.iter().all(|it| it.payload.as_u64() <= 1000)
}
