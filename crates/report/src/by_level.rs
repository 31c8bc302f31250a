//! Box plots and bars of a run's metrics: of its cases, and by the levels of each of its factors.

use tcplab_plot::{Content, Looks, Picture};
use tcplab_results::Run;
use tcplab_scenario::{MetricInfo, metric};
use tcplab_stats::marginal_means;

use crate::figures::{RunFigure, words};
use crate::summary::boxes::{bars, boxes};
use crate::summary::measure::{Factor, Measured, distinct, factors, values};
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
    metric: &'static MetricInfo,
    /// The index of the factor whose levels it has; none of cases.
    factor: Option<usize>,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Boxes,
    Bars,
}

impl<'r> MetricFigures<'r> {
    /// Of each metric with values a box plot and bars of the cases. Of several factors also by the
    /// levels of each: boxes of all trials with a level, and bars of marginal means, which need
    /// trials that have all levels.
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
                let has_means = |factor| !measured.blocks(factor, |_| true).is_empty();
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
                    metric,
                    factor,
                    shape,
                });
            }
        }
        all
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
        let measured = Measured::with(self.run, figure.metric, self.factors.clone());
        let content = match (figure.factor, figure.shape) {
            (None, shape) => self.of_cases(figure.metric.name, shape),
            (Some(factor), Shape::Boxes) => boxes_by(&measured, factor),
            (Some(factor), Shape::Bars) => bars_by(&measured, factor),
        };
        let picture = Picture { title: figure.title.clone(), values: measured.name(), content };
        let (drawn, _) = picture.drawn(&Looks::default());
        let (name, title) = (figure.name.clone(), figure.title.clone());
        RunFigure { name, title, svg: drawn.svg, csv: Some(drawn.csv), picture: Some(picture) }
    }

    fn of_cases(&self, name: &str, shape: Shape) -> Content {
        match shape {
            Shape::Boxes => {
                let of = |case| values(case, name).into_iter().map(|(_, value)| value).collect();
                let all: Vec<(&str, Vec<f64>)> =
                    self.run.cases.iter().map(|case| (case.name.as_str(), of(case))).collect();
                let with_values = all.iter().filter(|(_, values)| !values.is_empty());
                boxes(with_values.map(|(case, values)| ((*case).to_owned(), values.as_slice())))
            }
            Shape::Bars => bars(self.run.cases.iter().filter_map(|case| {
                let summary = case.summaries.iter().find(|it| it.name == name)?;
                let mean = Some(summary.mean).filter(|mean| mean.is_finite())?;
                Some((case.name.clone(), mean, summary.interval))
            })),
        }
    }
}

/// Of all trials with each level.
fn boxes_by(measured: &Measured, factor: usize) -> Content {
    let levels = measured.values_by_level(factor);
    let named = measured.factors[factor].levels.iter().zip(&levels);
    let with_values = named.filter(|(_, values)| !values.is_empty());
    boxes(with_values.map(|(level, values)| (level.clone(), values.as_slice())))
}

/// The marginal mean of each level, as the report has it.
fn bars_by(measured: &Measured, factor: usize) -> Content {
    let means = marginal_means(&measured.blocks(factor, |_| true));
    let named = measured.factors[factor].levels.iter().zip(means);
    bars(named.map(|(level, (mean, interval))| {
        let interval = interval.map(|it| (measured.unscaled(it.low), measured.unscaled(it.high)));
        (level.clone(), measured.unscaled(mean), interval)
    }))
}

#[cfg(test)]
mod tests {
    use tcplab_results::{Case, Metric, Metrics, Summary, Trial};
    use tcplab_scenario::metrics;

    use super::*;

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
        figures.draw(figure).csv.expect("numbers")
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
