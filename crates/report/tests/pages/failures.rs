//! Runs some of whose trials failed: answers, and what pages say of these trials.

use std::fs;

use tcplab_report::{Recordings, question_and_answer, render, text_table, write_folder};
use tcplab_results::{Case, Failure, Metric, Run, Stopping, Summary, Trial, TrialData, Width};
use tcplab_scenario::metrics;
use tcplab_units::Endpoint;

use super::answers::{answer, noise, run, with};
use super::page::{no_packets, page, unpacked};
use super::synthetic;

/// The trials of these numbers fail, in cases of this level.
fn fail(run: &mut Run, level: &str, numbers: &[u32]) {
    for case in run.cases.iter_mut().filter(|it| it.levels.iter().any(|(_, own)| own == level)) {
        let failure = |number: &u32| Failure {
            number: *number,
            seed: 7,
            directory: format!("trials/{}-{number}", case.name),
            attempts: 2,
            reason: "not done after 5 s: <b>0 B</b> arrived".into(),
        };
        case.failures = numbers.iter().map(failure).collect();
        case.trials.retain(|trial| !numbers.contains(&trial.number));
    }
}

const TWO: (&[&str], &[&str]) = (&["reno", "cubic"], &["10 ms", "2 s"]);
const ONE: (&[&str], &[&str]) = (&["reno", "cubic"], &["0 %"]);

#[test]
fn level_that_never_finishes_has_no_answer() {
    let mut run = run("transfer_time", ONE, 3, |_, _, _| 0.883);
    assert_eq!(answer(&run), "No difference: transfer time is 0.883 s in every trial.");
    fail(&mut run, "cubic", &[1, 2, 3]);
    let expected = "No answer: client’s congestion cubic did not finish in 3 of 3 trials; only \
                    client’s congestion reno has a transfer time (0.883 s).";
    assert_eq!(answer(&run), expected);
    fail(&mut run, "reno", &[1, 2, 3]);
    assert_eq!(question_and_answer(&run).1, "No answer: 6 of 6 trials did not finish.");
}

#[test]
fn summary_has_a_row_of_a_case_whose_trials_all_failed() {
    let mut run = run("transfer_time", ONE, 3, |_, _, n| 0.883 + f64::from(n) / 100.0);
    fail(&mut run, "cubic", &[1, 2, 3]);
    run.cases[0].summaries.extend(Summary::of(metrics::TRANSFER_TIME, &[0.893, 0.903, 0.913]));
    let page = render(&run, no_packets).unwrap();
    assert_eq!(page.matches("all 3 trials failed").count(), 1);
    let text = text_table(&run, false);
    let row = text.lines().find(|line| line.contains("cubic_0 %") && line.contains("0 of 3"));
    assert!(row.is_some_and(|row| row.contains('–')), "{text}");
}

/// The question is about congestion control, but the delay decides what finishes.
#[test]
fn answer_begins_with_the_levels_that_fail() {
    let mut run = run("transfer_time", TWO, 2, |_, _, _| 0.288);
    fail(&mut run, "2 s", &[1, 2]);
    let expected = "Loss 2 s did not finish in 4 of 4 trials. No difference: transfer time is \
                    0.288 s in every trial that has one.";
    assert_eq!(answer(&run), expected);
}

#[test]
fn level_that_fails_sometimes_is_told_before_the_best() {
    let levels = (&["reno", "cubic", "bbr"][..], &["0 %"][..]);
    let value = |a: usize, b: usize, n: u32| 4.0 + a as f64 + noise(a, b, n);
    let mut run = with(run("goodput", levels, 10, value), metrics::PAYLOAD_INTACT, |_, _| 1.0);
    let all = answer(&run);
    fail(&mut run, "bbr", &[9, 10]);
    let text = answer(&run);
    let (failed, rest) = text.split_once(". ").unwrap();
    assert_eq!(failed, "Client’s congestion bbr did not finish in 2 of 10 trials");
    assert!(rest.starts_with("Highest goodput: client’s congestion bbr; "), "{text}");
    assert!(all.starts_with("Highest goodput: "), "{all}");
    // The others are compared without a level that never finishes.
    fail(&mut run, "bbr", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let text = answer(&run);
    let failed = "Client’s congestion bbr did not finish in 10 of 10 trials. Highest goodput: \
                  client’s congestion cubic; against reno: better";
    assert!(text.starts_with(failed), "{text}");
}

/// A transfer that was broken off has not arrived, even if what was read is what was sent.
#[test]
fn transfer_without_a_time_has_not_arrived() {
    let value = |a: usize, b: usize, n: u32| 4.0 + a as f64 + noise(a, b, n);
    let run = run("transfer_time", ONE, 4, value);
    let mut run = with(run, metrics::PAYLOAD_INTACT, |_, _| 1.0);
    for trial in &mut run.cases[1].trials {
        let intact = || Metric::of(metrics::PAYLOAD_INTACT, 1.0);
        trial.metrics = [intact()].into_iter().collect();
    }
    let text = answer(&run);
    let expected = "By client’s congestion, the data arrive in every trial with reno; in none of \
                    4 with cubic. No answer: only client’s congestion reno has a transfer time.";
    assert_eq!(text, expected);
}

/// Other factors decide what arrives: the answer to "how many?" is not one number.
#[test]
fn combinations_with_which_nothing_arrives_are_named() {
    let levels = (&["2", "3", "17"][..], &["5", "20", "40"][..]);
    let mut run = run("mean_response", levels, 1, |a, b, _| 9.0 + noise(a, b, 1));
    for case in &mut run.cases {
        let [count, buffers] = [0, 1].map(|at| case.levels[at].1.parse::<u32>().unwrap());
        let is_answered = count * buffers < 100 && count < 17;
        let own = case.trials[0].metrics.iter().next().unwrap().value;
        let response = Metric::of(metrics::MEAN_RESPONSE, own);
        let intact = is_answered.then(|| Metric::of(metrics::PAYLOAD_INTACT, 1.0));
        case.trials[0].metrics = [response].into_iter().chain(intact).collect();
    }
    run.question_factor = Some("client.socket.congestion".into());
    let text = answer(&run);
    let expected = "By client’s congestion, the data arrive in every trial with 2; in 2 of 3 with \
                    3 (not with 40); in none of 3 with 17. ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn nothing_lost_is_said_of_the_trials_that_count() {
    let mut run = run("transfer_time", ONE, 2, |_, _, _| 0.883);
    let none = |case: &mut Case| case.trials.iter_mut().for_each(|it| it.episodes.clear());
    run.cases.iter_mut().for_each(none);
    let page = |run: &Run| render(run, no_packets).unwrap();
    assert!(page(&run).contains("No losses to recover.</p>"));
    fail(&mut run, "cubic", &[1, 2]);
    let some = page(&run);
    assert!(some.contains("No losses to recover in the trials that count."));
    assert!(some.contains("None: nothing was lost in the trials that count."));
    fail(&mut run, "reno", &[1, 2]);
    let none = page(&run);
    assert!(!none.contains("No losses") && !none.contains("nothing was lost"));
    assert!(text_table(&run, false).contains("4 trials of 4 failed and are not counted"));
}

/// With the captures of the client.
struct OfClient;

impl Recordings for OfClient {
    type Error = String;

    fn packets(&mut self, trial: &Trial) -> Result<TrialData, String> {
        no_packets(trial)
    }

    fn ends_of_failure(&mut self, _: &Failure) -> Vec<Endpoint> {
        vec![Endpoint::Client]
    }
}

#[test]
fn page_has_reason_captures_and_command_of_each_failed_trial() {
    let mut run = run("transfer_time", ONE, 2, |_, _, _| 0.883);
    fail(&mut run, "cubic", &[2]);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("report");
    write_folder(&run, OfClient, &folder).unwrap();
    let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let case = file("trials/cubic_0--.html");
    assert!(file("index.html").contains("Failed: <a href=\"trials/cubic_0--.html\">1</a>"));
    for (page, up) in [(render(&run, OfClient).unwrap(), ""), (case, "../../")] {
        let own = page.split_once("<ul class=\"failures\">").expect("they are listed").1;
        let own = own.split_once("</ul>").unwrap().0;
        let reason = "<strong>Trial 2 failed</strong>: not done after 5 s: &#60;b&#62;0 B";
        assert!(own.contains(reason) && own.contains("(2 attempts)"), "{own}");
        let link = format!("<a href=\"{up}trials/cubic_0 %-2/client.pcapng\">");
        assert!(own.contains(&link) && !own.contains("server.pcapng"), "{own}");
        let command = "tcplab run scenario.toml --case cubic_0 % --trial 2 --seed 1";
        assert!(own.contains(command), "{own}");
        assert_eq!(page.matches("class=\"failures\"").count(), 1, "the other case has none");
    }
}

/// How well a case without a value is known, nobody can say; the others are.
#[test]
fn metric_of_a_case_without_values_is_unknown() {
    let mut run = run("transfer_time", ONE, 5, |_, _, n| f64::from(n));
    let width = |case: &Case, share, reached| Width { case: case.name.clone(), share, reached };
    let said = |run: &mut Run, widths: [(Option<f64>, bool); 2]| {
        let cases = run.cases.iter().zip(widths).map(|(case, it)| width(case, it.0, it.1));
        run.stopping = Some(Stopping {
            metric: "transfer_time".into(),
            ci: "5 %".into(),
            blocks: 5,
            max: 9,
            cases: cases.collect(),
        });
        let text = text_table(run, false);
        let from = text.find("5 trials of each case").unwrap();
        let until = text[from..].find(".\n").unwrap() + from + 1;
        text[from..until].replace('\n', " ")
    };
    let known = "5 trials of each case: transfer_time is known to ± 5 %";
    assert_eq!(said(&mut run, [(Some(0.01), true); 2]), format!("{known}."));
    fail(&mut run, "cubic", &[1, 2, 3, 4, 5]);
    let text = said(&mut run, [(Some(0.01), true), (None, false)]);
    assert_eq!(text, format!("{known}; of cubic_0 % it is unknown."));
    let text = said(&mut run, [(Some(0.2), false), (None, false)]);
    let open = "5 trials of each case, the maximum: transfer_time is not yet known to ± 5 % (reno_0 \
                % 20.0 %); of cubic_0 % it is unknown.";
    assert_eq!(text, open);
    fail(&mut run, "reno", &[1, 2, 3, 4, 5]);
    let text = said(&mut run, [(None, false); 2]);
    assert_eq!(text, "5 trials of each case: transfer_time has no value in any case.");
}

/// One line for each case on the terminal, not one for each episode.
#[test]
fn lost_segments_that_are_not_those_of_the_path_are_said_by_case() {
    let (mut run, recordings) = synthetic::run(3);
    let trials = &mut run.cases[0].trials;
    let (all, found) = {
        let episodes = trials.iter().flat_map(|trial| &trial.episodes);
        (episodes.clone().count(), episodes.map(|it| it.lost_segments).sum::<usize>())
    };
    for trial in &mut trials[..2] {
        let episode = &mut trial.episodes[0];
        (episode.not_lost, episode.not_found) = (3, 1);
        episode.truth_lost = Some(1);
    }
    let of = |some: usize, all: usize, wrong: usize, found: usize, missed: usize| {
        format!(
            "in {some} of {all} recovery episodes the lost segments are not those of the path’s \
             log: {wrong} of {found} were not lost, {missed} not found"
        )
    };
    let text = text_table(&run, false);
    let line = format!("! {}: {}", run.cases[0].name, of(2, all, 6, found, 2));
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(one_line.matches(&line).count(), 1, "{text}");
    // The page tells it of each trial, and of each episode.
    let page = unpacked(&page(&run, &recordings));
    let own = &run.cases[0].trials[0].episodes;
    let found = own.iter().map(|it| it.lost_segments).sum();
    assert!(page.contains(&of(1, own.len(), 3, found, 1)));
    assert!(page.contains("(3 not lost, 1 not found)."));
}

#[test]
fn trials_of_which_the_same_is_said_are_counted() {
    let (mut run, _) = synthetic::run(4);
    for trial in &mut run.cases[0].trials {
        (trial.flaws, trial.put_aside) = (vec![], 0);
        trial.warnings = vec!["the path lost 1 segment outside all recovery episodes".into()];
    }
    run.cases[0].trials[3].warnings = vec!["it waited".into()];
    let name = run.cases[0].name.clone();
    let text = text_table(&run, false);
    for (trials, what) in [("3 trials", "the path lost 1 segment"), ("trial 4", "it waited")] {
        assert_eq!(text.matches(&format!("! {name}, {trials}\n    {what}")).count(), 1, "{text}");
    }
}
