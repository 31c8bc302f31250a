//! Several flows between the two hosts.

use tcplab_recording::{AppLog, FlowLog};
use tcplab_units::{Endpoint, Instant, Span};

use crate::forwarded::{connections, each_flow_gets_what_was_forwarded};
use crate::{seed_decides_bytes, trial};

const PATH: &str = "[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"50 packets\"\n";

/// Everything that there is of flows.
const MANY: &str = r#"
[path]
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "50 packets"
[workload]
upload = "2 MB"
[flow.first]
[flow.second]
start = "500 ms"
count = 2
client.socket.congestion = "reno"
workload = { download = "1 MB" }
[flow.cross]
background = true
traffic.bulk = "upload"
[flow.chat]
background = true
traffic.on_off = { rate = "500 kbit/s", on = { exponential = "200 ms" }, off = "300 ms" }
[flow.web]
start = "200 ms"
background = true
traffic.arrivals = { every = { exponential = "100 ms" }, size = { pareto = { mean = "20 kB", shape = 1.3 } } }
"#;

fn flow<'a>(app: &'a AppLog, name: &str) -> &'a FlowLog {
    app.flows.iter().find(|flow| flow.name == name).unwrap()
}

#[test]
fn each_flow_gets_what_the_path_forwarded_of_it() {
    let recording = trial(MANY, 3);
    let app = recording.app().unwrap();
    assert_eq!(app.server.bytes.as_u64(), 2_000_000);
    let names: Vec<&str> = app.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["first", "second", "cross", "chat", "web"]);
    assert_eq!(flow(&app, "second").connections.len(), 2);
    assert!(flow(&app, "web").connections.len() > 5);
    for connection in app.flows.iter().flat_map(|flow| &flow.connections) {
        assert!(connection.client.started.unwrap() >= connection.start);
    }
    let finished = each_flow_gets_what_was_forwarded(&recording, &app);
    assert!(finished > 5, "{finished} ended");
    // One connection in the captures for each that began, and no other.
    let ports = |end| {
        let all = connections(&recording, end);
        all.iter().map(|it| it.client.port()).collect::<std::collections::BTreeSet<_>>()
    };
    let logged = app.flows.iter().flat_map(|flow| &flow.connections).map(|it| it.ports[0]);
    assert_eq!(ports(Endpoint::Client), logged.collect());
}

#[test]
fn flows_in_the_background_end_with_the_trial_as_waiting() {
    let recording = trial(MANY, 3);
    let app = recording.app().unwrap();
    let cross = &flow(&app, "cross").connections[0];
    let last = |report: &tcplab_workload::AppReport| report.log.last().unwrap().result.clone();
    assert_eq!([last(&cross.client), last(&cross.server)], ["waiting", "waiting"]);
    assert!(flow(&app, "cross").background && !flow(&app, "first").background);
    let ended = |name: &str| {
        let all = flow(&app, name).connections.iter();
        all.map(|it| it.server.log.last().unwrap().ended).max().unwrap()
    };
    // The trial ended when the last of those ended that it waits for, except their farewell.
    let end = Instant::ZERO + recording.record().unwrap().duration;
    let done = ended("first").max(ended("second"));
    assert!(end.since(done) < Span::from_secs(1), "{done:?} {end:?}");
}

#[test]
fn each_flow_is_sampled() {
    let recording = trial(MANY, 3);
    let subject = recording.samples().unwrap();
    assert!(subject.iter().any(|sample| sample.bytes_acked > 1_000_000));
    for name in ["second", "cross", "chat", "web"] {
        let samples = recording.samples_of(name).unwrap();
        assert!(samples.len() > 2, "{name}");
        assert!(samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
    assert!(recording.samples_of("first").unwrap().is_empty());
}

#[test]
fn same_seed_gives_same_bytes_of_all_flows() {
    // Also where the path looks at the bytes, so that packets find their sockets by these.
    for more in ["", "duplicate = \"1 %\"\n"] {
        let text = MANY.replace("delay = \"10 ms\"\n", &format!("delay = \"10 ms\"\n{more}"));
        seed_decides_bytes(&text);
    }
}

/// One flow by itself sends what the same transfer without flows sends, packet for packet.
#[test]
fn single_flow_equals_connection_without_flows() {
    let lossy = PATH.replace("queue", "loss = \"1 %\"\nqueue");
    let segments = |rest: &str| {
        let recording = trial(&format!("{lossy}[workload]\nupload = \"1 MB\"\n{rest}"), 5);
        let all = connections(&recording, Endpoint::Client);
        assert_eq!(all.len(), 1);
        let segments = all[0].forward.segments.iter();
        segments.map(|it| (it.at, it.range.start, it.payload)).collect::<Vec<_>>()
    };
    assert!(segments("") == segments("[flow.alone]\n"));
}

/// Two Reno flows through one queue that drops from its tail, with equal round trips: synchronised
/// losses bring them together (Chiu and Jain 1989), and each gets its half within a sawtooth.
#[test]
fn two_equal_flows_share_evenly() {
    let text = format!(
        "{PATH}[client]\nsocket.congestion = \"reno\"\n[workload]\nupload = \"10 MB\"\n\
         [flow.a]\n[flow.b]\n"
    );
    let recording = trial(&text, 1);
    let app = recording.app().unwrap();
    let done = |name: &str| flow(&app, name).connections[0].server.last_byte.unwrap().as_secs_f64();
    // 20 MB in segments of 1448 B, 1500 B with their headers, need 16.6 s; who is done first leaves
    // the rest to the other.
    let (first, last) = (done("a").min(done("b")), done("a").max(done("b")));
    assert!((16.57..17.5).contains(&last), "{last}");
    assert!(first / last > 0.85, "{first} of {last}");
}

#[test]
fn flow_stops_on_time_and_trial_waits_for_it() {
    let text = format!(
        "{PATH}[workload]\nupload = \"10 kB\"\n[flow.bulk]\nstart = \"1 s\"\nlasting = \"2 s\"\n\
         traffic.bulk = \"download\"\n[flow.short]\n"
    );
    let recording = trial(&text, 1);
    let app = recording.app().unwrap();
    let bulk = &flow(&app, "bulk").connections[0];
    assert_eq!(bulk.server.bytes, bulk.client.bytes);
    let seconds = bulk.client.finished.unwrap().as_secs_f64();
    // What was written until 3 s drains from the send buffer.
    assert!((3.0..5.0).contains(&seconds), "{seconds}");
    let (megabits, time) = (bulk.client.bytes.as_u64() as f64 * 8e-6, seconds - 1.0);
    assert!((8.0..10.0).contains(&(megabits / time)), "{megabits} Mbit in {time} s");
}

#[test]
fn transfer_past_time_limit_fails_trial() {
    let text = format!(
        "{PATH}[workload]\nupload = \"10 MB\"\n[flow.a]\n[flow.b]\nbackground = true\n\
         [limits]\ntrial = \"2 s\"\n"
    );
    let scenario = crate::scenario(&text);
    let place = tempfile::tempdir().unwrap();
    let request = tcplab_sim::TrialRequest {
        case: &scenario.cases[0],
        seed: 1,
        directory: place.path(),
        snaplen: None,
        keeps_packets: true,
    };
    let error = tcplab_sim::run_trial(&request, &false.into()).unwrap_err();
    assert!(matches!(error, tcplab_sim::SimError::Overdue { .. }), "{error}");
}

#[test]
fn flows_can_be_measured_without_a_recording() {
    let scenario = crate::scenario(MANY);
    let measured =
        tcplab_sim::measure(&scenario.cases[0], 3, scenario.cases[0].limits.trial, &mut || false)
            .unwrap();
    // One flow of 2 MB and two of 1 MB; those in the background are not waited for.
    assert_eq!((measured.received, measured.wanted), (4_000_000, 4_000_000));
    assert!(measured.payload > measured.received, "{measured:?}");
}
