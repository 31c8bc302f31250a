use tcplab_units::Span;
use tcplab_workload::OptionValue;

use super::*;
use crate::{Expectation, RouteValue, catalogue};

const SMALL: &str = r#"
title = "A small one"
[path]
rate = "8 Mbit/s"
delay = "5 ms"
[workload]
upload = "1 MB"
"#;

fn small(more: &str) -> Scenario {
    Scenario::parse(&format!("{SMALL}{more}"), "small").unwrap()
}

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario.cases.iter().map(|case| case.name.as_str()).collect()
}

#[test]
fn without_a_matrix_there_is_one_case() {
    let scenario = small("");
    assert_eq!(names(&scenario), ["base"]);
    assert_eq!((scenario.trials, scenario.seed), (10, 1));
    let case = &scenario.cases[0];
    assert_eq!(case.sampling.tcp_info.to_string(), "10 ms");
    assert_eq!(case.limits.trial.to_string(), "2 min");
    assert_eq!(case.links().unwrap().len(), 2);
}

#[test]
fn question_is_a_line_about_a_factor() {
    let losses = "[matrix]\n\"path.loss\" = [\"0 %\", \"1 %\"]\n";
    let read = |head: &str| Scenario::parse(&format!("{head}{SMALL}{losses}"), "asked");
    let scenario = read("question = \"Is <loss> bad?\"\nquestion_factor = \"path.loss\"").unwrap();
    assert_eq!(scenario.question.as_deref(), Some("Is <loss> bad?"));
    assert_eq!(scenario.question_factor.as_deref(), Some("path.loss"));
    assert!(read(&format!("question = \"{}\"", "ü".repeat(200))).is_ok());
    for wrong in [&"x".repeat(201), "", "  ", "two\\nlines", "\\u001b[31mred", "\\u202eback"] {
        let error = read(&format!("question = \"{wrong}\"")).unwrap_err().to_string();
        assert!(error.contains("one line of 1 to 200 visible characters"), "{error}");
        assert!(!error.contains('\u{1b}') && error.len() < 2_000, "{error}");
    }
    let error = read("question_factor = \"path.delay\"").unwrap_err().to_string();
    assert!(error.contains("`path.delay` is not varied"), "{error}");
    for named in ["goodput", "claims"] {
        let scenario = read(&format!("question_metric = \"{named}\"")).unwrap();
        assert_eq!(scenario.question_metric.as_deref(), Some(named));
    }
    for (wrong, why) in [
        ("goodputt", "unknown metric `goodputt`"),
        ("episode.type", "`episode.type` cannot be compared"),
        ("max_window", "`max_window` has no better direction"),
    ] {
        let error = read(&format!("question_metric = \"{wrong}\"")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn matrix_is_a_product_in_order_of_file() {
    let scenario = small(
        r#"[matrix]
"workload.write_size" = ["64 KiB", "1 kB"]
"client.socket.congestion" = ["reno", "cubic"]
"client.socket.nodelay" = [false, true]
"#,
    );
    assert_eq!(
        names(&scenario),
        [
            "64KiB_reno_nodelay=false",
            "64KiB_reno_nodelay=true",
            "64KiB_cubic_nodelay=false",
            "64KiB_cubic_nodelay=true",
            "1kB_reno_nodelay=false",
            "1kB_reno_nodelay=true",
            "1kB_cubic_nodelay=false",
            "1kB_cubic_nodelay=true",
        ]
    );
    let last = scenario.cases.last().unwrap();
    assert_eq!(last.client.socket.congestion(), Some("cubic"));
    assert_eq!(last.client.socket.value("nodelay"), Some(&OptionValue::Flag(true)));
    assert_eq!(last.workload.write_size.as_u64(), 1_000);
    assert_eq!(last.levels[0], ("workload.write_size".into(), "1 kB".into()));
}

#[test]
fn any_key_of_case_can_be_varied() {
    for (factor, expected) in [
        (r#""client.sysctl.'net.ipv4.tcp_sack'" = [0, "1"]"#, vec!["tcp_sack=0", "tcp_sack=1"]),
        (
            r#""server.sysctl.net.ipv4.tcp_rmem" = ["4096 87380 1000000"]"#,
            vec!["tcp_rmem=4096-87380-1000000"],
        ),
        (r#""path.forward.delay" = ["5 ms", "0.1 s"]"#, vec!["5ms", "0.1s"]),
        (
            r#""path.interruption" = [{ every = "5 s", lasting = "200 ms" }]"#,
            vec!["interruption=every-5s-lasting-200ms"],
        ),
        (r#""workload.upload" = ["1 MB", "1xB"]"#, vec![]),
        (r#""client.socket.maxseg" = [536, 1460]"#, vec!["maxseg=536", "maxseg=1460"]),
        (r#""path.loss" = ["0.3 %", "10 %"]"#, vec!["loss=0.3%", "loss=10%"]),
        ("[matrix.channel]\n\"lossy 5\" = {}\n\"lossy 5 %\" = {}", vec!["lossy-5", "lossy-5%"]),
        (r#""client.socket.congestion" = ["reno", "Reno"]"#, vec!["reno", "Reno-2"]),
        (r#""sampling.tcp_info" = ["1 ms", "1  ms"]"#, vec![]),
        (r#""path.loss" = ["0 %", "0.0 %"]"#, vec![]),
    ] {
        let parsed = Scenario::parse(&format!("{SMALL}[matrix]\n{factor}"), "small");
        match parsed {
            Ok(scenario) => assert_eq!(names(&scenario), expected, "{factor}"),
            Err(error) => assert!(expected.is_empty(), "{factor}: {error}"),
        }
    }
}

/// By their values, in all combinations; levels with names may be the same.
#[test]
fn level_in_two_spellings_is_refused() {
    let parsed = |factors: &str| Scenario::parse(&format!("{SMALL}[matrix]\n{factors}"), "small");
    let losses = r#""path.loss" = ["0 %", "1 %"]"#;
    let rates = |levels: &str| format!("{losses}\n\"path.rate\" = [{levels}]");
    let error = parsed(&rates(r#""10 Mbit/s", "5M", "10000 kbit/s""#)).unwrap_err().to_string();
    let said = "`path.rate` has a level twice: `10 Mbit/s` and `10000 kbit/s` are the same";
    assert!(error.contains(said), "{error}");
    let queues = r#""path.queue" = ["100 kB", "80 ms"]"#;
    let design = "\n[design]\npairs = [[\"path.loss\", \"path.rate\"]]";
    for different in [
        rates(r#""10 Mbit/s", "5M""#),
        format!("{}{design}", rates(r#""10M", "10 Mbit/s""#)),
        format!("{losses}\n[matrix.again]\na = {{}}\nb = {{}}"),
        // At 10 Mbit/s they are the same.
        format!("{}\n{queues}", rates(r#""10 Mbit/s", "5M""#)),
    ] {
        assert!(parsed(&different).is_ok(), "{different}: {}", parsed(&different).unwrap_err());
    }
}

#[test]
fn sysctls_are_written_as_kernel_prints_them() {
    let scenario = small(
        r#"[client]
sysctl = { "net.ipv4.tcp_sack" = 0, "net.ipv4.tcp_wmem" = " 4096\t16384   4194304 " }"#,
    );
    let settings = &scenario.cases[0].client.sysctl;
    assert_eq!(settings["net.ipv4.tcp_sack"], "0");
    assert_eq!(settings["net.ipv4.tcp_wmem"], "4096 16384 4194304");
}

#[test]
fn routes_and_modules_are_read() {
    let scenario = small(
        "[client.route]\ninitcwnd = 20\nrto_min = \"100 ms\"\nquickack = true\ncongctl = \"reno\"\n\
         [server]\nmodule = { \"tcp_cubic.hystart\" = 0 }\n\
         [matrix]\n\"server.route.mtu\" = [\"1400 B\", \"1000 B\"]\n\
         \"server.module.tcp_bbr.extra\" = [1]\n",
    );
    let Case { client, server, .. } = &scenario.cases[1];
    let text = |(key, _, value): (&str, &str, RouteValue<'_>)| format!("{key} {value}");
    let route: Vec<String> = client.route.attributes().map(text).collect();
    assert_eq!(route, ["initcwnd 20", "rto_min 100 ms", "quickack on", "congctl reno"]);
    assert_eq!(server.route.mtu, Some(Bytes::new(1_000)));
    let parameters: Vec<_> = server.module.iter().map(|(name, value)| [name, value]).collect();
    assert_eq!(parameters, [["tcp_bbr.extra", "1"], ["tcp_cubic.hystart", "0"]]);
}

#[test]
fn route_without_a_path_or_a_connection_is_refused() {
    for (path, workload, why) in [
        ("same_host = true", "upload = \"1 MB\"", "there is no route to the other end"),
        ("delay = \"1 ms\"", "datagrams = { count = 5 }", "datagrams have no connection"),
    ] {
        let text = format!(
            "title = \"t\"\n[path]\n{path}\n[workload]\n{workload}\n[client.route]\ninitcwnd = 3\n"
        );
        let error = Scenario::parse(&text, "t").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn case_survives_serialisation() {
    for (name, source) in catalogue() {
        for case in Scenario::parse(source, name).unwrap().cases {
            let json = serde_json::to_string(&case).unwrap();
            let back: Case = serde_json::from_str(&json).unwrap();
            assert_eq!(back, case);
            assert_eq!(back.compute_hash(), case.hash);
        }
    }
}

#[test]
fn hash_depends_on_settings_only() {
    let hash = |scenario: &Scenario| scenario.cases[0].hash.clone();
    // Changes when the meaning of a case does; a new key that a file does not use must not.
    assert_eq!(hash(&small("")), PINNED);
    let in_other_words = SMALL.replace("5 ms", "0.005 s").replace("A small one", "Other");
    assert_eq!(hash(&Scenario::parse(&in_other_words, "other").unwrap()), PINNED);
    let only_level = small("[matrix]\n\"workload.upload\" = [\"1 MB\"]");
    assert_eq!(hash(&only_level), PINNED, "how a value came in does not count");
    let slower = SMALL.replace("8 Mbit/s", "7 Mbit/s");
    assert_ne!(hash(&Scenario::parse(&slower, "small").unwrap()), PINNED);
}
const PINNED: &str = "82e219eb31d51cce78c54b13e329c6a20f4b393a1f18eff8bc6b9d3befbd244e";

#[test]
fn seeds_are_pinned_and_shared_by_cases() {
    let seeds = [1, 2, 3].map(|number| trial_seed(1, number));
    assert_eq!(seeds, [8_837_706_214_507_880, 6_772_944_767_749_186, 7_871_369_386_496_036]);
    assert_ne!(trial_seed(1, 1), trial_seed(2, 1));
    assert!((1..100).all(|number| trial_seed(number.into(), number) < 1 << 53));
}

#[test]
fn trials_run_in_complete_random_blocks() {
    let scenario = small(
        r#"[matrix]
"client.socket.congestion" = ["reno", "cubic", "bbr", "vegas"]
[repeat]
trials = 20"#,
    );
    let order = scenario.trial_order(7);
    assert_eq!(order, scenario.trial_order(7));
    assert_ne!(order, scenario.trial_order(8));
    let mut firsts = [0; 4];
    for (block, trials) in (1..).zip(order.chunks(4)) {
        let mut trials = trials.to_vec();
        firsts[trials[0].case] += 1;
        trials.sort();
        let complete: Vec<TrialId> = (0..4).map(|case| TrialId { case, number: block }).collect();
        assert_eq!(trials, complete);
    }
    assert!(firsts.iter().all(|n| *n > 0), "each case comes first some time: {firsts:?}");
}

#[test]
fn interruption_experiment_matches_paper() {
    let known = catalogue().iter().find(|(name, _)| *name == "interruption");
    let (name, source) = known.unwrap();
    let scenario = Scenario::parse(source, name).unwrap();
    // Five models at twenty phases, evenly over the period, and two kernels at every fourth.
    assert_eq!(scenario.cases.len(), 5 * 20 + 2 * 5);
    let offset = |case: &Case| {
        let (_, level) = case.levels.iter().find(|(key, _)| key.ends_with("offset")).unwrap();
        level.parse::<Span>().unwrap()
    };
    let of = |variant: &str| -> Vec<&Case> {
        scenario.cases.iter().filter(|case| case.levels[0].1 == variant).collect()
    };
    for (variant, phases, is_modelled) in [
        ("reno", 20, true),
        ("cubic", 20, true),
        ("westwood", 20, true),
        ("windows-7", 20, true),
        ("osx-10.7", 20, true),
        ("kernel-reno", 5, false),
        ("kernel-cubic", 5, false),
    ] {
        let cases = of(variant);
        assert_eq!(cases.len(), phases, "{variant}");
        assert!(cases.iter().all(|case| case.is_virtual() == is_modelled), "{variant}");
        let step = Span::from_secs(5) / phases as u64;
        assert!(cases.windows(2).all(|it| offset(it[1]) == offset(it[0]) + step), "{variant}");
    }
    let [forward, _] = scenario.cases[2].links().unwrap();
    assert_eq!(
        forward.describe(),
        [
            "Bottleneck 5.3 Mbit/s, drop-tail queue 512 packets.",
            "All packets are dropped for 200 ms every 5 s, first at 550 ms.",
        ]
    );
    let claims: Vec<String> = scenario.expects.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(claims.join("\n"));
    // Each claim about types names phases, holds in each, or is about all of them together.
    let about_types = scenario.expects.iter().filter(|it| it.metric.starts_with("episode"));
    let count = |claim: &Expectation| claim.cases.len();
    let counts: Vec<(usize, bool)> =
        about_types.map(|claim| (count(claim), claim.over.is_some())).collect();
    let (pooled, single) = (true, false);
    assert_eq!(
        counts,
        [
            (3, single),
            (1, single),
            (6, single),
            (19, single),
            (10, pooled),
            (70, pooled),
            (20, pooled),
            (70, single),
            (70, single),
            (20, single),
            (4, single),
            (20, pooled),
            (4, single),
            (2, single),
        ]
    );
}

#[test]
fn named_levels_set_several_keys() {
    let scenario = small(
        r#"[matrix]
"path.rate" = ["8 Mbit/s", "9 Mbit/s"]
[matrix.variant]
old = { "client.stack" = "model:netburner", "client.model.sending.segments" = 9 }
new = { "path.delay" = "7 ms" }
[[expect]]
claim = "old is slower"
where = { variant = ["old"] }
relative_to = { variant = "new" }
metric = "transfer_time"
at_least = 1.5
"#,
    );
    assert_eq!(names(&scenario), ["8Mbit-s_old", "8Mbit-s_new", "9Mbit-s_old", "9Mbit-s_new"]);
    let [old, new] = [&scenario.cases[2], &scenario.cases[3]];
    assert_eq!(old.levels[1], ("variant".into(), "old".into()));
    assert_eq!(old.client.stack.to_string(), "model:netburner");
    let model = old.client.model.applied_to(old.client.profile()).unwrap();
    assert_eq!(model.sending.segments, Some(9));
    assert!(!new.is_virtual() && new.client.model.is_empty());
    assert_ne!(new.path, old.path);
    let claim = &scenario.expects[0];
    assert_eq!((claim.cases.as_slice(), claim.baselines.as_slice()), (&[0, 2][..], &[1, 3][..]));
    assert_eq!(claim.to_string(), "transfer_time ÷ that of the baseline at least 1.5 times");
}

#[test]
fn selected_cases_keep_their_claims() {
    let source = r#"
title = "t"
[path]
[workload]
upload = "1 MB"
[matrix]
"client.socket.congestion" = ["reno", "cubic"]
"path.delay" = ["1 ms", "9 ms"]
[[compare]]
factor = "path.delay"
[[compare]]
factor = "client.socket.congestion"
[[expect]]
claim    = "of each"
metric   = "goodput"
at_least = "1 kbit/s"
[[expect]]
claim       = "of one against another"
where       = { "path.delay" = "9 ms" }
relative_to = { "path.delay" = "1 ms" }
metric      = "goodput"
at_most     = 1
"#;
    let scenario = || Scenario::parse(source, "t").unwrap();
    assert_eq!(scenario().expects[1].baselines, [0, 2]);
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let some = scenario().only(&names);
        let cases = some.cases.iter().map(|case| case.name.clone()).collect::<Vec<_>>();
        assert_eq!(cases, names);
        let compared = some.compares.iter().map(|it| it.factor.clone()).collect::<Vec<_>>();
        let claims = some.expects.iter().map(|it| (it.cases.clone(), it.baselines.clone()));
        (claims.collect::<Vec<_>>(), compared)
    };
    let (claims, compared) = of(&["cubic_1ms", "cubic_9ms"]);
    assert_eq!(claims, [(vec![0, 1], vec![]), (vec![1], vec![0])]);
    assert_eq!(compared, ["path.delay"]);
    let (claims, compared) = of(&["reno_9ms"]);
    assert_eq!((claims, compared.len()), (vec![(vec![0], vec![])], 0));
}

/// The order of a block does not depend on where a run begins.
#[test]
fn single_trial_keeps_its_place() {
    let source = "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
                  \"path.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n[repeat]\ntrials = 4\n";
    let whole = Scenario::parse(source, "t").unwrap();
    let last = Scenario { first: 4, ..whole.clone() };
    assert_eq!(last.trial_order(7), whole.trial_order(7)[9..]);
}
