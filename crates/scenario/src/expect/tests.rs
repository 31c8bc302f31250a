use super::*;
use crate::Scenario;

/// The claim of a scenario whose only `[[expect]]` has these lines.
fn claim(lines: &str) -> Expectation {
    let source = format!(
        "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[[expect]]\nclaim = \"c\"\n{lines}"
    );
    Scenario::parse(&source, "test").unwrap().expects.remove(0)
}

fn numbers(values: &[f64]) -> Vec<Value> {
    values.iter().map(|n| Value::Number(*n)).collect()
}

#[test]
fn quantity_is_converted_to_unit_of_metric() {
    for (lines, expected) in [
        ("metric = 'transfer_time'\nat_most = '2 min'", "transfer_time at most 120 s"),
        ("metric = 'mean_rtt'\nat_most = '0.5 s'", "mean_rtt at most 500 ms"),
        ("metric = 'goodput'\nat_least = '4000 kbit/s'", "goodput at least 4 Mbit/s"),
        ("metric = 'max_window'\nequals = '450 kB'", "max_window equals 450000 bytes"),
        ("metric = 'episodes'\none_of = [3, 4]", "episodes is one of 3, 4"),
        ("metric = 'episode.lost'\nat_least = 88", "episode.lost at least 88 segments"),
        ("metric = 'payload_intact'\nequals = true", "payload_intact equals true"),
        (
            "metric = 'goodput'\nof = 'mean'\nat_least = '4 Mbit/s'\nat_most = '5 Mbit/s'",
            "mean of goodput at least 4 Mbit/s and at most 5 Mbit/s",
        ),
        (
            "metric = 'episode.type'\nexcludes = ['intermittent']",
            "episode.type excludes \"intermittent\"",
        ),
    ] {
        assert_eq!(claim(lines).to_string(), expected);
    }
}

#[test]
fn claim_over_a_factor_names_it() {
    let of = |over: &str| {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"path.delay\" = [\"1 ms\", \"2 ms\"]\n[[expect]]\nclaim = \"c\"\nover = \"{over}\"\n\
             metric = \"goodput\"\nof = \"mean\"\nat_least = \"1 Mbit/s\""
        );
        Scenario::parse(&source, "test")
    };
    let claim = of("path.delay").unwrap().expects.remove(0);
    assert_eq!(claim.to_string(), "mean of goodput at least 1 Mbit/s, over path.delay");
    assert_eq!((claim.over.as_deref(), claim.cases), (Some("path.delay"), vec![0, 1]));
    let error = of("path.rate").unwrap_err().to_string();
    assert!(error.contains("`path.rate`"), "{error}");
}

#[test]
fn check_passes_or_fails() {
    let two_or_three = numbers(&[2.0, 3.0]);
    for (check, values, held) in [
        (Check::AtLeast(2.0), numbers(&[2.0, 3.0]), true),
        (Check::AtLeast(2.0), numbers(&[1.9, 3.0]), false),
        (Check::AtMost(3.0), numbers(&[2.0, 3.0]), true),
        (Check::AtMost(3.0), numbers(&[f64::NAN]), false),
        (Check::Equals(Value::Number(2.0)), numbers(&[2.0, 2.0]), true),
        (Check::Equals(Value::Number(2.0)), numbers(&[2.0, 3.0]), false),
        (Check::OneOf(two_or_three.clone()), numbers(&[3.0, 3.0]), true),
        (Check::OneOf(two_or_three.clone()), numbers(&[3.0, 4.0]), false),
        (Check::Includes(two_or_three.clone()), numbers(&[3.0, 4.0, 2.0]), true),
        (Check::Includes(two_or_three.clone()), numbers(&[3.0, 4.0]), false),
        (Check::Excludes(two_or_three.clone()), numbers(&[4.0]), true),
        (Check::Excludes(two_or_three.clone()), numbers(&[4.0, 3.0]), false),
        // Of nothing, only absence is proved.
        (Check::AtLeast(2.0), vec![], false),
        (Check::AtMost(2.0), vec![], false),
        (Check::Equals(Value::Number(2.0)), vec![], false),
        (Check::OneOf(two_or_three.clone()), vec![], false),
        (Check::Includes(two_or_three.clone()), vec![], false),
        (Check::Excludes(two_or_three), vec![], true),
        (Check::AtLeast(2.0), vec![Value::Text("two".into())], false),
    ] {
        assert_eq!(check.holds(&values), held, "{check:?} of {values:?}");
    }
}

#[test]
fn claim_survives_serialisation() {
    let claim = claim("metric = 'episode.type'\nincludes = ['with time lag']");
    let json = serde_json::to_string(&claim).unwrap();
    assert_eq!(serde_json::from_str::<Expectation>(&json).unwrap(), claim);
}
