use super::*;

#[test]
fn transfer_that_cannot_end_in_time_is_warned_of() {
    for (workload, expected) in [
        ("download = \"400 MB\"", Some("1 of 2 cases cannot end in time: 400 MB take about 9 min")),
        ("download = \"1 GB\"", Some("2 of 2 cases cannot end in time: 1.00 GB take about 22 min")),
        // The path's rate is that of the direction in which the data go.
        ("upload = \"400 MB\"", None),
        ("download = \"80 MB\"", None),
    ] {
        let source = format!(
            "title = \"t\"\n[path]\nforward = {{ rate = \"1 Gbit/s\" }}\n[workload]\n{workload}\n\
             [matrix]\n\"path.reverse.rate\" = [\"6 Mbit/s\", \"30 Mbit/s\"]\n"
        );
        let found = overdue(&Scenario::parse(&source, "t").unwrap().cases);
        let begins = |it: &String| expected.is_some_and(|expected| it.starts_with(expected));
        assert_eq!(found.as_ref().map(begins), expected.map(|_| true), "{found:?}");
    }
}

#[test]
fn round_trip_above_the_limit_is_warned_of() {
    let found = |delay: &str| {
        let source = format!(
            "title = \"t\"\n[path]\ndelay = \"{delay}\"\n[workload]\nupload = \"1 MB\"\n\
             [limits]\ntrial = \"2 s\"\n"
        );
        overdue(&Scenario::parse(&source, "t").unwrap().cases)
    };
    assert_eq!(
        found("10 h").as_deref(),
        Some(
            "1 of 1 case cannot end in time: a round trip takes 20.0 h, and a trial may take 2 s; \
             raise `[limits] trial`"
        )
    );
    assert_eq!(found("1 s"), None);
}

#[test]
fn rate_below_a_bit_per_second_is_warned_of() {
    for rate in [
        "{ opportunities = [18446744073709] }",
        "{ start = \"0 bit/s\", steps = [{ at = \"1 h\", to = \"1 Mbit/s\" }] }",
    ] {
        let source =
            format!("title = \"t\"\n[path]\nrate = {rate}\n[workload]\nupload = \"1 kB\"\n");
        assert_eq!(
            overdue(&Scenario::parse(&source, "t").unwrap().cases).as_deref(),
            Some(
                "1 of 1 case cannot end in time: 1.00 kB do not pass at less than 1 bit/s, and a \
                 trial may take 2 min; raise `[limits] trial`"
            )
        );
    }
}

/// Where flows exist `[workload]` opens no connection, and nobody waits for the background.
#[test]
fn flows_that_a_trial_waits_for_are_warned_of() {
    const WITHIN: &str = "workload = { upload = \"10 kB\" }";
    const BEYOND: &str = "workload = { upload = \"30 MB\" }";
    for (workload, flows, expected) in [
        ("upload = \"10 GB\"", format!("[flow.a]\n{WITHIN}\n[flow.b]\n{WITHIN}"), None),
        ("upload = \"10 kB\"", format!("[flow.a]\n[flow.b]\n{BEYOND}"), Some("30.0 MB take")),
        // Together, and each direction by itself.
        ("upload = \"9 MB\"", "[flow.a]\ncount = 2\n[flow.b]".into(), Some("27.0 MB take")),
        (
            "upload = \"20 MB\"",
            "[flow.a]\n[flow.b]\nworkload = { download = \"20 MB\" }".into(),
            None,
        ),
        ("upload = \"10 kB\"", format!("[flow.a]\n[flow.b]\nbackground = true\n{BEYOND}"), None),
        (
            "upload = \"10 kB\"",
            "[flow.a]\n[flow.b]\nlasting = \"9 s\"\ntraffic.bulk = \"upload\"".into(),
            None,
        ),
        (
            "upload = \"10 kB\"",
            "[flow.near]\n[flow.far]\ndelay = \"15 s\"".into(),
            Some("a round trip takes 30 s"),
        ),
        ("upload = \"10 kB\"", "[flow.near]\n[flow.far]\ndelay = \"5 s\"".into(), None),
    ] {
        let source = format!(
            "title = \"t\"\n[path]\nrate = \"10 Mbit/s\"\n[workload]\n{workload}\n\
             [limits]\ntrial = \"20 s\"\n{flows}\n"
        );
        let found = overdue(&Scenario::parse(&source, "t").unwrap().cases);
        let says = |it: &String| expected.is_some_and(|expected| it.contains(expected));
        assert_eq!(found.as_ref().map(says), expected.map(|_| true), "{source}{found:?}");
    }
}

#[test]
fn model_that_was_chosen_needs_no_kernel_built() {
    let source = "title = \"t\"\n[path]\ndelay = \"1 ms\"\n[workload]\nupload = \"1 B\"\n\
                  [client]\nstack = \"linux-newest\"\n";
    let cases = Scenario::parse(source, "t").unwrap().cases;
    let [missing, chosen] = [false, true].map(|is_chosen| stood_in(&cases, is_chosen).unwrap());
    assert!(missing.contains("as no kernel is built") && missing.contains("build one with"));
    assert_eq!(
        chosen,
        "in 1 of 1 case a model stands for `linux-newest`: what is claimed of a kernel is \
         claimed of the model"
    );
}

/// Probes, and trains of the rate each way: all that is sent is waited for.
#[test]
fn time_of_verifying_has_the_time_on_the_path() {
    let waits = |json: &str| {
        let path: PathSpec = serde_json::from_str(json).unwrap();
        verify::waits(&path, 1, LASTING).unwrap()
    };
    assert_eq!(waits(r#"{ "delay": "3 s" }"#), Span::from_secs(3));
    let bottleneck = r#"{ "rate": "12 Mbit/s", "delay": "3 s" }"#;
    assert_eq!(waits(bottleneck), Span::from_millis(3 * 3_001));
    for too_slow in [r#"{ "delay": "10 h" }"#, r#"{ "rate": "1 bit/s" }"#] {
        assert_eq!(waits(too_slow), Span::ZERO, "it is not measured");
    }
}

#[test]
fn model_in_place_of_the_newest_kernel_is_warned_of() {
    let of = |stacks: &str| {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"client.stack\" = [{stacks}]\n"
        );
        stood_in(&Scenario::parse(&source, "t").unwrap().cases, false)
    };
    assert_eq!(of("\"model:linux-6.18\", \"linux\""), None);
    let found = of("\"model:linux-6.18\", \"linux-newest\"").unwrap();
    assert!(found.starts_with("in 1 of 2 cases a model stands for `linux-newest`"), "{found}");
}
