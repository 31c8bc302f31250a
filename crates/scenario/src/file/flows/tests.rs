use miette::Diagnostic;
use tcplab_units::{Instant, Span};

use crate::Scenario;

const HEAD: &str = "title = \"t\"\n[path]\n[client]\nsocket = { congestion = \"reno\", nodelay = true }\n\
                    [workload]\nupload = \"1 MB\"\n";

fn parse(rest: &str) -> Scenario {
    let source = format!("{HEAD}{rest}");
    Scenario::parse(&source, "t").unwrap_or_else(|error| panic!("{error}: {rest}"))
}

/// The error of an impossible file.
fn refusal(rest: &str) -> String {
    Scenario::parse(&format!("{HEAD}{rest}"), "t").unwrap_err().to_string()
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

#[test]
fn first_foreground_flow_in_file_is_subject() {
    let scenario = parse(
        "[flow.web]\nbackground = true\ntraffic = { bulk = \"download\" }\n[flow.b]\n\
         start = \"2 s\"\n[flow.a]\ncount = 2\n",
    );
    let case = &scenario.cases[0];
    let names: Vec<&str> = case.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["web", "b", "a"]);
    assert_eq!(case.subject().unwrap().name, "b");
    let connections: Vec<_> = case
        .connections(1)
        .iter()
        .map(|it| (it.flow, it.ports, it.start.unwrap(), it.workload.upload.is_some()))
        .collect();
    assert_eq!(
        connections,
        [
            (0, [32_768, 5_001], at(0), false),
            (2, [32_769, 5_003], at(0), true),
            (2, [32_770, 5_003], at(0), true),
            (1, [32_771, 5_002], at(2_000), true),
        ]
    );
    assert!(case.connections(1)[0].workload.may_fail());
    assert!(!case.connections(1)[1].workload.may_fail());
}

#[test]
fn options_of_flow_override_those_of_host() {
    let scenario = parse("[flow.a]\n[flow.b]\nclient.socket.congestion = \"bbr\"\n");
    let case = &scenario.cases[0];
    let client = |flow: usize| {
        let [client, _] = case.ends_of(&case.flows[flow]);
        let congestion = client.socket.congestion().unwrap().to_owned();
        (congestion, client.socket.value("nodelay").is_some())
    };
    assert_eq!([client(0), client(1)], [("reno".into(), true), ("bbr".into(), true)]);
}

#[test]
fn keys_of_flows_can_be_varied() {
    let scenario = parse(
        "[flow.first]\n[flow.second]\nstart = \"1 s\"\n[matrix]\n\
         \"flow.second.client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
         \"flow.second.start\" = [\"1 s\", \"5 s\"]\n",
    );
    let cases: Vec<_> = scenario
        .cases
        .iter()
        .map(|case| {
            let [client, _] = case.ends_of(&case.flows[1]);
            (case.name.as_str(), client.socket.congestion().unwrap().to_owned())
        })
        .collect();
    assert_eq!(cases[0], ("reno_1s", "reno".into()));
    assert_eq!(cases[3], ("cubic_5s", "cubic".into()));
    assert_eq!(scenario.cases[3].connections(1)[1].start, Some(at(5_000)));
    let hashes: std::collections::BTreeSet<_> = scenario.cases.iter().map(|it| &it.hash).collect();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn arrivals_follow_seed_within_their_duration() {
    let scenario = parse(
        "[flow.main]\n[flow.web]\nbackground = true\nstart = \"1 s\"\nlasting = \"10 s\"\n\
         traffic.arrivals = { every = { exponential = \"500 ms\" }, size = \"10 kB\" }\n",
    );
    let case = &scenario.cases[0];
    let (one, other) = (case.connections(1), case.connections(2));
    assert_eq!(one, case.connections(1));
    assert_ne!(one, other);
    // 20 are expected.
    assert!((5..40).contains(&one.len()), "{}", one.len());
    assert!(one[1..].iter().all(|it| it.start > Some(at(1_000)) && it.start < Some(at(11_000))));
    assert!(one.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert!(one.windows(2).all(|pair| pair[0].ports[0] + 1 == pair[1].ports[0]));
    let seeds: std::collections::BTreeSet<u64> = one.iter().map(|it| it.payload_seed).collect();
    assert_eq!(seeds.len(), one.len());
}

#[test]
fn case_without_flows_has_one_unnamed_flow() {
    let case = &parse("").cases[0];
    assert!(case.subject().is_none());
    assert!(!serde_json::to_string(case).unwrap().contains("flows"));
    let [flow] = &*case.all_flows() else { panic!("{:?}", case.all_flows()) };
    assert!(flow.name.is_empty());
    assert_eq!(case.ends_of(flow), [case.client.clone(), case.server.clone()]);
    let [connection] = &case.connections(7)[..] else { panic!("{:?}", case.connections(7)) };
    assert_eq!((connection.ports, connection.start), ([32_768, 5_001], Some(at(0))));
    assert_eq!((connection.seed, connection.payload_seed), (7, 7));
}

#[test]
fn connections_of_a_workload_wait_for_a_place_and_share_a_payload() {
    let case = &parse("connections = { total = 3, at_once = 2 }\n").cases[0];
    let planned = case.connections(7);
    let starts: Vec<_> = planned.iter().map(|it| it.start).collect();
    assert_eq!(starts, [Some(at(0)), Some(at(0)), None]);
    let seeds: Vec<_> = planned.iter().map(|it| (it.ports, it.seed, it.payload_seed)).collect();
    let ports = |nth: u16| [32_768 + nth, 5_001];
    assert_eq!(seeds, [(ports(0), 7, 7), (ports(1), 8, 7), (ports(2), 9, 7)]);
    assert!(planned.iter().all(|it| it.workload.connections.is_none()));
}

#[test]
fn impossible_flow_is_refused() {
    for (rest, expected) in [
        ("[flow.a]\nbackground = true\n", "all flows are background"),
        ("[flow.\"a b\"]\n", "invalid flow name"),
        ("[flow.a]\ncount = 0\n", "the metrics belong to this flow"),
        ("[flow.a]\ncount = 101\n", "too many equal flows"),
        ("[flow.a]\nstart = \"120 s\"\n", "starts after the end of the trial"),
        ("[flow.a]\nworkload = { connect = \"closed\" }\n", "a flow is one TCP connection"),
        ("[flow.a]\nworkload = { upload = \"0 B\" }\n", "`upload` must not be 0"),
        ("[flow.a]\ntraffic = { bulk = \"upload\" }\n", "the trial would wait forever"),
        ("[flow.a]\nlasting = \"1 s\"\n", "a workload ends by itself"),
        ("[flow.a]\nclient.accepted.nodelay = true\n", "a client accepts no connections"),
        ("[flow.a]\nserver.accepted.backlog = 3\n", "`backlog` is an option of"),
        ("[flow.a]\nstack = \"linux\"\n", "`stack`"),
        (
            "[flow.a]\n[flow.b]\ncount = 3\n\
             traffic.arrivals = { every = \"1 s\", size = \"1 kB\", most = 900 }\n",
            "more than 2000 connections",
        ),
        (
            "[flow.a]\ntraffic.on_off = { rate = \"0 bit/s\", on = \"1 s\", off = \"1 s\" }\n",
            "`on_off.rate` must not be 0",
        ),
    ] {
        let refusal = refusal(rest);
        assert!(refusal.contains(expected), "{rest}: {refusal}");
    }
}

#[test]
fn claim_of_unknown_flow_is_refused() {
    let claim = |flow: &str, metric: &str| {
        format!(
            "[flow.a]\n[flow.b]\n[[expect]]\nclaim = \"c\"\nmetric = \"{metric}\"\n\
             flow = \"{flow}\"\nat_least = 1\n"
        )
    };
    let scenario = parse(&claim("b", "timeouts"));
    assert_eq!(scenario.expects[0].to_string(), "timeouts of flow b at least 1");
    for (flow, metric) in [("c", "timeouts"), ("a", "segments")] {
        let error = Scenario::parse(&format!("{HEAD}{}", claim(flow, metric)), "t").unwrap_err();
        assert!(error.help().is_some(), "{error}");
    }
    let none = "[[expect]]\nclaim = \"c\"\nmetric = \"timeouts\"\nflow = \"a\"\nat_most = 1\n";
    assert!(refusal(none).contains("unknown flow `a`"));
}

#[test]
fn example_in_documentation_is_read() {
    let page = include_str!("../../../../../docs/flows.md");
    let example = page.split("```").nth(1).and_then(|block| block.strip_prefix("toml\n"));
    let scenario = Scenario::parse(example.expect("it has one"), "flows").unwrap();
    assert_eq!(scenario.cases[0].flows.len(), 3);
}

#[test]
fn delay_of_flow_is_a_way_to_the_path() {
    let scenario = parse("[flow.near]\n[flow.far]\ndelay = \"40 ms\"\ncount = 2\n");
    let case = &scenario.cases[0];
    let delays: Vec<_> =
        [5_001, 5_002].map(|port| case.path.delay_between_ports([32_769, port])).into();
    assert_eq!(delays, [Span::ZERO, Span::from_millis(40)]);
    assert_eq!(case.round_trip(), Span::from_millis(80));
    // A connection may have a delay at both of its ports.
    let port =
        "port_delay = [{ port = 32768, delay = \"5 ms\" }, { port = 32769, delay = \"2 ms\" }]";
    let source = HEAD.replace("[path]\n", &format!("[path]\n{port}\n"));
    let scenario =
        Scenario::parse(&format!("{source}[flow.far]\ndelay = \"40 ms\"\n"), "t").unwrap();
    assert_eq!(scenario.cases[0].round_trip(), Span::from_millis(90));

    for path in ["backend = \"netem\"", "port_delay = [{ port = 5001, delay = \"1 ms\" }]"] {
        let source = HEAD.replace("[path]\n", &format!("[path]\n{path}\n"));
        let file = format!("{source}[flow.far]\ndelay = \"40 ms\"\n");
        let error = Scenario::parse(&file, "t").unwrap_err();
        assert!(error.to_string().contains("netem") || error.to_string().contains("5001"));
    }
}
