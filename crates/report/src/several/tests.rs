//! Runs with a few trials that are made up.

use tcplab_results::{Case, Failure, Metric, Metrics, Run, Summary, Trial};
use tcplab_scenario::{Plot, metrics};

use super::label::labels;
use super::{CommonFigure, CommonFigures, KeptRuns, LabelledRun, RUNS_MOST, Relative, TooMany};
use crate::figures::{RunFigure, figure_file};
use crate::looks::{FigureLooks, LooksError};

/// A case of trials with these goodputs, in `unit`.
fn case(levels: &[(&str, &str)], unit: &str, goodputs: &[f64]) -> Case {
    let trial = |(index, value): (usize, &f64)| {
        let goodput = Metric { unit: unit.into(), ..Metric::of(metrics::GOODPUT, *value) };
        let number = u32::try_from(index).unwrap() + 1;
        Trial { number, metrics: Metrics::from_iter([goodput]), ..Trial::default() }
    };
    let summary =
        Summary::of(metrics::GOODPUT, goodputs).map(|it| Summary { unit: unit.into(), ..it });
    let names: Vec<&str> = levels.iter().map(|(_, level)| *level).collect();
    Case {
        name: if names.is_empty() { "base".into() } else { names.join("_").replace(' ', "") },
        levels: levels.iter().map(|(key, level)| ((*key).into(), (*level).into())).collect(),
        trials: goodputs.iter().enumerate().map(trial).collect(),
        summaries: summary.into_iter().collect(),
        ..Case::default()
    }
}

fn run(cases: Vec<Case>) -> Run {
    Run { title: "Upload".into(), cases, ..Run::default() }
}

fn labelled<'r>(runs: &[(&str, &'r Run)]) -> Vec<LabelledRun<'r>> {
    runs.iter().map(|(label, run)| LabelledRun { label: (*label).into(), run }).collect()
}

fn names(figures: &CommonFigures) -> Vec<&str> {
    figures.list().iter().map(|it| it.name.as_str()).collect()
}

fn drawn(figures: &CommonFigures, figure: &CommonFigure) -> RunFigure {
    figures.draw(figure, &FigureLooks::default()).expect("a figure").0
}

/// The table of a figure, and the runs that are missing in it.
fn table(figures: &CommonFigures, name: &str) -> (String, Vec<String>) {
    let figure = figures.list().iter().find(|it| it.name == name).expect("the figure");
    (drawn(figures, figure).table.expect("numbers").csv(), figure.missing.clone())
}

const CC: &str = "client.socket.congestion";

#[test]
fn each_run_has_a_mark_at_each_of_its_cases() {
    let first = run(vec![
        case(&[(CC, "reno")], "Mbit/s", &[8.0, 9.0, 10.0]),
        case(&[(CC, "cubic")], "Mbit/s", &[11.0, 12.0, 14.0]),
    ]);
    let second = run(vec![
        case(&[(CC, "bbr")], "Mbit/s", &[15.0, 15.5, 16.0]),
        case(&[(CC, "reno")], "Mbit/s", &[7.0, 7.5, 8.5]),
    ]);
    let figures =
        CommonFigures::of(&labelled(&[("before", &first), ("<b>&\u{1b}[2J", &second)]), None);
    assert_eq!(
        names(&figures),
        ["goodput/means", "goodput/trials", "goodput/ecdf", "goodput/boxes", "goodput/bars"]
    );
    let svg = figure_file(&drawn(&figures, &figures.list()[0]).svg);
    assert!(!svg.contains("<b>") && !svg.contains('\u{1b}'), "{svg}");
    insta::assert_snapshot!(svg.replace("><", ">\n<"));
}

#[test]
fn case_of_one_run_is_shown_in_that_run_only() {
    let first = run(vec![case(&[(CC, "reno")], "Mbit/s", &[8.0, 9.0])]);
    let second = run(vec![
        case(&[(CC, "cubic")], "Mbit/s", &[1.0, 2.0]),
        case(&[(CC, "reno")], "Mbit/s", &[7.0, 7.5]),
    ]);
    let nothing = run(vec![case(&[(CC, "reno")], "Mbit/s", &[])]);
    let runs = labelled(&[("a", &first), ("b", &second), ("c", &nothing)]);
    let figures = CommonFigures::of(&runs, None);
    let (csv, missing) = table(&figures, "goodput/trials");
    let rows = "a: reno,8\na: reno,9\nb: reno,7\nb: reno,7.5\nb: cubic,1\nb: cubic,2\n";
    assert_eq!(csv, format!("name,\"goodput, Mbit/s\"\n{rows}"));
    assert_eq!(missing, ["c"]);
    let (csv, _) = table(&figures, "goodput/means");
    let lines: Vec<&str> = csv.lines().skip(1).map(|line| &line[..line.len().min(8)]).collect();
    assert_eq!(lines, ["a,reno,8", "b,reno,7", "b,cubic,"]);
}

#[test]
fn case_whose_trials_all_failed_is_noted() {
    let levels = [(CC, "reno"), (CC, "bbr")];
    let values: [&[f64]; 2] = [&[8.0, 9.0, 10.0, 11.0], &[]];
    let mut first =
        run(levels.iter().zip(values).map(|(it, values)| case(&[*it], "", values)).collect());
    let failure = Failure {
        number: 1,
        seed: 1,
        directory: String::new(),
        attempts: 1,
        reason: "it stalled".into(),
    };
    first.cases[1].failures = vec![failure.clone(), Failure { number: 2, ..failure }];
    let second = run(vec![case(&[(CC, "reno")], "", &[7.0, 7.5, 8.5, 9.0])]);
    let mut kept = KeptRuns::default();
    for run in [first, second] {
        kept.add(run).unwrap();
    }
    let runs = kept.into_runs();
    let figures = CommonFigures::of(&labelled(&[("A", &runs[0]), ("B", &runs[1])]), None);
    for figure in figures.list() {
        let (_, notes) = figures.draw(figure, &FigureLooks::default()).unwrap();
        assert_eq!(notes.last().unwrap(), "no values: `A: bbr` (all trials failed)");
    }
    assert_eq!(figures.list().len(), 5);
}

#[test]
fn quantity_of_one_run_is_not_common_and_units_are_not_mixed() {
    let base = |unit: &str, value| run(vec![case(&[], unit, &[value, value + 1.0])]);
    let (mbit, kbit) = (base("Mbit/s", 8.0), base("kbit/s", 8_000.0));
    let figures = CommonFigures::of(&labelled(&[("a", &mbit), ("b", &kbit)]), None);
    let (csv, missing) = table(&figures, "goodput-kbit-s/trials");
    assert_eq!(csv, "name,\"goodput, kbit/s\"\nb,8000\nb,8001\n");
    assert_eq!(missing, ["a"]);
    assert_eq!(table(&figures, "goodput-mbit-s/trials").1, ["b"]);

    let nothing = run(vec![case(&[], "Mbit/s", &[])]);
    assert!(CommonFigures::of(&labelled(&[("a", &mbit), ("b", &nothing)]), None).list().is_empty());
}

#[test]
fn lines_that_would_look_alike_are_in_a_figure_for_each_case() {
    let delays: Vec<String> = (1..=8).map(|delay| format!("{delay} ms")).collect();
    let of = |delay: &String| case(&[("path.delay", delay)], "Mbit/s", &[1.0, 2.0]);
    let both = run(delays.iter().map(of).collect());
    let figures = CommonFigures::of(&labelled(&[("a", &both), ("b", &both)]), None);
    let names = names(&figures);
    assert_eq!(names[..3], ["goodput/means", "goodput/trials", "goodput/ecdf/1ms"]);
    assert_eq!(names[2 + delays.len()..], ["goodput/boxes", "goodput/bars"]);
    let (csv, _) = table(&figures, "goodput/ecdf/8ms");
    assert_eq!(csv, "name,\"goodput, Mbit/s\",share\na,1,0.5\na,2,1\nb,1,0.5\nb,2,1\n");
}

/// `1 s` and `1000 ms` are one place on the axis.
#[test]
fn plot_over_a_number_has_a_line_for_each_run_and_other_level() {
    let plot = |by: Option<&str>| Plot {
        metric: "goodput".into(),
        over: "path.delay".into(),
        by: by.map(str::to_owned),
        ..Plot::default()
    };
    let of = |delay, cc, value| case(&[("path.delay", delay), (CC, cc)], "Mbit/s", &[value, value]);
    let first = Run {
        plots: vec![plot(Some(CC))],
        ..run(vec![of("1 s", "reno", 1.0), of("2 s", "reno", 2.0), of("1 s", "cubic", 3.0)])
    };
    let alone = |delay, value| case(&[("path.delay", delay)], "Mbit/s", &[value, value]);
    let second =
        Run { plots: vec![plot(None)], ..run(vec![alone("3000 ms", 4.0), alone("1000 ms", 5.0)]) };
    let third = run(vec![case(&[], "Mbit/s", &[9.0])]);
    let runs = labelled(&[("a", &first), ("b", &second), ("c", &third)]);
    let (csv, missing) = table(&CommonFigures::of(&runs, None), "trend/goodput-over-delay");
    let starts: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(3).collect::<Vec<_>>().join(","))
        .collect();
    let expected = ["a: reno,1 s,1", "a: reno,2 s,2", "a: cubic,1 s,3", "b,1 s,5", "b,3000 ms,4"];
    assert_eq!(starts, expected);
    assert_eq!(missing, ["c"]);
}

#[test]
fn runs_of_one_title_are_told_apart() {
    let titled = |title: &str| Run { title: title.into(), ..Run::default() };
    let (upload, load) = (titled("Upload"), titled("Load"));
    let found = labels(&[
        (&upload, "20261128T015713-65e7a674"),
        (&load, "20261128T015714-b0c9f6f0"),
        (&upload, "20261128T015715-7f6423fe"),
        (&upload, "copy-7f6423fe"),
        (&titled(""), "kept"),
    ]);
    let expected =
        ["Upload (65e7a674)", "Load", "Upload (7f6423fe)", "Upload (7f6423fe) 2", "kept"];
    assert_eq!(found, expected);
}

#[test]
fn runs_of_one_title_have_their_names_where_these_differ() {
    let named = |name: &str| Run { name: name.into(), title: "Upload".into(), ..Run::default() };
    let (first, changed) = (named("upload"), named("upload-changed"));
    let (one, other) = ("20261128T015713-65e7a674", "20261128T015715-7f6423fe");
    assert_eq!(labels(&[(&first, one), (&changed, other)]), ["upload", "upload-changed"]);
    let third = (&first, "20261128T015716-b0c9f6f0");
    let expected = ["Upload (65e7a674)", "upload-changed", "Upload (b0c9f6f0)"];
    assert_eq!(labels(&[(&first, one), (&changed, other), third]), expected);
}

/// The figures of these runs divided by the first, and its label.
fn divided(runs: &mut [Run], labels: &[&str]) -> CommonFigures {
    let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
    let relative = Relative::divide(runs, &labels, 0);
    let named = labels.into_iter().zip(&*runs);
    let all: Vec<LabelledRun<'_>> = named.map(|(label, run)| LabelledRun { label, run }).collect();
    CommonFigures::of(&all, Some(relative))
}

#[test]
fn runs_are_multiples_of_one_case_by_case() {
    let mut runs = [
        run(vec![
            case(&[(CC, "reno")], "Mbit/s", &[8.0, 10.0, 12.0]),
            case(&[(CC, "none")], "Mbit/s", &[0.0, 0.0]),
        ]),
        run(vec![
            case(&[(CC, "reno")], "Mbit/s", &[20.0, 30.0]),
            case(&[(CC, "none")], "Mbit/s", &[1.0, 2.0]),
            case(&[(CC, "cubic")], "Mbit/s", &[5.0, 6.0]),
        ]),
    ];
    let figures = divided(&mut runs, &["before <b>", "after"]);
    let (csv, missing) = table(&figures, "goodput/means");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "line,case,\"goodput, times that of before <b>\",low,high");
    assert_eq!((lines.len(), lines[1]), (3, "before <b>,reno,1,,"), "{csv}");
    let numbers: Vec<f64> = lines[2].split(',').skip(2).map(|it| it.parse().unwrap()).collect();
    assert!((numbers[0] - 2.5).abs() < 1e-12 && numbers[1] >= 0.0 && numbers[2] > 2.5, "{csv}");
    assert!(missing.is_empty());
    let (csv, _) = table(&figures, "goodput/trials");
    let rows = "before <b>: reno,0.8\nbefore <b>: reno,1\nbefore <b>: reno,1.2\n\
                after: reno,2\nafter: reno,3\n";
    assert_eq!(csv.split_once('\n').unwrap().1, rows);
    let figure = figures.list().iter().find(|it| it.name == "goodput/ecdf").unwrap();
    assert!(figure.title.ends_with("(ECDF), times that of before <b>"), "{}", figure.title);
    let (drawn, notes) = figures.draw(figure, &FigureLooks::default()).unwrap();
    assert!(drawn.svg.contains("goodput, times that of before &lt;b&gt;"), "{}", drawn.svg);
    assert_eq!(
        notes,
        [
            "`before <b>` has no `cubic` of `after`",
            "the mean of `before <b>` in `none` is not above zero"
        ]
    );
}

#[test]
fn plot_over_a_number_is_of_multiples_too() {
    let plot =
        Plot { metric: "goodput".into(), over: "path.delay".into(), by: None, ..Plot::default() };
    let of = |delay, value| case(&[("path.delay", delay)], "Mbit/s", &[value, value + 1.0]);
    let one = |factor: f64| Run {
        plots: vec![plot.clone()],
        ..run(vec![of("1 s", factor * 10.0), of("2 s", factor * 20.0)])
    };
    let figures = divided(&mut [one(1.0), one(3.0)], &["a", "b"]);
    let (csv, _) = table(&figures, "trend/goodput-over-delay");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "line,delay,\"goodput, times that of a\",low,high");
    assert_eq!(lines[1..3], ["a,1 s,1,,", "a,2 s,1,,"]);
    let ratio: f64 = lines[3].split(',').nth(2).unwrap().parse().unwrap();
    assert!((ratio - 30.5 / 10.5).abs() < 1e-12, "{csv}");
}

/// Units that differ have no ratio.
#[test]
fn other_unit_than_that_of_the_reference_is_left_out() {
    let base = |unit: &str| run(vec![case(&[], unit, &[8.0, 9.0])]);
    let mut runs = [base("Mbit/s"), base("Mbit/s"), base("kbit/s")];
    let figures = divided(&mut runs, &["a", "b", "c"]);
    assert_eq!(table(&figures, "goodput/trials").1, ["c"]);
}

#[test]
fn many_runs_have_rows_of_means_and_lines_told_apart() {
    let runs: Vec<Run> = (0..30)
        .map(|it| run(vec![case(&[], "Mbit/s", &[f64::from(it), f64::from(it) + 1.0])]))
        .collect();
    let names: Vec<String> = (0..30).map(|it| format!("run {it}")).collect();
    let named = names.iter().zip(&runs);
    let all: Vec<LabelledRun<'_>> =
        named.map(|(label, run)| LabelledRun { label: label.clone(), run }).collect();
    let figures = CommonFigures::of(&all, None);
    let shapes = ["means", "trials", "ecdf/base", "boxes", "bars"];
    assert_eq!(self::names(&figures), shapes.map(|shape| format!("goodput/{shape}")));
    let (csv, _) = table(&figures, "goodput/means");
    assert_eq!(csv.lines().count(), 1 + 30, "{csv}");
    assert!(csv.starts_with("line,case,\"goodput, Mbit/s\",low,high\nrun 0,base,0.5,"), "{csv}");
    let (drawn, notes) = figures.draw(&figures.list()[2], &FigureLooks::default()).unwrap();
    assert_eq!(drawn.svg.matches(r#"class="name""#).count(), 30);
    assert!(notes.len() == 1 && notes[0].starts_with("30 lines: each has a colour"), "{notes:?}");
}

#[test]
fn boxes_are_of_trials_and_bars_of_means_from_zero() {
    let first = run(vec![case(&[], "Mbit/s", &[8.0, 9.0, 10.0, 40.0])]);
    let second = run(vec![case(&[], "Mbit/s", &[7.0, 7.5])]);
    let figures = CommonFigures::of(&labelled(&[("a", &first), ("b", &second)]), None);
    let (csv, _) = table(&figures, "goodput/boxes");
    let parts = ["lower whisker,8", "first quartile,8.75", "median,9.5", "third quartile,17.5"];
    let rest = ["upper whisker,17.5", "outlier,40"];
    let a: Vec<String> = parts.iter().chain(&rest).map(|part| format!("a,{part}\n")).collect();
    let a = a.concat();
    assert_eq!(csv, format!("name,part,\"goodput, Mbit/s\"\n{a}b,value,7\nb,value,7.5\n"));
    let find = |name: &str| figures.list().iter().find(|it| it.name == name).unwrap();
    let (_, notes) = figures.draw(find("goodput/boxes"), &FigureLooks::default()).unwrap();
    assert_eq!(notes, ["1 row of fewer than 4 values has no box: each value is a dot"]);
    let (csv, _) = table(&figures, "goodput/bars");
    let means = table(&figures, "goodput/means").0.replace(",base,", ",");
    assert_eq!(csv.replacen("bar,", "line,case,", 1), means, "the same means and intervals");
    let mut looks = FigureLooks::default();
    looks.x.is_log = Some(true);
    assert!(figures.draw(find("goodput/boxes"), &looks).is_ok());
    let refused = figures.draw(find("goodput/bars"), &looks).unwrap_err();
    assert_eq!(refused, LooksError::FromZero("has no place on a logarithmic axis"));
}

#[test]
fn names_that_have_no_room_are_left_out_with_a_note() {
    let one = run(vec![case(&[], "Mbit/s", &[1.0, 2.0])]);
    let all: Vec<LabelledRun<'_>> =
        (0..401).map(|it| LabelledRun { label: format!("run {it}"), run: &one }).collect();
    let figures = CommonFigures::of(&all, None);
    for (figure, what) in
        figures.list().iter().zip(["401 rows are", "401 rows are", "401 lines are"])
    {
        let (drawn, notes) = figures.draw(figure, &FigureLooks::default()).unwrap();
        assert!(notes.len() == 1 && notes[0].starts_with(what), "{notes:?}");
        assert!(!drawn.svg.contains(r#"class="name""#), "{}", drawn.name);
        assert_eq!(drawn.svg.matches("<title>run ").count(), 401, "{}", drawn.name);
    }
}

#[test]
fn figure_looks_as_its_reader_says() {
    let first = run(vec![case(&[], "Mbit/s", &[8.0, 9.0, 40.0])]);
    let second = run(vec![case(&[], "Mbit/s", &[7.0, 7.5])]);
    let figures = CommonFigures::of(&labelled(&[("a", &first), ("b", &second)]), None);
    let figure = figures.list().iter().find(|it| it.name == "goodput/trials").unwrap();
    let mut looks = FigureLooks { title: Some("What <I> call it".into()), ..Default::default() };
    looks.x.range = Some("..20 Mbit/s".parse().unwrap());
    looks.x.label = Some("speed".into());
    looks.colours.push(("b".into(), "#ff8800".parse().unwrap()));
    let (drawn, notes) = figures.draw(figure, &looks).unwrap();
    assert_eq!(notes, ["1 value lies outside and is not drawn"]);
    let svg = figure_file(&drawn.svg);
    assert!(svg.contains(r##" color="#ff8800""##) && svg.contains("stroke: currentColor"), "{svg}");
    for part in ["What &lt;I&gt; call it</text>", ">speed</text>", "font-size: 14px"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert_eq!(drawn.table.unwrap().csv().lines().count(), 1 + 5, "the table has all");
    looks.y.range = Some("1..2".parse().unwrap());
    let rows = figures.draw(figure, &looks).unwrap_err();
    assert_eq!(rows, LooksError::Names('y', "numbers"));
}

#[test]
fn runs_are_kept_without_what_figures_do_not_show() {
    let mut whole = run(vec![case(&[(CC, "reno")], "Mbit/s", &[8.0, 9.0])]);
    whole.scenario = "long".into();
    whole.cases[0].trials[0].warnings.push("long".into());
    let mut kept = KeptRuns::default();
    for _ in 0..RUNS_MOST {
        kept.add(whole.clone()).unwrap();
    }
    assert_eq!(kept.add(whole.clone()), Err(TooMany::Runs(RUNS_MOST + 1)));
    let runs = kept.into_runs();
    assert!(runs[0].scenario.is_empty() && runs[0].cases[0].trials[0].warnings.is_empty());
    let table_of = |run: &Run| {
        let figures = CommonFigures::of(&labelled(&[("a", run), ("b", run)]), None);
        table(&figures, "goodput/trials")
    };
    assert_eq!(table_of(&runs[0]), table_of(&whole));

    let times = vec![1.0; 11_000_000];
    let end = |response_times_ms| tcplab_results::EndRow {
        end: tcplab_units::Endpoint::Client,
        calls: Vec::new(),
        response_times_ms,
        request_tries: Vec::new(),
        states: Vec::new(),
        metrics: Vec::new(),
    };
    whole.cases[0].trials[0].ends.push(end(times));
    let mut kept = KeptRuns::default();
    kept.add(whole.clone()).unwrap();
    assert_eq!(kept.add(whole), Err(TooMany::Values));
}
