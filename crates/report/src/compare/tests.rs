//! The text of synthetic comparisons, also with hostile names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tcplab_results::comparison::{
    Comparison, Estimator, Fact, Family, Missing, Outcome, Row, Side, Value,
};
use tcplab_scenario::Better;
use tcplab_scenario::Threshold;

use super::{
    CloseUp, captures, compare_page, compare_text, junit, markdown, pictures, sentence, tally,
};
use crate::compared::{change, interval, remark};

fn row(case: &str, medians: [f64; 2], outcome: Outcome) -> Row {
    let difference = medians[1] - medians[0];
    let is_sure = matches!(outcome, Outcome::Worse | Outcome::Better | Outcome::Different);
    Row {
        case: case.into(),
        metric: "transfer_time".into(),
        unit: "s".into(),
        better: Better::Lower,
        family: Family::Primary,
        is_ratio: medians[0] > 0.0,
        is_exact: false,
        is_paired: true,
        values: medians.map(|median| vec![median; 8]),
        telling: [1, 1],
        medians,
        median_intervals: [None, None],
        estimator: Estimator::Shift,
        difference,
        interval: Some((difference - 0.5, difference + 0.5)),
        p: 0.001,
        p_corrected: if is_sure { 0.004 } else { 0.4 },
        effect: difference.signum(),
        detectable: Some(0.7),
        margin: medians[0] * 0.05,
        threshold: Threshold::Share(0.05),
        outcome,
    }
}

fn comparison(rows: Vec<Row>) -> Comparison {
    let side = |label: &str| Side {
        label: label.into(),
        scenario: "a & b".into(),
        directory: PathBuf::from(label),
        started: "2026-01-01T00:00:00Z".into(),
        seed: 1,
        world: tcplab_results::RunWorld::Simulated,
    };
    Comparison {
        tcplab: "0".into(),
        sides: [side("runs/a"), side("runs/<b>")],
        by: None,
        metrics: vec!["transfer_time".into()],
        warnings: vec!["the scenarios differ: A has `x < 1`".into()],
        family: "transfer_time in 1 case: 1 test".into(),
        tests: 1,
        cases: Vec::new(),
        rows,
        missing: Vec::new(),
        is_over_cases: false,
    }
}

const INCONCLUSIVE: Outcome = Outcome::Inconclusive { more: 14, too_few: false };
const SAME: Outcome = Outcome::Equivalent { identical: false };

/// As the page and the terminal name it.
#[test]
fn figure_has_the_verdicts_of_the_table() {
    let identical = Outcome::Equivalent { identical: true };
    let rows = vec![row("reno", [1.0, 1.2], Outcome::Worse), row("cubic", [1.0, 1.0], identical)];
    let found = comparison(rows);
    let csv = pictures(&found)[0].table.csv();
    let verdicts: Vec<&str> =
        csv.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(verdicts, ["worse", "identical"], "{csv}");
    let text = compare_text(&found);
    assert!(verdicts.iter().all(|verdict| text.contains(verdict)), "{text}");
}

#[test]
fn sentence_counts_the_verdicts() {
    let identical = Outcome::Equivalent { identical: true };
    for (verdicts, expected) in [
        (&[identical][..], "B is identical to A in the one comparison."),
        (&[SAME, identical], "B is equivalent to A in all 2 comparisons."),
        (
            &[Outcome::Worse, Outcome::Better, SAME, INCONCLUSIVE],
            "B is worse than A in 1 of 4 comparisons; worst: transfer time of reno, +20.0 %. Others: \
             better in 1, equivalent in 1, inconclusive in 1.",
        ),
        (
            &[Outcome::Better, SAME],
            "B is better than A in 1 of 2 comparisons; largest: transfer time of reno, +20.0 %. \
             Others: equivalent in 1.",
        ),
        (
            &[INCONCLUSIVE, SAME],
            "Inconclusive in 1 of 2 comparisons, equivalent in 1. About 14 more trials needed for \
             transfer time of reno.",
        ),
    ] {
        let rows = verdicts.iter().map(|verdict| row("reno", [10.0, 12.0], *verdict)).collect();
        assert_eq!(sentence(&comparison(rows)), expected);
    }
}

/// Else the overview of one transfer shows another's packets.
#[test]
fn each_graph_of_transfers_has_its_own_id() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let capture = tcplab_capture::open(corpus.join("blackout.snd.pcap.zst")).unwrap();
    let trace = tcplab_trace::analyze(capture);
    let close = CloseUp {
        title: "reno, trial 1".into(),
        names: ["before".into(), "after".into()],
        connections: [&trace.connections[1]; 2],
        is_from_client: true,
        is_virtual: true,
    };
    let rows = vec![row("reno", [10.0, 12.0], Outcome::Worse)];
    let page = compare_page(&comparison(rows), &[close.clone(), close], Vec::new()).unwrap();
    let id = |part: &str| part.split('"').next().map(str::to_owned);
    let ids: Vec<String> = page.split(" id=\"").skip(1).filter_map(id).collect();
    let own: BTreeSet<&String> = ids.iter().collect();
    assert!(ids.len() >= 4 && own.len() == ids.len(), "{ids:?}");
    // The lead is a sentence with a number that stays with its unit.
    assert!(page.contains("+20.0\u{a0}%."));
}

#[test]
fn too_few_trials_are_inconclusive() {
    let few = Outcome::Inconclusive { more: 1, too_few: true };
    let mut row = row("reno", [10.0, 12.0], few);
    (row.values, row.interval) = ([vec![10.0; 5], vec![12.0; 5]], None);
    let text = compare_text(&comparison(vec![row]));
    assert!(text.contains("inconclusive: 5 pairs are too few; about 1 more needed"), "{text}");
    assert!(text.contains("too few trials"), "{text}");
}

#[test]
fn row_has_one_notation_and_precision() {
    let of = |medians: [f64; 2], low: f64, high: f64| {
        let mut row = row("reno", medians, INCONCLUSIVE);
        row.interval = Some((low, high));
        (change(&row), interval(&row))
    };
    for (row, expected) in [
        (of([10.0, 13.94], 0.53, 12.0), ("+39.4 %", "+5.3 % to +120.0 %")),
        (of([10.0, 10.05], 0.0, 1.94), ("+0.50 %", "0.00 % to +19.40 %")),
        (of([10.0, 25.0], 4.0, 30.0), ("2.5×", "1.4× to 4.0×")),
        (of([10.0, 130.0], -0.6, 190.0), ("13.00×", "0.94× to 20.00×")),
        (of([10.0, 130.0], 110.0, 140.0), ("13×", "12× to 15×")),
    ] {
        assert_eq!((row.0.as_str(), row.1.as_str()), expected);
    }
}

/// Of one trial nobody knows what chance does.
#[test]
fn one_equal_trial_is_not_called_identical() {
    let identical = Outcome::Equivalent { identical: true };
    let mut one = row("reno", [10.0, 10.0], identical);
    one.values = [vec![10.0], vec![10.0]];
    let found = comparison(vec![one]);
    assert_eq!(sentence(&found), "B is the same as A in the one trial, in the one comparison.");
    let text =
        compare_text(&found) + &markdown(&found) + &compare_page(&found, &[], Vec::new()).unwrap();
    assert!(text.contains("the same in the one trial: transfer time"), "{text}");
    assert!(!text.contains("identical"), "{text}");
}

#[test]
fn counts_have_their_change_in_every_table() {
    let mut lost = row("reno", [25.0, 1.0], Outcome::Better);
    (lost.metric, lost.unit, lost.is_ratio) = ("retransmissions".into(), "segments".into(), false);
    let found = comparison(vec![lost]);
    let page = compare_page(&found, &[], Vec::new()).unwrap();
    for text in [compare_text(&found), markdown(&found), page] {
        assert!(text.contains("−24 segments"), "{text}");
        assert!(!text.contains("| – |") && !text.contains("<td>–</td>"), "{text}");
    }
    let page = compare_page(&found, &[], Vec::new()).unwrap();
    assert!(page.contains("in per cent of A, of counts and shares, and where A is zero, in their"));
}

/// A difference has one text in both tables, and its interval stands beside the change.
#[test]
fn markdown_rounds_a_difference_as_its_sides() {
    let mut lost = row("reno", [39.5, 2.0], Outcome::Better);
    (lost.metric, lost.unit, lost.is_ratio) = ("retransmissions".into(), "segments".into(), false);
    lost.interval = Some((-60.0, -15.0));
    let text = markdown(&comparison(vec![lost, row("cubic", [10.0, 12.5], Outcome::Worse)]));
    let [shown, folded] = ["| reno | ", "| cubic | "].map(|case| {
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with(case)).collect();
        rows.join("\n")
    });
    assert_eq!(
        shown.matches("−37.50 segments | −60 segments to −15 segments |").count(),
        2,
        "{text}"
    );
    assert!(folded.contains("| 12.50 s | +25.0 % | +20.0 % to +30.0 % |"), "{text}");
    assert!(folded.contains("| 12.50 s | +2.500 s | +25.0 % | +20.0 % to +30.0 % |"), "{text}");
}

#[test]
fn small_margin_is_not_shown_as_zero() {
    let mut same = row("reno", [10.0, 10.0], Outcome::Equivalent { identical: false });
    for (share, text) in [
        (0.000_01, "0.001 %"),
        (0.05, "5 %"),
        (0.07, "7 %"),
        (0.012_5, "1.25 %"),
        (1.0 / 3.0, "33.333333333 %"),
    ] {
        same.threshold = Threshold::Share(share);
        let found = comparison(Vec::new());
        assert_eq!(crate::compared::verdict(&found, &same), format!("equivalent within {text}"));
    }
}

/// A service that runs checks obeys lines that begin so.
#[test]
fn names_begin_no_line() {
    const NAME: &str = "a\n::error::own";
    let mut found = comparison(vec![row(NAME, [10.0, 15.0], Outcome::Worse)]);
    found.warnings = vec![NAME.into()];
    for side in &mut found.sides {
        (side.label, side.scenario, side.directory) = (NAME.into(), NAME.into(), NAME.into());
    }
    let names = [NAME, NAME].map(str::to_owned);
    let of_runs = compare_text(&found);
    found.by = Some(NAME.into());
    for text in [of_runs, compare_text(&found), captures::captures_text(&names, &[], [0, 0])] {
        assert!(text.contains("a\\n::error::own"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
    }
}

#[test]
fn very_many_trials_are_more_than_some() {
    let many = Outcome::Inconclusive { more: 20_000, too_few: false };
    let found = comparison(vec![row("reno", [10.0, 10.1], many)]);
    let text = compare_text(&found);
    assert!(text.contains("inconclusive: more than 10,000 more needed"), "{text}");
    assert!(text.contains("More than 10,000 more trials needed for "), "{text}");
}

#[test]
fn foreign_names_are_escaped() {
    let name = "a|b <script>\"&'\n";
    let rows = vec![
        row(name, [10.0, 12.0], Outcome::Worse),
        row("nothing", [0.0, 0.0], SAME),
        row("open", [10.0, 10.1], INCONCLUSIVE),
    ];
    let found = comparison(rows);
    let xml = junit(&found, |verdict| *verdict == Outcome::Worse);
    assert!(xml.contains(r#"tests="3" failures="1" errors="0" skipped="1""#), "{xml}");
    assert!(xml.contains("tcplab.compare.a|b &lt;script&gt;&quot;&amp;&#39; "), "{xml}");
    assert!(!xml.contains("<script"), "{xml}");
    let text = markdown(&found);
    assert!(!text.contains("<script") && text.contains("a\\|b &lt;script&gt;"), "{text}");
    // The visible table has seven columns, the folded one eleven.
    let bars = text.lines().filter(|line| line.starts_with("| a"));
    let bars: Vec<usize> = bars.map(|l| l.replace("\\|", "").matches('|').count()).collect();
    assert_eq!(bars, [8, 12], "{text}");
    let page = compare_page(&found, &[], Vec::new()).unwrap();
    assert!(!page.contains("<script>\"&") && page.contains("&#60;script&#62;"), "{}", &page[..99]);
}

#[test]
fn tally_counts_verdicts_and_remark_names_the_extreme() {
    let levels = |rows: Vec<Row>| {
        let mut found = comparison(rows);
        found.by = Some("haiku".into());
        found.sides[0].label = "before".into();
        found.sides[1].label = "after".into();
        found.warnings.clear();
        found
    };
    let row = |case: &str, b: f64, verdict| row(case, [10.0, b], verdict);
    for (rows, counts, expected) in [
        (
            vec![
                row("slow", 15.0, Outcome::Worse),
                row("odd", 11.0, INCONCLUSIVE),
                row("fast", 5.0, Outcome::Better),
                row("like", 10.0, SAME),
            ],
            "1 better, 1 worse, 1 equivalent, 1 inconclusive",
            "Worst: transfer time of slow, +50.0 %. Inconclusive: transfer time of odd (about 14 more \
             trials per side needed).",
        ),
        (
            vec![row("fast", 5.0, Outcome::Better), row("also", 9.0, Outcome::Better)],
            "2 better",
            "Best: transfer time of fast, −50.0 %.",
        ),
        (vec![row("like", 10.0, SAME)], "1 equivalent", ""),
    ] {
        let found = levels(rows);
        assert_eq!(tally(&found), format!("after against before: {counts}"));
        assert_eq!(remark(&found), expected);
    }
    let mut nothing = levels(Vec::new());
    nothing.warnings = vec!["no trial has `goodput`: left out".into()];
    let text = tally(&nothing);
    assert_eq!(text, "after against before: nothing to compare, no trial has `goodput`: left out");
    assert_eq!(
        (sentence(&nothing).as_str(), remark(&nothing).as_str()),
        ("Nothing to compare.", "")
    );
}

/// Times have units, small changes no verdict, and what SACK does is not counted without SACK.
#[test]
fn facts_of_captures_are_said_with_care() {
    let fact = |name: &str, unit, values: [Option<f64>; 2]| Fact {
        about: "data to the server".into(),
        name: name.into(),
        unit,
        better: Better::Lower,
        values: values.map(|value| value.map(Value::Number)),
    };
    let close = fact("RTT min", "s", [Some(0.020_2), Some(0.020_1)]);
    assert_eq!(captures::value(&close, 0), "20.2 ms");
    assert_eq!(captures::change(&close), "−0.50 %");
    let tiny = fact("ACK time median", "s", [Some(13e-6), Some(19e-6)]);
    assert_eq!(captures::value(&tiny, 1), "19 µs");
    assert!(captures::change(&tiny).ends_with("worse"));
    let without = fact(tcplab_quantities::RETRANSMISSIONS_BY_SACK.label, "", [Some(3.0), None]);
    assert_eq!((&*captures::value(&without, 1), &*captures::change(&without)), ("no SACK", ""));
}

/// What one side lacks is neither equivalent nor left out in silence.
#[test]
fn what_one_side_lacks_is_said() {
    let missing = |case: &str| Missing {
        case: case.into(),
        metric: "transfer_time".into(),
        why: "B has none".into(),
    };
    let mut found = comparison(vec![row("like", [10.0, 10.0], SAME)]);
    found.by = Some("haiku".into());
    found.sides[0].label = "before".into();
    found.sides[1].label = "after".into();
    found.missing = vec![missing("odd"), missing("slow")];
    let left = "Not compared: transfer time of odd (B has none) and 1 more.";
    let said = format!("Inconclusive in 2 of 3 comparisons, equivalent in 1. {left}");
    assert_eq!(sentence(&found), said);
    assert_eq!(tally(&found), "after against before: 1 equivalent, 2 inconclusive");
    assert_eq!(remark(&found), left);
    assert!(compare_text(&found).contains("\ninconclusive: transfer time of odd (B has none)\n"));
    assert!(markdown(&found).starts_with("### ❔"));
    let fails = |outcome: &Outcome| matches!(outcome, Outcome::Inconclusive { .. });
    for (xml, count, how) in [
        (junit(&found, |_| false), r#"tests="3" failures="0" errors="0" skipped="2""#, "<skipped"),
        (junit(&found, fails), r#"tests="3" failures="2" errors="0" skipped="0""#, "<failure"),
    ] {
        assert!(xml.contains(count) && xml.matches(how).count() == 2, "{xml}");
        assert!(xml.contains("classname=\"tcplab.compare.odd\" name=\"transfer_time\""), "{xml}");
    }
    found.rows.push(row("bad", [10.0, 15.0], Outcome::Worse));
    assert!(sentence(&found).ends_with(&format!("equivalent in 1, inconclusive in 2. {left}")));
    found.rows.clear();
    assert_eq!(sentence(&found), format!("Nothing to compare. {left}"));
    let xml = junit(&found, |_| false);
    let counts = r#"tests="3" failures="0" errors="1" skipped="2""#;
    assert!(xml.contains(counts) && xml.matches("<error ").count() == 1, "{xml}");
}

#[test]
fn cases_as_pairs_are_called_cases() {
    let mut found = comparison(vec![row("12 cases", [10.0, 10.0], INCONCLUSIVE)]);
    found.is_over_cases = true;
    assert!(sentence(&found).contains("About 14 more cases needed"), "{}", sentence(&found));
    assert!(remark(&found).ends_with("(about 14 more cases needed)."), "{}", remark(&found));
    let text = compare_text(&found);
    assert!(text.contains("inconclusive: about 14 more cases needed"), "{text}");
}
