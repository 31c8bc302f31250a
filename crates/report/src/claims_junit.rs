//! JUnit XML of a run: a test case for each claim, as test runners read it.

use std::collections::BTreeMap;

use tcplab_plot::escape;
use tcplab_results::{Case, Claim, ClaimCounts, ClaimOutcome, Run};

/// The claims of a run as a test suite. A claim that is not judged counts as skipped, or as failed
/// where a decision is required; a trial that failed on every attempt as an error.
pub fn claims_junit(run: &Run, requires_decision: bool) -> String {
    let ClaimCounts { failed, not_judged, .. } = ClaimCounts::of(&run.claims);
    let (failed, not_judged) =
        if requires_decision { (failed + not_judged, 0) } else { (failed, not_judged) };
    let failures: Vec<(String, &str)> = run
        .cases
        .iter()
        .flat_map(|case| case.failures.iter().map(|it| (named(&case.name, it.number), &*it.reason)))
        .collect();
    let counts = format!(
        r#"tests="{}" failures="{failed}" errors="{}" skipped="{not_judged}""#,
        run.claims.len() + failures.len(),
        failures.len(),
    );
    let name = attribute(&run.title);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tcplab run\" {counts}>\n  \
         <testsuite name=\"{name}\" {counts}>\n"
    );
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in &run.claims {
        let count = seen.entry(&claim.claim).or_default();
        *count += 1;
        // Test runners take tests of one name for one test.
        let name = match *count {
            1 => claim.claim.clone(),
            nth => format!("{} ({nth})", claim.claim),
        };
        xml += &test_case("claims", &name, &outcome(claim, &run.cases, requires_decision));
    }
    for (trial, reason) in failures {
        let error = format!("<error message=\"{}\"/>", attribute(reason));
        xml += &test_case("trials", &trial, &error);
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// A trial among all of the run.
fn named(case: &str, number: u32) -> String {
    format!("{case}, trial {number}")
}

fn test_case(class: &str, name: &str, inside: &str) -> String {
    let name = attribute(name);
    format!(
        "    <testcase classname=\"tcplab.{class}\" name=\"{name}\" time=\"0\">\n      {inside}\n    \
         </testcase>\n"
    )
}

fn outcome(claim: &Claim, cases: &[Case], requires_decision: bool) -> String {
    let found = format!("{}: {}", claim.check, claim.found);
    let shortfall = claim.shortfall(cases).unwrap_or_else(|| claim.check.clone());
    match claim.outcome() {
        ClaimOutcome::Passed => format!("<system-out>{}</system-out>", escape(&found)),
        ClaimOutcome::NotJudged if !requires_decision => {
            format!("<skipped message=\"{}\"/>", attribute(&shortfall))
        }
        ClaimOutcome::Failed | ClaimOutcome::NotJudged => format!(
            "<failure type=\"claim\" message=\"{}\">{}</failure>",
            attribute(&shortfall),
            escape(&found)
        ),
    }
}

/// An attribute cannot hold line breaks.
pub(crate) fn attribute(text: &str) -> String {
    escape(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}
