//! Runs with a few trials that are made up.

use tcplab_results::{Case, Metric, Metrics, Run, Summary, Trial};
use tcplab_scenario::{Plot, metrics};

use super::label::labels;
use super::{CommonFigures, LabelledRun};
use crate::figures::figure_file;

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

/// The table of a figure, and the runs that are missing in it.
fn table(figures: &CommonFigures, name: &str) -> (String, Vec<String>) {
    let figure = figures.list().iter().find(|it| it.name == name).expect("the figure");
    (figures.draw(figure).csv.expect("numbers"), figure.missing.clone())
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
    let figures = CommonFigures::of(&labelled(&[("before", &first), ("<b>&\u{1b}[2J", &second)]));
    assert_eq!(names(&figures), ["goodput/means", "goodput/trials", "goodput/ecdf"]);
    let svg = figure_file(&figures.draw(&figures.list()[0]));
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
    let figures = CommonFigures::of(&runs);
    let (csv, missing) = table(&figures, "goodput/trials");
    let rows = "a: reno,8\na: reno,9\nb: reno,7\nb: reno,7.5\nb: cubic,1\nb: cubic,2\n";
    assert_eq!(csv, format!("name,\"goodput, Mbit/s\"\n{rows}"));
    assert_eq!(missing, ["c"]);
    let (csv, _) = table(&figures, "goodput/means");
    let lines: Vec<&str> = csv.lines().skip(1).map(|line| &line[..line.len().min(8)]).collect();
    assert_eq!(lines, ["a,reno,8", "b,reno,7", "b,cubic,"]);
}

#[test]
fn quantity_of_one_run_is_not_common_and_units_are_not_mixed() {
    let base = |unit: &str, value| run(vec![case(&[], unit, &[value, value + 1.0])]);
    let (mbit, kbit) = (base("Mbit/s", 8.0), base("kbit/s", 8_000.0));
    let figures = CommonFigures::of(&labelled(&[("a", &mbit), ("b", &kbit)]));
    let (csv, missing) = table(&figures, "goodput-kbit-s/trials");
    assert_eq!(csv, "name,\"goodput, kbit/s\"\nb,8000\nb,8001\n");
    assert_eq!(missing, ["a"]);
    assert_eq!(table(&figures, "goodput-mbit-s/trials").1, ["b"]);

    let nothing = run(vec![case(&[], "Mbit/s", &[])]);
    assert!(CommonFigures::of(&labelled(&[("a", &mbit), ("b", &nothing)])).list().is_empty());
}

#[test]
fn lines_that_would_look_alike_are_in_a_figure_for_each_case() {
    let delays: Vec<String> = (1..=8).map(|delay| format!("{delay} ms")).collect();
    let of = |delay: &String| case(&[("path.delay", delay)], "Mbit/s", &[1.0, 2.0]);
    let both = run(delays.iter().map(of).collect());
    let figures = CommonFigures::of(&labelled(&[("a", &both), ("b", &both)]));
    let names = names(&figures);
    assert_eq!(names[..3], ["goodput/means", "goodput/trials", "goodput/ecdf/1ms"]);
    assert_eq!(names.len(), 2 + delays.len());
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
    let (csv, missing) = table(&CommonFigures::of(&runs), "trend/goodput-over-delay");
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
