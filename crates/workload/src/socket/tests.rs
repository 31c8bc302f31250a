use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn parsed(json: &str) -> Result<SocketOptions, serde_json::Error> {
    serde_json::from_str(json)
}

#[test]
fn impossible_option_is_refused() {
    for (options, key) in [
        (r"{}", None),
        (r#"{"congestion": "cubic", "rcvbuf": "64 KiB", "maxseg": 536}"#, None),
        (r#"{"congestion": ""}"#, Some("congestion")),
        (r#"{"congestion": "a_name_of_sixteen"}"#, Some("congestion")),
        (r#"{"congestion": "re no"}"#, Some("congestion")),
        (r#"{"rcvbuf": "0 B"}"#, Some("rcvbuf")),
        (r#"{"sndbuf": "2 GiB"}"#, Some("sndbuf")),
        (r#"{"maxseg": 87}"#, Some("maxseg")),
        (r#"{"maxseg": 32768}"#, Some("maxseg")),
        (r#"{"keepalive": true, "keepidle": "2 s", "keepintvl": "1 s", "keepcnt": 127}"#, None),
        (r#"{"keepidle": "0 s"}"#, Some("keepidle")),
        (r#"{"keepidle": "32768 s"}"#, Some("keepidle")),
        (r#"{"keepintvl": "1500 ms"}"#, Some("keepintvl")),
        (r#"{"keepcnt": 128}"#, Some("keepcnt")),
        (r#"{"linger": false}"#, None),
        (r#"{"linger": "0 s"}"#, None),
        (r#"{"linger": "1500 ms"}"#, Some("linger")),
        (r#"{"linger2": "121 s"}"#, Some("linger2")),
        (r#"{"user_timeout": "1500 µs"}"#, Some("user_timeout")),
        (r#"{"user_timeout": "5 s", "ip_tos": 255}"#, None),
        (r#"{"ip_tos": 256}"#, Some("ip_tos")),
        (r#"{"max_pacing_rate": "1 Mbit/s"}"#, None),
        (r#"{"max_pacing_rate": "9 bit/s"}"#, Some("max_pacing_rate")),
        (r#"{"backlog": 5}"#, Some("backlog")),
        (r#"{"fastopen": 5}"#, Some("fastopen")),
    ] {
        let checked = parsed(options).unwrap().check(SocketRole::Client);
        assert_eq!(checked.err().map(|e| e.key()), key, "{options}");
    }
}

#[test]
fn listeners_have_options_of_their_own() {
    let options = parsed(r#"{"backlog": 5, "fastopen": 3, "defer_accept": "5 s"}"#).unwrap();
    assert_eq!(options.check(SocketRole::Listener), Ok(()));
    assert_eq!(options.backlog(), Some(5));
    let error = options.check(SocketRole::Accepted).unwrap_err().to_string();
    assert_eq!(
        error,
        "`backlog` is an option of the listening socket (`[server] socket`), not of an accepted \
         socket (`[server] accepted`)"
    );
}

#[test]
fn wrong_option_gives_error() {
    for (options, part) in [
        (r#"{"no_delay": true}"#, "unknown field `no_delay`, expected one of `reuseaddr`"),
        (r#"{"nodelay": 1}"#, "expected a boolean"),
        (r#"{"linger": true}"#, "give a time to linger, such as \"5 s\""),
        (r#"{"linger": 5}"#, "expected false, or a time to linger"),
        (r#"{"linger": "5"}"#, "has no unit"),
        (r#"{"nodelay": true, "nodelay": true}"#, "duplicate field `nodelay`"),
        (r#"{"if_refused": "never"}"#, "unknown variant `never`, expected `fail` or `record`"),
    ] {
        let error = parsed(options).unwrap_err().to_string();
        assert!(error.contains(part), "{options}: {error}");
    }
}

#[test]
fn options_survive_serialisation() {
    for text in [
        r#"{"nodelay":true}"#,
        r#"{"linger":false}"#,
        r#"{"congestion":"reno","maxseg":536,"sndbuf":"65.536 kB"}"#,
        r#"{"keepidle":"2 s","if_refused":"record"}"#,
        r#"{"max_pacing_rate":"8 Mbit/s"}"#,
    ] {
        assert_eq!(serde_json::to_string(&parsed(text).unwrap()).unwrap(), text);
    }
}

/// Names, numbers and keys are distinct, and nothing a scenario can set is without a value.
#[test]
fn option_table_is_consistent() {
    let names: BTreeSet<_> = table::options().map(|info| info.name).collect();
    let places: BTreeSet<_> = table::options().map(|info| (info.level, info.number)).collect();
    let keys: BTreeSet<_> = table::keyed().map(|(key, _)| key).collect();
    assert_eq!(names.len(), table::options().count());
    assert_eq!(places.len(), table::options().count());
    assert_eq!(keys.len(), table::keyed().count());
    for (key, info) in table::keyed() {
        let plain = key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(plain && info.access == Access::Both, "{key}");
        assert!(!matches!(info.kind, Kind::Structure(_)), "{key}");
        assert!(!info.effect.ends_with('.'), "{key}: the effect is part of a sentence");
        if info.level != Level::Listen {
            let named = info.name.split_once('_').unwrap().1.to_lowercase();
            assert!(key == named || key == info.name.to_lowercase(), "{key}");
        }
    }
}

#[test]
fn outcome_of_option() {
    let sysctl = |name: &str| {
        Some(match name {
            "net.core.rmem_max" => "212992".into(),
            "net.core.somaxconn" => "128".into(),
            "net.ipv4.tcp_rmem" => "4096 131072 6291456".into(),
            _ => return None,
        })
    };
    let size = |n| OptionValue::Size(Bytes::new(n));
    let number = OptionValue::Number;
    let span = |n| OptionValue::Span(Span::from_secs(n));
    for (key, asked, before, set, expected, because) in [
        ("rcvbuf", size(65_536), size(131_072), size(131_072), Outcome::Doubled, "doubles"),
        ("rcvbuf", size(1), size(131_072), size(2_304), Outcome::Raised, "the minimum is 2304 B"),
        (
            "rcvbuf",
            size(1 << 20),
            size(131_072),
            size(425_984),
            Outcome::Clamped,
            "net.core.rmem_max = 212992, machine-wide",
        ),
        ("backlog", number(4096), number(0), number(128), Outcome::Clamped, "somaxconn = 128"),
        ("backlog", number(5), number(0), number(5), Outcome::AsAsked, ""),
        ("rcvlowat", size(9 << 20), size(1), size(3_145_728), Outcome::Clamped, "tcp_rmem"),
        ("defer_accept", span(5), span(0), span(7), Outcome::Adjusted, "1, 3, 7, 15"),
        ("ip_tos", number(3), number(0), number(0), Outcome::Ignored, "ECN"),
        ("keepidle", span(7_200), span(7_200), span(7_200), Outcome::AsAsked, ""),
    ] {
        let info = table::by_key(key).unwrap();
        let (found, why) = outcome(info, &asked, Some(&before), &set, sysctl);
        assert_eq!(found, expected, "{key} {asked}");
        let why = why.unwrap_or_default();
        assert!(why.contains(because) && why.is_empty() == because.is_empty(), "{key}: {why}");
    }
}

fn value_of(kind: Kind) -> BoxedStrategy<OptionValue> {
    match kind {
        Kind::Flag => any::<bool>().prop_map(OptionValue::Flag).boxed(),
        Kind::Number(_, least, most) => (least..=most).prop_map(OptionValue::Number).boxed(),
        Kind::Size(least, most) => {
            (least..=most).prop_map(|n| OptionValue::Size(Bytes::new(n))).boxed()
        }
        Kind::Seconds(least, most) => {
            (least..=most).prop_map(|n| OptionValue::Span(Span::from_secs(n))).boxed()
        }
        Kind::Millis(least, most) => {
            (least..=most).prop_map(|n| OptionValue::Span(Span::from_millis(n))).boxed()
        }
        Kind::Micros(least, most) => {
            (least..=most).prop_map(|n| OptionValue::Span(Span::from_micros(n))).boxed()
        }
        Kind::Time => {
            (0..1_u64 << 40).prop_map(|n| OptionValue::Span(Span::from_micros(n))).boxed()
        }
        Kind::Linger => prop_oneof![
            Just(OptionValue::Flag(false)),
            (0..=i32::MAX as u64).prop_map(|n| OptionValue::Span(Span::from_secs(n))),
        ]
        .boxed(),
        Kind::Rate => prop_oneof![
            Just(OptionValue::Name("unlimited".into())),
            (0..1_u64 << 40).prop_map(|n| OptionValue::Rate(Rate::from_bits_per_second(8 * n))),
        ]
        .boxed(),
        Kind::Name => "[a-z]{1,15}".prop_map(OptionValue::Name).boxed(),
        Kind::Structure(_) => unreachable!("a scenario cannot set a structure"),
    }
}

proptest! {
    /// What is set is what is read: the kernel's form loses nothing.
    #[test]
    fn kernel_form_is_exact(
        (kind, value) in proptest::sample::select(
            table::keyed().map(|(_, info)| info.kind).collect::<Vec<_>>()
        ).prop_flat_map(|kind| (Just(kind), value_of(kind)))
    ) {
        let bytes = value.to_bytes(kind);
        prop_assert_eq!(OptionValue::from_bytes(kind, &bytes), Some(value));
    }
}
