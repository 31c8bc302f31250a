use tcplab_scenario::Stack;

use super::*;

fn asked(json: &str) -> SocketOptions {
    serde_json::from_str(json).unwrap()
}

fn spec(socket: &str) -> EndpointSpec {
    EndpointSpec { socket: asked(socket), ..EndpointSpec::default() }
}

/// Nothing that a scenario can ask for is ignored: each option means something, or is refused with
/// a reason.
#[test]
fn every_option_is_decided_upon() {
    let refused: Vec<(&str, &str)> = [
        (r#"{"fastopen_connect": true}"#, "no earlier connection has brought a cookie"),
        (r#"{"fastopen": 5}"#, "no earlier connection has brought a cookie"),
        (r#"{"ip_tos": 16}"#, "a model's packets have no class of service"),
        (
            r#"{"quickack": false}"#,
            "a model has it on accepted connections only: set it in `server.accepted`",
        ),
    ]
    .into();
    for (socket, reason) in &refused {
        let error = config(&spec(socket)).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("be set on a model"), "{error}");
        assert!(error.ends_with("`--kernel VERSION`"), "{error}");
        let recorded = socket.replace('}', r#", "if_refused": "record"}"#);
        assert_eq!(config(&spec(&recorded)), Ok(Config::default()), "{socket}");
    }
    let taken = r#"{"reuseaddr": true, "reuseport": true, "sndbuf": "8 KiB", "rcvbuf": "16 KiB",
        "sndbufforce": "8 MiB", "rcvbufforce": "9 MiB", "keepalive": true, "oobinline": true,
        "linger": "5 s", "rcvlowat": "2 kB", "max_pacing_rate": "8 Mbit/s", "nodelay": true,
        "maxseg": 536, "cork": true, "keepidle": "20 s", "keepintvl": "3 s", "keepcnt": 4,
        "syncnt": 2, "linger2": "9 s", "defer_accept": "5 s", "window_clamp": "10 kB",
        "quickack": true, "user_timeout": "1500 ms", "notsent_lowat": "16 KiB",
        "congestion": "reno", "backlog": 5, "rcvtimeo": "1 s", "sndtimeo": "1 s"}"#;
    let config = config(&spec(taken)).unwrap();
    let [taken, refused] = [asked(taken).iter().count(), refused.len() - 1];
    assert_eq!(taken + refused, table::keyed().count());
    // Beyond the limit, and doubled.
    assert_eq!(config.receiving.buffer[0].as_u64(), 2 * (9 << 20));
    assert_eq!(config.sending.buffer[0].as_u64(), 2 * (8 << 20));
    let options = OfStack::of(&config);
    assert_eq!(options.keep_idle, Span::from_secs(20));
    assert_eq!((options.keep_probes, options.syn_retries), (4, Some(2)));
    assert_eq!(options.defer_accept, 3);
    assert_eq!(options.user_timeout, Span::from_millis(1_500));
}

/// 0 is what these options are without being set.
#[test]
fn options_of_zero_are_off() {
    let off = config(&spec(r#"{"defer_accept": "0 s", "window_clamp": "0 B"}"#)).unwrap();
    assert_eq!(OfStack::of(&off), OfStack::of(&Config::default()));
}

#[test]
fn time_outs_are_handed_down() {
    let of = |socket: &str, accepted: &str| {
        let accepted = asked(accepted);
        timeouts(&EndpointSpec { accepted, ..spec(socket) })
    };
    let seconds = |n| Some(Span::from_secs(n));
    assert_eq!(of(r#"{"rcvtimeo": "5 s"}"#, "{}"), [seconds(5), None]);
    let both = of(r#"{"rcvtimeo": "5 s", "sndtimeo": "2 s"}"#, r#"{"rcvtimeo": "0 s"}"#);
    assert_eq!(both, [None, seconds(2)]);
}

#[test]
fn options_of_listener_are_recorded() {
    let spec = spec(
        r#"{"backlog": 10000, "rcvbuf": "8 MiB", "defer_accept": "5 s", "ip_tos": 4,
            "if_refused": "record"}"#,
    );
    let records = of_listener(&config(&spec).unwrap(), &spec);
    for (name, effective, outcome, because) in [
        ("backlog", "4096", Outcome::Clamped, "net.core.somaxconn = 4096"),
        ("rcvbuf", "8388608 B", Outcome::Clamped, "net.core.rmem_max = 4194304"),
        ("defer_accept", "7 s", Outcome::Adjusted, "1, 3, 7, 15"),
        ("ip_tos", "unknown", Outcome::Refused, "no class of service"),
        ("keepalive", "off", Outcome::Default, ""),
    ] {
        let record = records.iter().find(|record| record.name == name).unwrap();
        assert_eq!((record.effective.as_str(), record.outcome), (effective, outcome), "{name}");
        let why = record.because.clone().unwrap_or_default();
        assert!(why.contains(because) && why.is_empty() == because.is_empty(), "{name}: {why}");
    }
}

#[test]
fn accepted_socket_refuses_late_options() {
    let config = Config::default();
    let taken = asked(r#"{"nodelay": true, "maxseg": 536, "rcvbuf": "8 KiB", "quickack": false}"#);
    let options = of_accepted(&config, &taken).unwrap();
    // In the order of the table; the segment size is settled.
    assert_eq!(
        options,
        [
            SocketOption::ReceiveBuffer(Bytes::new(8_192)),
            SocketOption::NoDelay(true),
            SocketOption::QuickAck(false),
        ]
    );
    for (options, reason) in [
        (r#"{"congestion": "vegas"}"#, "keeps the congestion control"),
        (r#"{"rcvbufforce": "8 MiB"}"#, "before its connection is opened"),
        (r#"{"window_clamp": "0 B"}"#, "stays clamped"),
    ] {
        let error = of_accepted(&config, &asked(options)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(of_accepted(&config, &asked(r#"{"congestion": "cubic"}"#)), Ok(vec![]));
}

#[test]
fn buffers_are_doubled_by_linux_only() {
    let size = OptionValue::Size(Bytes::new(65_536));
    let options = SocketOptions::default().with("rcvbuf", size);
    let asked =
        |stack| config(&EndpointSpec { stack, socket: options.clone(), ..EndpointSpec::default() });
    let effective = |stack| asked(stack).unwrap().receiving.buffer;
    // `tcp_rmem` stays as it is: small segments grow the window by it.
    let most = Config::default().receiving.buffer[1];
    assert_eq!(effective(Stack::Linux), [Bytes::new(131_072), most]);
    let linux = asked(Stack::Linux).unwrap();
    assert!(linux.receiving.locked);
    assert_eq!(sysctl(&linux, "net.ipv4.tcp_rmem"), Some(most.as_u64().to_string()));
    assert_eq!(effective(Stack::Model("osx-10.7")), [Bytes::new(65_536); 2]);
}

/// `inet_csk_clone_lock`: Linux clears it.
#[test]
fn accepted_socket_does_not_inherit_defer_accept() {
    let spec = spec(r#"{"defer_accept": "5 s", "keepidle": "9 s"}"#);
    let config = config(&spec).unwrap();
    let record = |key: &str| {
        let mut records = [OptionRecord {
            name: key.into(),
            option: String::new(),
            requested: None,
            before: None,
            set: Some("7 s".into()),
            connected: None,
            effective: "7 s".into(),
            outcome: Outcome::Default,
            because: None,
        }];
        hand_down(&mut records[0], key, &config, &spec);
        records.into_iter().next().unwrap()
    };
    let idle = record("keepidle");
    assert_eq!((idle.outcome, idle.requested.as_deref()), (Outcome::Inherited, Some("9 s")));
    let deferred = record("defer_accept");
    assert_eq!((deferred.outcome, deferred.effective.as_str()), (Outcome::Ignored, "0 s"));
    assert_eq!(deferred.because.as_deref(), Some("a listening socket does not hand it down"));
    // What was not asked for is not handed down.
    assert_eq!(record("linger2").outcome, Outcome::Default);
}
