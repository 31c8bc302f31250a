//! The beginning of the page: question, answer, factors.

use std::path::Path;

use tcplab_report::compare::compare_text;
use tcplab_report::{asked, question_and_answer, render, text_table};
use tcplab_results::compare::{Asked, compare_levels};
use tcplab_results::{Case, Claim, EndRow, Metric, Run, Summary, Trial, World};
use tcplab_scenario::{MetricInfo, Plot, metrics};
use tcplab_units::Endpoint;

use super::page::no_packets;
use super::synthetic;

/// A run of two factors; `value` gives the metric of each combination and trial.
pub(super) fn run(
    metric: &str,
    levels: (&[&str], &[&str]),
    trials: u32,
    value: impl Fn(usize, usize, u32) -> f64,
) -> Run {
    let (mut run, _) = synthetic::run(1);
    let of = run.cases[0].clone();
    run.claims.clear();
    run.cases.clear();
    for (a, one) in levels.0.iter().enumerate() {
        for (b, other) in levels.1.iter().enumerate() {
            let pair = |key: &str, level: &str| (key.to_string(), level.to_string());
            let trials = (1..=trials).map(|number| Trial {
                number,
                metrics: vec![Metric {
                    name: metric.into(),
                    unit: "Mbit/s".into(),
                    value: value(a, b, number),
                }]
                .into(),
                ..of.trials[0].clone()
            });
            run.cases.push(Case {
                name: format!("{one}_{other}"),
                levels: vec![pair("client.socket.congestion", one), pair("path.loss", other)],
                trials: trials.collect(),
                summaries: vec![],
                ..of.clone()
            });
        }
    }
    run
}

fn page(run: &Run) -> String {
    render(run, no_packets).expect("a made-up run can be shown")
}

/// What the page answers; numbers stay with their units there.
pub(super) fn answer(run: &Run) -> String {
    let page = page(run);
    let answer = page.split_once("<p class=\"lead answer\">").expect("there is an answer").1;
    answer.split_once("</p>").unwrap().0.replace('\u{a0}', " ")
}

/// Differs between levels.
pub(super) fn noise(a: usize, b: usize, n: u32) -> f64 {
    ((a as f64 * 7.1 + b as f64 * 3.3 + f64::from(n) * 1.7).sin()) * 0.05
}

const LEVELS: (&[&str], &[&str]) = (&["reno", "cubic", "bbr"], &["0 %", "1 %"]);

#[test]
fn answer_of_too_few_trials_says_so_once() {
    // All levels differ; two are identical.
    for (most, best, change) in [(2, "bbr", "+70.0"), (1, "cubic", "+34.")] {
        let text = answer(&run("goodput", LEVELS, 1, |a, b, n| {
            4.0 + a.min(most) as f64 - b as f64 + noise(a.min(most), b, n)
        }));
        let (first, rest) = text.split_once(". ").unwrap();
        let few = format!(
            "Not decided: client’s congestion {best} has the highest goodput, but 1 pair is too \
             few; about "
        );
        assert!(first.starts_with(&few), "{text}");
        let largest = format!("Largest difference at 1 %: {change}");
        let medians = format!(" % with {best}; reno has 2.95");
        assert!(rest.starts_with(&largest) && rest.contains(&medians), "{text}");
        assert_eq!(rest.matches("Mbit/s").count(), 1, "of two medians one is measured: {text}");
        assert!(!rest.contains("inconclusive"), "{text}");
    }
}

/// The run with another metric, by level of the first factor and trial.
pub(super) fn with(
    mut run: Run,
    info: &'static MetricInfo,
    value: impl Fn(usize, u32) -> f64,
) -> Run {
    for (index, case) in run.cases.iter_mut().enumerate() {
        for trial in &mut case.trials {
            let own = trial.metrics.iter().map(|it| Metric {
                name: it.name.into(),
                unit: it.unit.into(),
                value: it.value,
            });
            let new = Metric::of(info, value(index / LEVELS.1.len(), trial.number));
            trial.metrics = own.chain([new]).collect();
        }
    }
    run
}

#[test]
fn answer_says_first_with_which_levels_data_do_not_arrive() {
    let goodput = || run("goodput", LEVELS, 10, |a, b, n| 4.0 + a as f64 + noise(a, b, n));
    let all = answer(&with(goodput(), metrics::PAYLOAD_INTACT, |_, _| 1.0));
    assert!(all.starts_with("Highest goodput: client’s congestion bbr; "), "{all}");
    let none = answer(&with(goodput(), metrics::PAYLOAD_INTACT, |_, _| 0.0));
    assert_eq!(none, all, "no level differs");
    let text = answer(&with(goodput(), metrics::PAYLOAD_INTACT, |level, trial| match level {
        0 if trial % 5 != 0 => 1.0,
        2 => 1.0,
        _ => 0.0,
    }));
    let said = "By client’s congestion, the data arrive in every trial with bbr; in 16 of 20 with \
                reno; in none of 20 with cubic. ";
    assert_eq!(text, format!("{said}{all}"));
}

#[test]
fn answer_is_about_the_metric_of_the_question_or_its_claims() {
    let goodput = |level: usize, b, n| 4.0 + level as f64 + noise(level, b, n);
    let mut run =
        with(run("goodput", LEVELS, 10, goodput), metrics::MEDIAN_RESPONSE, |level, n| {
            10.0 + level as f64 + noise(level, 0, n)
        });
    assert!(answer(&run).starts_with("Highest goodput: client’s congestion bbr"));
    run.question_metric = Some("median_response".into());
    let text = answer(&run);
    assert!(text.starts_with("Lowest median response time: client’s congestion reno"), "{text}");
    let (kept, _) = synthetic::run(1);
    let claim = |held| Claim { held, ..kept.claims[0].clone() };
    run.question_metric = Some("claims".into());
    run.claims = vec![claim(true), claim(true)];
    assert_eq!(answer(&run), "All 2 claims passed.");
    run.claims.push(claim(false));
    assert_eq!(answer(&run), "1 of 3 claims failed.");
    // A run whose trials have no number has an answer, too.
    run.cases.clear();
    assert_eq!(answer(&run), "1 of 3 claims failed.");
}

/// Claims about states are answered by states, not by what has arrived.
#[test]
fn answer_of_claims_begins_with_what_they_are_about() {
    let goodput = run("goodput", LEVELS, 2, |level, b, n| 4.0 + level as f64 + noise(level, b, n));
    let mut run = with(goodput, metrics::PAYLOAD_INTACT, |level, _| level.min(1) as f64);
    let (kept, _) = synthetic::run(1);
    run.question_metric = Some("claims".into());
    run.question_factor = Some("client.socket.congestion".into());
    let claims = |run: &mut Run, check: &str| {
        run.claims = vec![Claim { check: check.into(), held: true, ..kept.claims[0].clone() }];
    };
    claims(&mut run, "timeouts equals 0");
    assert_eq!(answer(&run), "The claim passed.");
    claims(&mut run, "app.read of the client equals \"30 kB\"");
    let arrived = "By client’s congestion, the data arrive in every trial with cubic, bbr; in none \
                   of 4 with reno. The claim passed.";
    assert_eq!(answer(&run), arrived);

    let end = |end: Endpoint, states: &[&str]| EndRow {
        end,
        states: states.iter().map(|&state| state.into()).collect(),
        calls: vec![],
        response_times_ms: vec![],
        request_tries: vec![],
        metrics: vec![],
    };
    claims(&mut run, "state includes \"CLOSING\"");
    for (index, case) in run.cases.iter_mut().enumerate() {
        for trial in &mut case.trials {
            let [client, server]: [&[&str]; 2] = match index / LEVELS.1.len() {
                0 => [&["FIN-WAIT-1", "TIME-WAIT"], &["CLOSE-WAIT", "LAST-ACK"]],
                1 => [&["FIN-WAIT-1", "CLOSING"]; 2],
                _ if trial.number == 1 => [&[]; 2],
                _ => [&["CLOSE-WAIT"]; 2],
            };
            trial.ends = vec![
                end(Endpoint::Client, &[&["SYN-SENT", "ESTABLISHED"], client].concat()),
                end(Endpoint::Server, &[&["SYN-RECEIVED", "ESTABLISHED"], server].concat()),
            ];
        }
    }
    let said = "States after ESTABLISHED, by client’s congestion: reno: client FIN-WAIT-1, \
                TIME-WAIT, server CLOSE-WAIT, LAST-ACK; cubic: both ends FIN-WAIT-1, CLOSING; \
                bbr: not alike in all trials. The claim passed.";
    assert_eq!(answer(&run), said);
}

#[test]
fn claim_that_nothing_changes_gives_no_main_metric() {
    let mut run = with(
        run("goodput", LEVELS, 10, |a, b, n| 4.0 + a as f64 + noise(a, b, n)),
        metrics::LOST,
        |_, _| 0.0,
    );
    let (kept, _) = synthetic::run(1);
    let claim = |check: &str| Claim { check: check.into(), ..kept.claims[0].clone() };
    run.claims = vec![claim("lost equals 0"), claim("goodput at least 1")];
    assert!(answer(&run).starts_with("Highest goodput: "));
    run.claims.truncate(1);
    assert!(answer(&run).starts_with("Highest goodput: "));
}

#[test]
fn decided_answer_names_the_best_level_and_its_interval() {
    let text =
        answer(&run("goodput", LEVELS, 10, |a, b, n| 4.0 + a as f64 - b as f64 + noise(a, b, n)));
    assert!(text.starts_with("Highest goodput: client’s congestion bbr; against reno: "), "{text}");
    assert!(text.contains("better in 2 cases, largest at 1 %: better (+66."), "{text}");
    assert!(text.contains("; against cubic: better in 2 cases"), "{text}");
    assert!(text.contains("95 % CI +") && text.contains("; 10 pairs)"), "{text}");
    // Lower is better.
    let text = answer(&run("transfer_time", LEVELS, 10, |a, b, n| {
        4.0 + a as f64 + b as f64 + noise(a, b, n)
    }));
    assert!(text.starts_with("Lowest transfer time: client’s congestion reno; "), "{text}");
    assert!(text.contains("better (−33.") && text.contains("95 % CI −"), "{text}");
}

/// The scenario's question stands first, and its factor is the one that the answer is about.
#[test]
fn question_of_the_scenario_is_asked_and_answered() {
    let mut run =
        run("goodput", LEVELS, 10, |a, b, n| 9.0 + a as f64 - 6.0 * b as f64 + noise(a, b, n));
    assert!(answer(&run).contains("congestion bbr"), "the path is a condition");
    assert_eq!(asked(&run), "");
    run.question = Some("Is </p><script> \u{1b}[31m bad?".into());
    run.question_factor = Some("path.loss".into());
    let (page, text) = (page(&run), asked(&run));
    let question = page.find("<p class=\"lead question\">Is &#60;/p&#62;&#60;script&#62;").unwrap();
    assert!(question < page.find("<p class=\"meta question\">Varied: ").unwrap(), "{page}");
    assert!(answer(&run).starts_with("Highest goodput: loss 0 %; against 1 %"), "{}", answer(&run));
    assert!(
        text.starts_with("Is </p><script> \\x1b[31m bad?\nHighest goodput: loss 0 %"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(question_and_answer(&run).0, run.question.unwrap());
}

/// The models of the document's stacks, of which one also ran on a kernel.
/// One trial in twenty loses SYNs and lasts 30 s: the mean of the better level is the worse one.
#[test]
fn best_level_is_that_of_the_comparison() {
    let text =
        answer(&run("transfer_time", (&["reno", "cubic"], &["0 %"]), 20, |a, b, n| match n {
            1 if a == 0 => 30.0,
            _ => 1.0 + 0.5 * a as f64 + noise(a, b, n) / 100.0,
        }));
    assert!(text.contains("reno; against cubic: better"), "{text}");
}

#[test]
fn answer_compares_levels_of_one_world() {
    let levels = (&["reno", "osx", "kernel-reno"][..], &["0 %"][..]);
    let mut run = run("goodput", levels, 10, |a, b, n| [4.0, 2.0, 9.0][a] + noise(a, b, n));
    for case in &mut run.cases[..2] {
        case.world = World::Simulated;
    }
    let text = answer(&run);
    assert!(text.contains("congestion reno; against osx: better (2.0×"), "{text}");
    assert!(text.ends_with("Not compared, as they ran in another world: kernel-reno."), "{text}");
    // A level of each world: that is the question.
    run.cases.remove(1);
    assert!(answer(&run).contains("against reno"), "{}", answer(&run));
}

/// With many variants the terminal has a row for those that differ only along the plot's axis.
#[test]
fn many_variants_share_a_row_over_the_plotted_factor() {
    let losses: Vec<String> = (0..15).map(|percent| format!("{percent} %")).collect();
    let losses: Vec<&str> = losses.iter().map(String::as_str).collect();
    let mut run = run("goodput", (&["reno", "cubic"], &losses), 1, |a, _, _| a as f64 + 1.0);
    let plot = Plot { metric: "goodput".into(), over: "path.loss".into(), ..Plot::default() };
    run.plots = vec![plot];
    let of_each = run.cases[0].recovery();
    let text = text_table(&run, false);
    let row = |name: &str| text.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
    assert!(text.contains("recovery episodes, over loss"), "{text}");
    let all = format!("{} of {}", of_each.repaired * 15, of_each.episodes() * 15);
    for name in ["reno", "cubic"] {
        assert!(row(name).ends_with(&all), "{all}: {text}");
    }
    assert!(!text.contains("reno_7 %"), "{text}");
    assert!(text_table(&run, true).contains("reno_7 %"), "--verbose lists them");
}

#[test]
fn open_answer_is_inconclusive_or_equivalent() {
    let text = answer(&run("goodput", LEVELS, 10, |a, b, n| 4.0 + noise(a, b, n) * 20.0));
    let open = "Not decided: goodput with client’s congestion ";
    assert!(text.starts_with(open) && text.contains("inconclusive"), "{text}");
    let single =
        answer(&run("goodput", (&["reno", "cubic"], &["0 %"]), 1, |a, _, _| a as f64 + 1.0));
    assert!(single.contains("cubic has the highest goodput, but 1 pair is too few"), "{single}");
    // Six pairs could decide one test, but not four together.
    let six = answer(&run("goodput", LEVELS, 6, |a, b, n| 4.0 + a as f64 + noise(a, b, n)));
    let few =
        "Not decided: client’s congestion bbr has the highest goodput, but 6 pairs are too few";
    assert!(six.starts_with(few) && !six.contains("95 % CI"), "{six}");
    // Less than the margin, in every trial.
    let close = answer(&run("goodput", LEVELS, 10, |a, _, _| 4.5 + a as f64 / 100.0));
    let none = "No relevant difference: highest goodput: client’s congestion bbr; against ";
    assert!(close.starts_with(none) && close.contains("equivalent within 5 %"), "{close}");
    let alike = answer(&run("goodput", LEVELS, 3, |_, _, _| 4.5));
    assert_eq!(alike, "No difference: goodput is 4.50 Mbit/s in every trial.");
}

/// The best level's estimate is another one beside each other level, so it is not said.
#[test]
fn answer_has_one_value_of_each_level() {
    let text = answer(&run("goodput", (LEVELS.0, &["1 %"]), 10, |a, b, n| {
        let skew = if a == 2 { f64::from(n * n) / 20.0 } else { 0.0 };
        [2.0, 2.1, 14.0][a] + skew + noise(a, b, n) * 9.0
    }));
    for other in ["; reno has 2.", "; cubic has 2."] {
        assert_eq!(text.matches(other).count(), 1, "{text}");
    }
    assert!(!text.contains("14") && !text.contains("15"), "{text}");
}

/// A difference of 13 times in one case and none in another is not said as 3.6 times, their mean.
#[test]
fn answer_is_the_comparison_of_the_factor() {
    let run = run("transfer_time", (&["cubic", "bbr"], &["0 %", "1 %"]), 10, |a, b, n| {
        let slow = if b == 1 && a == 0 { 13.0 } else { 1.0 };
        2.5 * slow * (1.0 + noise(a, b, n) / 10.0)
    });
    let text = answer(&run);
    let expected = "Lowest transfer time: client’s congestion bbr; against cubic: better in 1 \
                    case, equivalent in 1, largest at 1 %: better (−92.3 %, 95 % CI ";
    assert!(text.starts_with(expected), "{text}");
    let place = Path::new(".");
    let levels = Some(["cubic", "bbr"]);
    let found = compare_levels((place, &run), "congestion", levels, &Asked::default()).unwrap();
    let row = found.rows.iter().find(|row| row.case == "1 %").unwrap();
    let shown = compare_text(&found);
    let cells = shown.lines().find(|line| line.starts_with("1 %")).unwrap();
    assert!((row.difference / row.medians[0] + 12.0 / 13.0).abs() < 0.005, "{row:?}");
    let interval = text.split_once("95 % CI ").unwrap().1.split_once(';').unwrap().0;
    assert!(cells.contains(interval) && cells.contains("−92.3 %"), "{cells}\n{text}");
    assert!(cells.trim_end().ends_with("better"), "{cells}");
    // The other way round it is said as a ratio.
    let levels = Some(["bbr", "cubic"]);
    let found = compare_levels((place, &run), "congestion", levels, &Asked::default()).unwrap();
    assert!(compare_text(&found).contains("13×"), "{}", compare_text(&found));
}

#[test]
fn answer_that_depends_on_the_path_counts_its_cases() {
    let text = answer(&run("goodput", (&["reno", "bbr"], &["0 %", "1 %"]), 10, |a, b, n| {
        let good = if a == b { 5.0 } else { 3.0 };
        good + a as f64 * 0.5 + noise(a, b, n)
    }));
    assert!(text.contains("congestion bbr; against reno: better in 1 case, worse in 1"), "{text}");
}

/// The best level in most cases; in one another seems to be better, but trials are too few.
#[test]
fn answer_that_is_open_in_a_case_does_not_claim_the_best_level() {
    let of = |a: usize, b: usize, n: u32| match (a, b) {
        (2, 0) => 9.0 + noise(a, b, n),
        (1, 1) => [1.5, 7.0][n as usize % 2] + noise(a, b, n) / 100.0,
        _ => 3.0 + noise(a, b, n) / 100.0,
    };
    let text = answer(&run("goodput", LEVELS, 10, of));
    let head = "Not decided in every case; on the whole the highest goodput: client’s congestion ";
    assert!(text.starts_with(head), "{text}");
}

#[test]
fn levels_that_are_identical_in_every_case_are_said_once() {
    let of = |_, b: usize, _| 4.0 + b as f64;
    let text = answer(&run("goodput", (&["5", "10", "20"], &["0 %", "1 %"]), 20, of));
    let same = "goodput is identical in every case with client’s congestion 5, 10, 20";
    assert_eq!(text, format!("No difference: {same}."));
    // One level differs: the others are identical to the best.
    let of = |a: usize, b: usize, n: u32| [1.0, 4.0, 4.0][a] + b as f64 + f64::from(n) / 100.0;
    let text = answer(&run("goodput", (&["5", "10", "20"], &["0 %", "1 %"]), 10, of));
    assert!(text.contains("; against 20: identical in 2 cases."), "{text}");
}

#[test]
fn levels_of_which_the_same_is_said_are_named_together() {
    let many = (&["a", "b", "c", "d", "e", "f", "g", "h"][..], &["0 %", "1 %"][..]);
    let goodput = run("goodput", many, 20, |a, b, n| match (a, b) {
        (7, 1) => 9.0 + noise(a, b, n),
        _ => 4.0 + noise(a, b, n) / 100.0,
    });
    let text = answer(&goodput);
    assert!(text.ends_with(" Equivalent (within 5 %): all others at 0 %."), "{text}");
    let arrive = |level: usize, _| if level > 1 { 0.0 } else { 1.0 };
    let some = (&["a", "b", "c", "d"][..], LEVELS.1);
    let goodput = run("goodput", some, 10, |a, b, n| a as f64 + 1.0 + noise(a, b, n));
    let text = answer(&with(goodput, metrics::PAYLOAD_INTACT, arrive));
    let said = "the data arrive in every trial with a, b; in none of 20 each with c, d. ";
    assert!(text.contains(said), "{text}");
}

#[test]
fn factors_have_shares_and_pictures() {
    let mut run =
        run("goodput", LEVELS, 4, |a, b, n| a as f64 + 3.0 * b as f64 + 1.0 + noise(a, b, n));
    let whole = page(&run);
    let factors = whole.split_once("id=\"factors\"").expect("there is such a section").1;
    let factors = factors.split_once("</section>").unwrap().0;
    let count = |text: &str| factors.matches(text).count();
    assert!(
        factors.find("path.loss") < factors.find("client.socket.congestion"),
        "the larger first"
    );
    assert_eq!(count(">condition<"), 1, "nobody chooses the loss");
    assert_eq!(count("class=\"scene spread\""), 2);
    assert_eq!(count("class=\"scene ecdf\""), 2);
    assert_eq!(count("class=\"scene boxes\""), 2, "another way to draw trials");
    assert_eq!(count("class=\"scene mean-bars\""), 2, "another way to draw means");
    assert_eq!(count("class=\"scene heat\""), 1);
    assert_eq!(count("class=\"trend\""), 3, "two effects, one interaction");
    assert_eq!(count("<template class=\"csv\">"), 12);
    assert!(!factors.contains("type II"));
    // An excluded combination has a cell without a number.
    run.cases.remove(3);
    let whole = page(&run);
    assert!(whole.contains("type II") && whole.contains("class=\"nothing\""));
}

#[test]
fn response_times_have_a_distribution() {
    let mut run = run("mean_response", LEVELS, 2, |a, b, n| 5.0 + a as f64 + noise(a, b, n));
    assert!(!page(&run).contains(">response time, ms<"));
    for case in &mut run.cases {
        case.trials[0].ends[0].response_times_ms = vec![3.0, 4.0, 50.0];
    }
    let count = page(&run).matches(">response time, ms<").count();
    assert_eq!(count, 4, "by each factor, as lines and as boxes");
}

/// Numbers, of which few are as good as many: the answer to "how many does it need?".
const BUFFERS: (&[&str], &[&str]) = (&["5", "10", "20", "30", "40"], &["0 %", "1 %"]);

#[test]
fn answer_names_the_smallest_level_that_is_as_good() {
    let knees = [[2.0, 8.0, 9.98, 9.99, 10.0], [1.0, 2.0, 3.0, 7.99, 8.0]];
    let of = |a: usize, b: usize, n: u32| knees[b][a] + noise(a, b, n) / 100.0;
    let text = answer(&run("goodput", BUFFERS, 10, of));
    assert!(text.starts_with("Highest goodput: client’s congestion 40; against 5: "), "{text}");
    let end = "; 2 other levels by `tcplab compare RUN --by congestion --levels LEVEL,40`. The smallest \
               that is equivalent (within 5 %): 20 at 0 %; 30 at 1 %.";
    assert!(text.ends_with(end), "{text}");
    // One case.
    let text = answer(&run("goodput", (BUFFERS.0, &["0 %"]), 10, of));
    assert!(text.ends_with(" The smallest that is equivalent (within 5 %): 20."), "{text}");
    // Of many cases those that are equivalent in each.
    let cases = &["0 %", "1 %", "2 %", "3 %", "4 %"][..];
    let late = |a: usize, b: usize, n: u32| knees[usize::from(b > 2)][a] + noise(a, b, n) / 100.0;
    let text = answer(&run("goodput", (BUFFERS.0, cases), 16, late));
    assert!(text.ends_with(" equivalent (within 5 %): 30 in all 5 cases."), "{text}");
    // Names have no order.
    let named = (&["reno", "cubic", "bbr", "dctcp", "westwood"][..], &["0 %"][..]);
    let text = answer(&run("goodput", named, 10, of));
    assert!(text.ends_with(" Equivalent (within 5 %): bbr, dctcp."), "{text}");
    // The smallest is the best.
    let text = answer(&run("goodput", (BUFFERS.0, &["0 %"]), 10, |a, b, n| of(4 - a, b, n)));
    assert!(!text.contains("equivalent (within"), "{text}");
}

#[test]
fn answer_names_the_unbeaten_levels_of_two_metrics() {
    let goodput = [2.0, 4.0, 9.0, 10.0, 10.0];
    let of = |a: usize, b: usize, n: u32| goodput[a] + noise(a, b, n) / 100.0;
    let mut run = run("goodput", (BUFFERS.0, &["0 %"]), 10, of);
    let summary = |info: &'static MetricInfo, mean: f64| Summary {
        name: info.name.into(),
        unit: info.unit.into(),
        count: 10,
        mean,
        median: None,
        median_interval: None,
        standard_deviation: None,
        interval: None,
    };
    for (level, case) in run.cases.iter_mut().enumerate() {
        let response = [10.0, 10.0, 10.0, 15.0, 20.0][level];
        case.summaries = vec![
            summary(metrics::GOODPUT, goodput[level]),
            summary(metrics::MEDIAN_RESPONSE, response),
        ];
    }
    run.plots = vec![Plot {
        metric: "goodput".into(),
        over: "client.socket.congestion".into(),
        against: Some("median_response".into()),
        ..Plot::default()
    }];
    let text = answer(&run);
    let unbeaten = "Unbeaten client’s congestion in goodput and median response time together: 20, \
                    30. Highest goodput: ";
    assert!(text.starts_with(unbeaten), "{text}");
}

/// The main picture is about the answer's metric: a trend of it, or else every trial.
#[test]
fn main_picture_shows_the_metric_of_the_answer() {
    let value = |a: usize, b: usize, n: u32| 4.0 + a as f64 + noise(a, b, n);
    let losses = &["0 %", "1 %", "2 %"][..];
    let mut run = with(
        run("goodput", (&["reno"], losses), 3, value),
        metrics::MEDIAN_RESPONSE,
        |level, n| f64::from(n) + level as f64,
    );
    let plot =
        |metric: &str| Plot { metric: metric.into(), over: "path.loss".into(), ..Plot::default() };
    let summary = |info: &'static MetricInfo| Summary::of(info, &[1.0, 2.0, 3.0]).unwrap();
    for case in &mut run.cases {
        case.summaries = [metrics::GOODPUT, metrics::MEDIAN_RESPONSE].map(summary).into();
    }
    let picture = |run: &Run| -> String {
        let page = page(run);
        let own = page.split_once("main-picture\">").unwrap().1;
        own.split_once("</svg>").unwrap().0.to_owned()
    };
    run.question_metric = Some("median_response".into());
    run.plots = vec![plot("goodput")];
    let own = picture(&run);
    assert!(own.contains("median response time of 9 trials"), "{own}");
    run.plots.push(plot("median_response"));
    let own = picture(&run);
    assert!(own.contains("median response time, ms") && !own.contains("trials"), "{own}");
    run.question_metric = None;
    assert!(picture(&run).contains("goodput, Mbit/s"));
}

/// Two trials of 0.32 and 0.38 s: by Student's t from -0.03 to 0.73 s, and no transfer takes less
/// than no time.
#[test]
fn mean_of_amounts_has_no_negative_bound() {
    let mean = |values: [f64; 2]| {
        let levels = (&["reno"][..], &["0 %"][..]);
        let run = run("transfer_time", levels, 2, |_, _, n| values[n as usize - 1]);
        answer(&run)
    };
    let times = mean([0.32, 0.38]);
    assert!(times.contains("on average (95 % CI 0.00 to 0.73, 2 trials)"), "{times}");
    let signed = mean([-0.38, -0.32]);
    assert!(signed.contains("−0.35") && signed.contains("CI −0.73 to 0.03"), "{signed}");
}

#[test]
fn page_names_the_families_of_tests() {
    let mut run = run("goodput", LEVELS, 8, |a, b, n| 4.0 + a as f64 + noise(a, b, n));
    let run_at = Path::new("R");
    let levels = Some(["reno", "bbr"]);
    let found =
        compare_levels((run_at, &run), "client.socket.congestion", levels, &Asked::default());
    run.comparisons = vec![found.unwrap()];
    let family = run.comparisons[0].family.clone();
    assert!(family.starts_with("first goodput in 2 cases: 6 tests, corrected "), "{family}");
    assert!(page(&run).contains(&format!("<p class=\"explain\">Tested: {family}.</p>")));
}
