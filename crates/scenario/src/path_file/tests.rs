use tcplab_units::Instant;

use super::*;

#[test]
fn every_preset_is_read_and_documented() {
    for (name, source) in presets() {
        let preset = PathFile::parse(source, name, &mut no_files)
            .unwrap_or_else(|error| panic!("{name}: {error}, line {}", error.line()));
        assert!(preset.title.is_some_and(|it| it.len() > 20), "{name} says what it is");
        assert!(preset.reference.is_some_and(|it| it.len() > 40), "{name} names its sources");
        assert_ne!(preset.path, PathSpec::default(), "{name}");
    }
}

/// Successive round trips differ by the jitter of both packets and both directions: normal with
/// standard deviation 2σ, whose mean magnitude is 2σ·√(2/π).
#[test]
fn jitter_of_leo_satellite_is_that_of_its_reference() {
    let file = PathFile::preset("leo-satellite").unwrap();
    assert!(file.reference.unwrap().contains("jitter of 6.7 ms on average"));
    let mut squares = 0.0;
    for direction in Direction::BOTH {
        let link = file.path.link(direction).unwrap();
        let first = link.outlook(Instant::from_nanos(1), 1, 1).moments[0];
        // 99 % of a standard normal distribution lie below this.
        let sigma = (first.most - first.delay).as_millis_f64() / 2.326_347_874;
        squares += 2.0 * sigma * sigma;
    }
    let mean = (squares * 2.0 / std::f64::consts::PI).sqrt();
    assert!((mean - 6.7).abs() < 0.01, "{mean}");
}

fn parse(source: &str) -> Result<PathFile, ScenarioError> {
    let mut read = |name: &str| match name {
        "up" => Ok(b"0\n5\n10\n".to_vec()),
        "hole" => Ok(b"0\n5\n3\n".to_vec()),
        _ => Err(format!("there is no file `{name}`")),
    };
    PathFile::parse(source, "example", &mut read)
}

#[test]
fn keys_replace_those_of_preset() {
    let file = parse("preset = \"dsl-25\"\ndelay = \"5 ms\"\nforward = { rate = \"1 Mbit/s\" }");
    let path = file.unwrap().path;
    let words = |direction| path.link(direction).unwrap().describe().join(" ");
    assert_eq!(
        words(Direction::Forward),
        "Bottleneck 1 Mbit/s, drop-tail queue 256 kB. Delay 5 ms."
    );
    assert_eq!(
        words(Direction::Reverse),
        "Bottleneck 25 Mbit/s, drop-tail queue 512 kB. Delay 5 ms."
    );
    // A key for both directions takes the place of the preset's for each.
    let path = parse("preset = \"dsl-25\"\nrate = \"2 Mbit/s\"").unwrap().path;
    let plan = path.link(Direction::Reverse).unwrap().describe().join(" ");
    assert!(plan.starts_with("Bottleneck 2 Mbit/s, drop-tail queue 512 kB"), "{plan}");
}

#[test]
fn path_of_scenario_is_read_with_its_files() {
    let scenario =
        "title = \"x\"\n[path]\nrate = { trace = \"up\" }\n[workload]\nupload = \"1 MB\"";
    let file = parse(scenario).unwrap();
    assert_eq!(file.title.as_deref(), Some("x"));
    let json = serde_json::to_string(&file.path).unwrap();
    assert!(json.contains("[0,5,10]"), "{json}");
}

#[test]
fn mistake_is_reported_with_its_line() {
    for (source, line, message) in [
        ("delay = \"5 ms\"\nrat = \"1 Mbit/s\"", 2, "unknown key `rat`"),
        ("preset = \"dsl\"", 1, "unknown preset `dsl`"),
        ("delay = \"5 ms\"\nrate = { trace = \"none\" }", 2, "there is no file `none`"),
        (
            "delay = \"5 ms\"\nrate = { trace = \"hole\" }",
            2,
            "the trace `hole`, line 3: is less than the one before: times do not fall",
        ),
        ("title = 5", 1, "`title` must be a text"),
        ("[[stages]]\nrate = \"1 Mbit/s\"\n[[stages]]\nrate = \"0 bit/s\"", 4, "the rate is zero"),
        ("rate = \"1 Mbit/s\"\nqueue = \"2 B\"", 2, "a queue of 2 B cannot hold a packet"),
    ] {
        let error = parse(source).unwrap_err();
        assert_eq!(error.line(), line, "{source}: {error}");
        assert!(error.to_string().starts_with(message), "{source}: {error}");
    }
}

fn overridden(source: &str, overrides: &[&str]) -> Result<String, (usize, String)> {
    let overrides: Vec<String> = overrides.iter().map(|&one| one.into()).collect();
    PathFile::parse_with(source, "example", &overrides, &mut no_files)
        .map(|file| serde_json::to_string(&file.path).unwrap())
        .map_err(|error| (error.line(), error.to_string()))
}

#[test]
fn overrides_are_toml_or_bare_words() {
    let slow = "rate = \"1 Mbit/s\"
forward = { loss = \"1 %\", delay = \"1 ms\" }";
    let both = "forward = { rate = \"1 Mbit/s\", queue = \"9 packets\" }";
    for (source, overrides, expected) in [
        ("", &["rate=5 Mbit/s"][..], r#"{"rate":"5 Mbit/s"}"#),
        ("", &["rate = \"5 Mbit/s\"", "delay=2 ms"], r#"{"rate":"5 Mbit/s","delay":"2 ms"}"#),
        ("", &["forward.rate=5 Mbit/s"], r#"{"forward":{"rate":"5 Mbit/s"}}"#),
        // The last one wins.
        ("", &["delay=1 ms", "delay=2 ms"], r#"{"delay":"2 ms"}"#),
        (
            slow,
            &["rate=2 Mbit/s", "forward.delay=2 ms"],
            r#"{"rate":"2 Mbit/s","forward":{"delay":"2 ms","loss":"1 %"}}"#,
        ),
        // `rtt` replaces the file's `delay`.
        ("delay = \"1 ms\"", &["rtt=40 ms"], r#"{"delay":"20 ms"}"#),
        ("rtt = \"40 ms\"", &["delay=1 ms"], r#"{"delay":"1 ms"}"#),
        // Overrides stand beside one another as in a file, in any order.
        (
            "",
            &["forward.delay=2 ms", "delay=1 ms"],
            r#"{"delay":"1 ms","forward":{"delay":"2 ms"}}"#,
        ),
        // A key of both directions replaces one of a single direction.
        (both, &["rate=3 Mbit/s"], r#"{"rate":"3 Mbit/s","forward":{"queue":"9 packets"}}"#),
        (
            "title = \"x\"\n[path]\nrate = \"1 Mbit/s\"\n[workload]\nupload = \"1 MB\"",
            &["delay=1 ms"],
            r#"{"rate":"1 Mbit/s","delay":"1 ms"}"#,
        ),
    ] {
        assert_eq!(overridden(source, overrides), Ok(expected.into()), "{source} {overrides:?}");
    }
}

#[test]
fn wrong_override_is_reported_with_its_line() {
    for (overrides, line, message) in [
        (&["delay=1 ms", "rat=5 Mbit/s"][..], 3, "unknown key `rat`"),
        (&["rate=5 parsecs"], 2, "`parsecs` is not a unit"),
        (&["rate"], 2, "invalid TOML"),
        (&["queue=0 packets"], 2, "packet"),
        (&["a b=5"], 2, "invalid TOML"),
        (&["rtt=40 ms", "delay=1 ms"], 3, "`rtt`"),
        (&["delay=1 ms", "rtt=40 ms"], 2, "`rtt`"),
    ] {
        let (at, said) = overridden("rate = \"1 Mbit/s\"", overrides).unwrap_err();
        assert!(said.contains(message), "{overrides:?}: {said}");
        assert_eq!(at, line, "{overrides:?}: {said}");
    }
    // A mistake in the file keeps its line.
    let (at, said) = overridden("\nrat = 1", &["delay=1 ms"]).unwrap_err();
    assert_eq!((at, said.contains("`rat`")), (2, true), "{said}");
}

proptest::proptest! {
    #[test]
    fn any_override_is_read_or_refused(text in ".{0,40}") {
        let _ = overridden("rate = \"1 Mbit/s\"", &[&text]);
    }
}
