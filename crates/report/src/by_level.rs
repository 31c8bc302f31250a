//! Box plots and bars of a run's metrics, and box plots of its requests: of its cases, and by the
//! levels of each of its factors.

use tcplab_plot::{Content, Looks, Picture};
use tcplab_results::{Case, Run};
use tcplab_scenario::{MetricInfo, metric};

use crate::absent::without_values;
use crate::figures::{RunFigure, words};
use crate::summary::boxes::{REQUESTS, bars_by, bars_of_cases, boxes_by, named_boxes};
use crate::summary::measure::{
    Factor, Measured, distinct, factors, level_of, response_times, values,
};
use crate::summary::metrics::{is_truth, rank};
use crate::title::{free_name, short, title};

/// The figures of a run's metrics; each is drawn when it is asked for.
pub struct MetricFigures<'r> {
    run: &'r Run,
    factors: Vec<Factor>,
    list: Vec<MetricFigure>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricFigure {
    /// Such as `goodput/boxes`, or of several factors also `goodput/boxes/loss`; unique.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Whether the metric is not one of the key metrics.
    pub is_detail: bool,
    /// None: the response times of requests.
    metric: Option<&'static MetricInfo>,
    /// The index of the factor whose levels it has; none of cases.
    factor: Option<usize>,
    shape: Shape,
}

impl MetricFigure {
    /// Whether it is of the response times of requests, not of a metric of trials.
    pub fn is_of_requests(&self) -> bool {
        self.metric.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Boxes,
    Bars,
}

impl<'r> MetricFigures<'r> {
    /// Of each metric with values a box plot and bars of the cases. Of several factors also by the
    /// levels of each: boxes of all trials with a level, and bars of marginal means, which need
    /// trials that have all levels. Of the response times of requests, where there are any, boxes
    /// of all requests alike.
    pub fn of(run: &'r Run) -> MetricFigures<'r> {
        let summaries = run.cases.iter().flat_map(|case| &case.summaries);
        let names = distinct(summaries.map(|it| it.name.as_str()).filter(|name| !is_truth(name)));
        let mut metrics: Vec<&'static MetricInfo> = names.into_iter().filter_map(metric).collect();
        metrics.sort_by_key(|it| (it.is_detail(), rank(it.name)));
        let factors = factors(run);
        let mut all = MetricFigures { run, factors, list: Vec::new() };
        let keys = all.keys();
        let several = (0..all.factors.len()).filter(|_| all.factors.len() > 1).map(Some);
        let groups: Vec<Option<usize>> = std::iter::once(None).chain(several).collect();
        for metric in metrics {
            let measured = Measured::with(run, metric, all.factors.clone());
            if measured.points.is_empty() {
                continue;
            }
            for (shape, factor) in [Shape::Boxes, Shape::Bars]
                .iter()
                .flat_map(|it| groups.iter().map(move |at| (*it, *at)))
            {
                let has_means = |factor| !measured.blocks(factor).is_empty();
                if shape == Shape::Bars && !factor.is_none_or(has_means) {
                    continue;
                }
                let (key, shows) = match shape {
                    Shape::Boxes => ("boxes", "box plot"),
                    Shape::Bars if factor.is_some() && measured.by_ratio => {
                        ("bars", "geometric mean as a bar")
                    }
                    Shape::Bars => ("bars", "mean as a bar"),
                };
                let (behind, of) = match factor {
                    Some(at) => (format!("/{}", keys[at]), short(&all.factors[at].key)),
                    None => (String::new(), "case".into()),
                };
                all.list.push(MetricFigure {
                    name: format!("{}/{key}{behind}", metric.name),
                    title: format!("{}: {shows}, by {of}", title(metric.name)),
                    is_detail: metric.is_detail(),
                    metric: Some(metric),
                    factor,
                    shape,
                });
            }
        }
        all.add_requests(&keys, &groups);
        all
    }

    fn add_requests(&mut self, keys: &[String], groups: &[Option<usize>]) {
        if self.run.cases.iter().all(|case| response_times(case).is_empty()) {
            return;
        }
        for factor in groups {
            let (behind, of) = match *factor {
                Some(at) => (format!("/{}", keys[at]), short(&self.factors[at].key)),
                None => (String::new(), "case".into()),
            };
            self.list.push(MetricFigure {
                name: format!("{REQUESTS}/boxes{behind}"),
                title: format!("response time: box plot over requests, by {of}"),
                is_detail: false,
                metric: None,
                factor: *factor,
                shape: Shape::Boxes,
            });
        }
        // The key metrics first.
        self.list.sort_by_key(|it| it.is_detail);
    }

    /// What the factors are called in names of figures; unique.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for factor in &self.factors {
            let name = words(&short(&factor.key));
            keys.push(free_name(&name, '-', |name| keys.iter().any(|it| it == name)));
        }
        keys
    }

    /// Key metrics first.
    pub fn list(&self) -> &[MetricFigure] {
        &self.list
    }

    /// Draws one of the list.
    pub fn draw(&self, figure: &MetricFigure) -> RunFigure {
        let (values, content) = match figure.metric {
            Some(metric) => self.of_metric(metric, figure),
            None => ("response time, ms".to_owned(), self.of_requests(figure.factor)),
        };
        let picture = Picture { title: figure.title.clone(), values, content };
        let (drawn, _) = picture.drawn(&Looks::default());
        let (name, title) = (figure.name.clone(), figure.title.clone());
        let (svg, table) = (drawn.svg, Some(drawn.table));
        let notes = without_values(&self.absent(figure));
        let picture = Some(picture);
        RunFigure { name, title, svg, table, picture, notes, ..RunFigure::default() }
    }

    /// The cases or levels that a figure has no values of, and whether all of their trials failed.
    fn absent(&self, figure: &MetricFigure) -> Vec<(String, bool)> {
        let is_empty = |case: &Case| match figure.metric {
            Some(metric) => values(case, metric.name).is_empty(),
            None => response_times(case).is_empty(),
        };
        let named = |name: &String, cases: &[&Case]| {
            let is_absent = cases.iter().all(|case| is_empty(case));
            is_absent.then(|| (name.clone(), cases.iter().all(|case| case.all_failed())))
        };
        let cases = &self.run.cases;
        let Some(factor) = figure.factor.map(|at| &self.factors[at]) else {
            return cases.iter().filter_map(|case| named(&case.name, &[case])).collect();
        };
        let with = |level: &String| -> Vec<&Case> {
            let has = |case: &&Case| level_of(case, &factor.key) == Some(level.as_str());
            cases.iter().filter(has).collect()
        };
        factor.levels.iter().filter_map(|level| named(level, &with(level))).collect()
    }

    /// What is measured, with its unit, and how it is drawn.
    fn of_metric(&self, metric: &'static MetricInfo, figure: &MetricFigure) -> (String, Content) {
        let measured = Measured::with(self.run, metric, self.factors.clone());
        match (figure.factor, figure.shape) {
            (None, shape) => (measured.name(), self.of_cases(metric.name, shape)),
            (Some(factor), Shape::Boxes) => (measured.name(), boxes_by(&measured, factor)),
            (Some(factor), Shape::Bars) => (measured.name_of_means(), bars_by(&measured, factor)),
        }
    }

    /// Of all cases, or of those with each level of a factor.
    fn of_requests(&self, factor: Option<usize>) -> Content {
        let cases = &self.run.cases;
        let Some(factor) = factor.map(|at| &self.factors[at]) else {
            let times: Vec<Vec<f64>> = cases.iter().map(response_times).collect();
            return named_boxes(cases.iter().map(|case| &case.name).zip(&times));
        };
        let with = |level: &String| {
            let has = |case: &&Case| level_of(case, &factor.key) == Some(level.as_str());
            cases.iter().filter(has).flat_map(response_times).collect()
        };
        let times: Vec<Vec<f64>> = factor.levels.iter().map(with).collect();
        named_boxes(factor.levels.iter().zip(&times))
    }

    fn of_cases(&self, name: &str, shape: Shape) -> Content {
        match shape {
            Shape::Boxes => {
                let of = |case| values(case, name).into_iter().map(|(_, value)| value).collect();
                let all: Vec<Vec<f64>> = self.run.cases.iter().map(of).collect();
                named_boxes(self.run.cases.iter().map(|case| &case.name).zip(&all))
            }
            Shape::Bars => bars_of_cases(&self.run.cases, name).unwrap_or(Content::Bars(vec![])),
        }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_results::{EndRow, Failure, Metric, Metrics, Summary, Trial};
    use tcplab_scenario::metrics;
    use tcplab_units::Endpoint;

    use super::*;
    use crate::looks::FigureLooks;

    /// With these levels and goodputs of its trials.
    fn case(levels: &[(&str, &str)], goodputs: &[f64]) -> Case {
        let trial = |(index, value): (usize, &f64)| {
            let metrics = Metrics::from_iter([Metric::of(metrics::GOODPUT, *value)]);
            Trial { number: u32::try_from(index).unwrap() + 1, metrics, ..Trial::default() }
        };
        let names: Vec<&str> = levels.iter().map(|(_, level)| *level).collect();
        Case {
            name: names.join("_"),
            levels: levels.iter().map(|(key, level)| ((*key).into(), (*level).into())).collect(),
            trials: goodputs.iter().enumerate().map(trial).collect(),
            summaries: Summary::of(metrics::GOODPUT, goodputs).into_iter().collect(),
            ..Case::default()
        }
    }

    fn table(figures: &MetricFigures<'_>, name: &str) -> String {
        let figure = figures.list().iter().find(|it| it.name == name).expect("the figure");
        figures.draw(figure).table.expect("numbers").csv()
    }

    fn names(figures: &MetricFigures<'_>) -> Vec<String> {
        figures.list().iter().map(|it| it.name.clone()).collect()
    }

    #[test]
    fn one_factor_has_figures_of_its_cases() {
        let cases = [("1 ms", [8.0, 9.0, 10.0, 11.0]), ("2 ms", [4.0, 5.0, 6.0, 7.0])];
        let cases = cases.map(|(delay, values)| case(&[("path.delay", delay)], &values));
        let run = Run { cases: cases.into(), ..Run::default() };
        let figures = MetricFigures::of(&run);
        assert_eq!(names(&figures), ["goodput/boxes", "goodput/bars"]);
        let bars = table(&figures, "goodput/bars");
        assert!(bars.starts_with("bar,\"goodput, Mbit/s\",low,high\n1 ms,9.5,7.44"), "{bars}");
        let boxes = table(&figures, "goodput/boxes");
        assert!(boxes.contains("\n2 ms,first quartile,4.75\n2 ms,median,5.5\n"), "{boxes}");
    }

    #[test]
    fn cases_and_levels_without_values_are_noted() {
        let of = |delay, loss, values: &[f64]| {
            case(&[("path.delay", delay), ("path.loss", loss)], values)
        };
        let mut run = Run {
            cases: vec![
                of("1 ms", "0 %", &[8.0, 10.0]),
                of("1 ms", "9 %", &[]),
                of("2 ms", "0 %", &[]),
                of("2 ms", "9 %", &[]),
            ],
            ..Run::default()
        };
        for case in &mut run.cases[1..3] {
            case.failures = vec![Failure {
                number: 1,
                seed: 1,
                directory: "trials/x-1".into(),
                attempts: 1,
                reason: "it stalled".into(),
            }];
        }
        let figures = MetricFigures::of(&run);
        let notes = |name: &str| {
            let figure = figures.list().iter().find(|it| it.name == name).expect("the figure");
            FigureLooks::default().applied(figures.draw(figure)).unwrap().1
        };
        let of_cases =
            ["no values: `1 ms_9 %`, `2 ms_0 %` (all trials failed)", "no values: `2 ms_9 %`"];
        assert_eq!(notes("goodput/bars"), of_cases);
        assert_eq!(notes("goodput/boxes")[..2], of_cases);
        assert_eq!(notes("goodput/boxes/delay")[0], "no values: `2 ms`");
    }

    #[test]
    fn requests_have_boxes_by_case_and_by_level() {
        let mut cases = vec![
            case(&[("path.delay", "1 ms"), ("path.loss", "0 %")], &[8.0]),
            case(&[("path.delay", "1 ms"), ("path.loss", "1 %")], &[7.0]),
            case(&[("path.delay", "2 ms"), ("path.loss", "0 %")], &[]),
        ];
        let times = [[1.0, 2.0, 3.0, 4.0, f64::NAN], [5.0, 6.0, 7.0, 8.0, 30.0]];
        for (case, times) in cases.iter_mut().zip(times) {
            case.trials[0].ends = vec![EndRow {
                end: Endpoint::Client,
                calls: Vec::new(),
                response_times_ms: times.into(),
                request_tries: Vec::new(),
                states: Vec::new(),
                metrics: Vec::new(),
            }];
        }
        let run = Run { cases, ..Run::default() };
        let figures = MetricFigures::of(&run);
        let of_requests = names(&figures).into_iter().filter(|it| it.starts_with("requests/"));
        assert_eq!(
            of_requests.collect::<Vec<_>>(),
            ["requests/boxes", "requests/boxes/delay", "requests/boxes/loss"]
        );
        let by_case = table(&figures, "requests/boxes");
        assert!(by_case.contains("\n1 ms_0 %,median,2.5\n"), "{by_case}");
        assert!(by_case.contains("\n1 ms_1 %,outlier,30\n"), "{by_case}");
        assert!(!by_case.contains("2 ms"), "nothing was requested: {by_case}");
        let by_delay = table(&figures, "requests/boxes/delay");
        assert!(by_delay.contains("\n1 ms,median,5\n"), "all nine: {by_delay}");
    }

    #[test]
    fn each_of_several_factors_has_figures_of_its_levels() {
        let of = |delay, loss, values: &[f64]| {
            case(&[("path.delay", delay), ("path.loss", loss)], values)
        };
        let mut run = Run {
            cases: vec![
                of("2 ms", "0 %", &[4.0, 6.0]),
                of("2 ms", "1 %", &[3.0, 5.0]),
                of("1 ms", "0 %", &[8.0, 10.0]),
                of("1 ms", "1 %", &[7.0, 9.0]),
            ],
            ..Run::default()
        };
        let all = ["boxes", "boxes/delay", "boxes/loss", "bars", "bars/delay", "bars/loss"];
        let figures = MetricFigures::of(&run);
        assert_eq!(names(&figures), all.map(|it| format!("goodput/{it}")));
        let boxes = table(&figures, "goodput/boxes/delay");
        let lines: Vec<&str> = boxes.lines().skip(1).collect();
        // Numbers rise, whatever the order of the cases.
        assert_eq!(lines[..2], ["1 ms,lower whisker,7", "1 ms,first quartile,7.75"], "{boxes}");
        let bars = table(&figures, "goodput/bars/loss");
        let means: Vec<&str> =
            bars.lines().skip(1).map(|line| &line[..line.len().min(5)]).collect();
        assert_eq!(means, ["0 %,7", "1 %,6"], "{bars}");
        // Values that span a factor of ten have geometric means.
        run.cases[3] = of("1 ms", "1 %", &[0.5, 9.0]);
        let figures = MetricFigures::of(&run);
        let heads = ["goodput/bars", "goodput/boxes/loss", "goodput/bars/loss"]
            .map(|name| table(&figures, name).lines().next().unwrap().to_owned());
        let [all, boxes, means] = heads;
        assert_eq!(all, "bar,\"goodput, Mbit/s\",low,high");
        assert_eq!(boxes, "name,part,\"goodput, Mbit/s\"");
        assert_eq!(means, "bar,\"goodput (geometric mean), Mbit/s\",low,high");
        // No trial of the second loss: no block has both.
        run.cases.retain(|case| !case.name.ends_with("1 %") || case.name.starts_with('9'));
        run.cases.push(of("9 ms", "1 %", &[1.0]));
        let figures = MetricFigures::of(&run);
        assert!(
            !names(&figures).contains(&"goodput/bars/loss".to_owned()),
            "{:?}",
            names(&figures)
        );
    }
}
