//! JUnit XML: a test case for each metric of each case, as test runners read it.

use tcplab_plot::escape;
use tcplab_results::comparison::{Comparison, Missing, Outcome, Row};

use crate::claims_junit::attribute;
use crate::compared::{change, estimate, good, interval, probability, sentence, trials, verdict};

/// The comparison as a test suite. What `fails` picks is a failure; what is inconclusive otherwise
/// counts as skipped; where nothing could be compared, that is an error.
pub fn junit(found: &Comparison, fails: impl Fn(&Outcome) -> bool) -> String {
    let failures = found.count(&fails);
    let skipped = found.count(|verdict| is_skipped(*verdict, &fails));
    // Where nothing could be compared that is a test case by itself: skipped ones are no error.
    let errors = usize::from(found.rows.is_empty());
    let counts = format!(
        r#"tests="{}" failures="{failures}" errors="{errors}" skipped="{skipped}""#,
        found.total() + errors
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites name=\"tcplab compare\" {counts}>\n");
    xml += &format!("  <testsuite name=\"tcplab compare\" {counts}>\n    <properties>\n");
    for (name, value) in [
        ("A", found.sides[0].label.as_str()),
        ("B", found.sides[1].label.as_str()),
        ("verdict", &sentence(found)),
        ("tested", &found.family),
    ] {
        xml += &format!("      <property name=\"{name}\" value=\"{}\"/>\n", attribute(value));
    }
    xml += "    </properties>\n";
    if found.rows.is_empty() {
        let what = "nothing could be compared";
        xml += "    <testcase classname=\"tcplab.compare\" name=\"comparison\" time=\"0\">\n";
        xml += &format!("      <error type=\"nothing\" message=\"{what}\"/>\n    </testcase>\n");
    }
    for row in &found.rows {
        xml += &case(found, row, &fails);
    }
    for missing in &found.missing {
        xml += &missing_case(missing, &fails);
    }
    if !found.warnings.is_empty() {
        let text = escape(&found.warnings.join("\n")).into_owned();
        xml += &format!("    <system-err>{text}</system-err>\n");
    }
    xml += "  </testsuite>\n</testsuites>\n";
    xml
}

fn is_skipped(outcome: Outcome, fails: impl Fn(&Outcome) -> bool) -> bool {
    matches!(outcome, Outcome::Inconclusive { .. }) && !fails(&outcome)
}

fn case(found: &Comparison, row: &Row, fails: impl Fn(&Outcome) -> bool) -> String {
    let mut xml = begin(&row.case, &row.metric);
    let verdict_text = verdict(found, row);
    let text = details(found, row);
    if fails(&row.outcome) {
        xml += &format!(
            "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
            row.outcome.name(),
            attribute(&format!("{verdict_text}: {}", change(row))),
            escape(&text)
        );
    } else if is_skipped(row.outcome, &fails) {
        xml += &format!("      <skipped message=\"{}\"/>\n", attribute(&verdict_text));
        xml += &format!("      <system-out>{}</system-out>\n", escape(&text));
    } else {
        xml += &format!("      <system-out>{}</system-out>\n", escape(&text));
    }
    xml + "    </testcase>\n"
}

fn begin(case: &str, metric: &str) -> String {
    format!(
        "    <testcase classname=\"tcplab.compare.{}\" name=\"{}\" time=\"0\">\n",
        attribute(case),
        attribute(metric)
    )
}

/// What one side lacks.
fn missing_case(missing: &Missing, fails: impl Fn(&Outcome) -> bool) -> String {
    let why = attribute(&format!("{}: {}", Missing::OUTCOME.name(), missing.why));
    let how = if fails(&Missing::OUTCOME) {
        format!("<failure type=\"{}\" message=\"{why}\"/>", Missing::OUTCOME.name())
    } else {
        format!("<skipped message=\"{why}\"/>")
    };
    format!("{}      {how}\n    </testcase>\n", begin(&missing.case, &missing.metric))
}

fn details(found: &Comparison, row: &Row) -> String {
    format!(
        "{}: A {}, B {}, {} ({}); 95 % CI of the difference {}; p = {} (Holm), {} uncorrected; \
         {}; {}",
        verdict(found, row),
        estimate(row, 0),
        estimate(row, 1),
        change(row),
        good(row),
        interval(row),
        probability(row, row.p_corrected),
        probability(row, row.p),
        trials(row),
        format_args!("effect {:+.2}", row.effect),
    )
}
