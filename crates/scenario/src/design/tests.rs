use std::collections::BTreeMap;

use crate::{Case, Scenario};

const HEAD: &str = "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n";
const TWO: &str = "\"client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
                   \"path.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n";

fn parse(rest: &str) -> Result<Scenario, String> {
    Scenario::parse(&format!("{HEAD}{rest}"), "t").map_err(|error| error.to_string())
}

fn names(rest: &str) -> Vec<String> {
    parse(rest).unwrap().cases.into_iter().map(|case| case.name).collect()
}

/// How often each level of each factor is there.
fn counts(cases: &[Case]) -> BTreeMap<(String, String), usize> {
    cases.iter().flat_map(|case| case.levels.clone()).fold(BTreeMap::new(), |mut counts, level| {
        *counts.entry(level).or_default() += 1;
        counts
    })
}

#[test]
fn paired_keys_advance_together() {
    let three = format!("{TWO}\"path.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]\n");
    let paired = names(&format!("{three}[design]\npairs = [[\"path.rate\", \"path.delay\"]]"));
    assert_eq!(
        paired,
        [
            "reno_1ms_1Mbit-s",
            "reno_2ms_2Mbit-s",
            "reno_3ms_3Mbit-s",
            "cubic_1ms_1Mbit-s",
            "cubic_2ms_2Mbit-s",
            "cubic_3ms_3Mbit-s",
        ]
    );
}

#[test]
fn excluded_combination_is_no_case() {
    for (exclude, expected) in [
        (
            r#"{ "client.socket.congestion" = "reno", "path.delay" = ["1 ms", "3 ms"] }"#,
            &["reno_2ms", "cubic_1ms", "cubic_2ms", "cubic_3ms"][..],
        ),
        (r#"{ "path.delay" = "2 ms" }"#, &["reno_1ms", "reno_3ms", "cubic_1ms", "cubic_3ms"]),
        (
            r#"{ "path.delay" = ["1 ms", "2 ms"] }, { "client.socket.congestion" = "cubic" }"#,
            &["reno_3ms"],
        ),
    ] {
        assert_eq!(names(&format!("{TWO}[design]\nexclude = [{exclude}]")), expected, "{exclude}");
    }
}

#[test]
fn case_hash_does_not_depend_on_design() {
    let all = parse(TWO).unwrap();
    let sampled = parse(&format!("{TWO}[design]\nsample = {{ random = 2 }}")).unwrap();
    for case in &sampled.cases {
        assert!(all.cases.contains(case), "{}", case.name);
    }
    assert_eq!(all.design, "all 6 combinations");
    assert_eq!(sampled.design, "a random sample of 2 of 6 combinations, seed 1");
}

/// Twelve factors of six levels: two thousand million combinations.
fn large() -> String {
    let letters = "abcdefghijkl".chars();
    let levels = (1..=6).map(|n| format!("l{n} = {{ \"limits.trial\" = \"{n} s\" }}"));
    let levels = levels.collect::<Vec<_>>().join(", ");
    let set = |letter: char| {
        // Each sets a key of its own, so that all can be varied together.
        let own = format!("client.sysctl.'net.ipv4.{letter}'");
        format!("{letter} = {{ {} }}\n", levels.replace("limits.trial", &own).replace(" s\"", "\""))
    };
    letters.map(set).collect()
}

#[test]
fn latin_hypercube_balances_levels() {
    for wanted in [12, 40, 100] {
        let drawn = |seed: u32| {
            let sample = format!("sample = {{ latin_hypercube = {wanted}, seed = {seed} }}");
            parse(&format!("{}[design]\n{sample}", large())).unwrap()
        };
        let sample = drawn(1);
        assert_eq!(sample.cases.len(), wanted);
        let counts = counts(&sample.cases);
        assert_eq!(counts.len(), 12 * 6);
        let even = [wanted / 6, wanted.div_ceil(6)];
        assert!(counts.values().all(|count| even.contains(count)), "{counts:?}");
        assert_eq!(sample, drawn(1), "the same file gives the same sample");
        assert_ne!(sample.cases, drawn(2).cases, "another seed draws another");
    }
}

#[test]
fn sample_has_distinct_cases_without_excluded() {
    // Nearly all combinations of a small space, so that draws must be repaired.
    let exclude = r#"exclude = [{ "client.socket.congestion" = "reno", "path.delay" = "1 ms" }]"#;
    for (sample, expected) in [("latin_hypercube = 4", 4), ("random = 5", 5), ("random = 1", 1)] {
        let drawn = names(&format!("{TWO}[design]\n{exclude}\nsample = {{ {sample} }}"));
        assert_eq!(drawn.len(), expected, "{sample}");
        assert!(!drawn.contains(&"reno_1ms".to_owned()), "{sample}: {drawn:?}");
        let distinct: std::collections::BTreeSet<_> = drawn.iter().collect();
        assert_eq!(distinct.len(), expected, "{sample}: {drawn:?}");
    }
    let source = format!("{}[design]\nsample = {{ random = 1000 }}", large());
    assert_eq!(parse(&source).unwrap().cases.len(), 1000);
}

#[test]
fn claim_without_case_in_design_is_refused() {
    let claim = |select: &str| {
        format!("[[expect]]\nclaim = \"c\"\nmetric = \"goodput\"\nat_least = {select}")
    };
    let exclude = r#"exclude = [{ "client.socket.congestion" = "reno", "path.delay" = "1 ms" }]"#;
    let scenario = |rest: &str| parse(&format!("{TWO}[design]\n{exclude}\n{}", claim(rest)));
    // reno 2, reno 3, cubic 1, cubic 2, cubic 3
    let against = "1.1\nrelative_to = { \"client.socket.congestion\" = \"reno\" }\n\
                   where = { \"client.socket.congestion\" = \"cubic\" }";
    let expect = scenario(against).unwrap().expects.remove(0);
    assert_eq!((expect.cases, expect.baselines), (vec![3, 4], vec![0, 1]));
    for (rest, why) in [
        (
            "\"1 Mbit/s\"\nwhere = { \"client.socket.congestion\" = \"reno\", \"path.delay\" = \"1 ms\" }",
            "the claim applies to no case",
        ),
        (
            "1.1\nrelative_to = { \"client.socket.congestion\" = \"reno\" }\n\
             where = { \"path.delay\" = \"1 ms\" }",
            "nothing to compare with",
        ),
    ] {
        let error = scenario(rest).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    // What is compared across a pair is the other pair.
    let paired = "\"path.delay\" = [\"1 ms\", \"2 ms\"]\n\"path.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\
                  [design]\npairs = [[\"path.delay\", \"path.rate\"]]\n";
    let claim = claim("1.1\nrelative_to = { \"path.delay\" = \"1 ms\" }");
    let expect = parse(&format!("{paired}{claim}")).unwrap().expects.remove(0);
    assert_eq!((expect.cases, expect.baselines), (vec![0, 1], vec![0, 0]));
}

#[test]
fn plot_ignores_factor_paired_with_axis() {
    let paired = format!(
        "{TWO}\"path.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]\n\
         [design]\npairs = [[\"path.delay\", \"path.rate\"]]\n"
    );
    let plots = parse(&paired).unwrap().plots;
    assert_eq!(plots[0].by.as_deref(), Some("client.socket.congestion"));
    let result = parse(&format!("{paired}[[plot]]\nmetric = \"lost\"\nby = \"path.rate\"\n"));
    assert!(result.unwrap_err().contains("both the axis and the lines"));
}

/// docs/designs.md shows parts of a file; each of them can be read.
#[test]
fn examples_of_page_are_valid() {
    let page = include_str!("../../../../docs/designs.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert!(examples.len() >= 6, "{}", examples.len());
    for example in examples {
        let (example, _) = example.split_once("```").unwrap();
        let matrix = if example.contains("[matrix]") { "" } else { "[matrix]\n" };
        let varied = if matrix.is_empty() { "" } else { TWO };
        let head = HEAD.strip_suffix("[matrix]\n").unwrap();
        let read = Scenario::parse(&format!("{head}{matrix}{varied}{example}"), "page");
        assert!(read.is_ok(), "{example}\n{}", read.unwrap_err());
    }
}
