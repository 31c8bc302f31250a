//! The `[[plot]]` sections: metrics over a factor of the matrix.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Probability, Rate, Span};
use toml::Spanned;

use crate::case::Case;
use crate::expect::check_flow;
use crate::fault::Fault;
use crate::key::Key;
use crate::located::Located;
use crate::matrix::{Factor, Matrix};
use crate::metrics::{Better, METRICS, MetricInfo, metric, number_names};
use crate::problem::Problem;

/// Plotted by default.
const USUAL: [&str; 1] = ["goodput"];
/// Plotted by default for a load.
const USUAL_OF_LOAD: [&str; 2] = ["load.rate", "load.response"];
/// A line through fewer levels shows no more than the table.
const LEVELS_WORTH_A_LINE: usize = 3;

/// A plot in the report: a metric over a factor whose levels are numbers, with a line for each
/// level of another factor; or against another metric, with a point for each level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plot {
    /// A metric with one number per trial.
    pub metric: String,
    /// Its flow; `None`: the trial's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The factor on the horizontal axis; against another metric, the factor of the points.
    pub over: String,
    /// The factor of the lines, or of the points' colours; `None`: one line or colour. The levels
    /// of all other factors get a plot each.
    pub by: Option<String>,
    /// Another metric with one number per trial, on the horizontal axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Its flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_flow: Option<String>,
}

/// The metric on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure<'p> {
    /// A metric with one number per trial.
    pub metric: &'p str,
    /// Its flow; `None`: the trial's.
    pub flow: Option<&'p str>,
}

/// Such as `goodput of bulk`.
impl fmt::Display for Measure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric)?;
        self.flow.map_or(Ok(()), |flow| write!(f, " of {flow}"))
    }
}

impl Plot {
    /// The plotted metric.
    pub fn measure(&self) -> Measure<'_> {
        Measure { metric: &self.metric, flow: self.flow.as_deref() }
    }

    /// The metric that it is plotted against.
    pub fn other_measure(&self) -> Option<Measure<'_>> {
        let metric = self.against.as_deref()?;
        Some(Measure { metric, flow: self.against_flow.as_deref() })
    }
}

/// A plot in the report: a metric over a factor of the matrix, or against another metric, with
/// confidence intervals. Default: the metric of the question, else of the first comparison, and
/// goodput (for a load, its rate and response time), over the factor with most numbers, if it has
/// three.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlotSpec {
    /// The metric, which needs one number per trial.
    #[schemars(extend("enum" = number_names()))]
    metric: Located<String>,
    /// The flow of the metric, where there are several; the median of its connections. Default: the
    /// first flow in the file that is not background.
    flow: Option<Located<String>>,
    /// The factor on the horizontal axis, whose levels are numbers or quantities such as
    /// `"64 KiB"`; the axis is logarithmic if they span a decade. Default: the factor with most
    /// levels. With `against`, the factor of the points, numbers or not.
    over: Option<Located<String>>,
    /// The factor of the lines. Default: of the others, the one with most levels. With `against`,
    /// the factor of the colours. Default: none.
    by: Option<Located<String>>,
    /// Another metric on the horizontal axis: each variant is a point with confidence intervals in
    /// both directions, and a line joins the Pareto-optimal variants. Both metrics need a better
    /// direction.
    #[schemars(extend("enum" = compared_names()))]
    against: Option<Located<String>>,
    /// The flow of that metric, which may differ from `flow`: each of two flows can have its own
    /// axis. Default: as for `flow`.
    against_flow: Option<Located<String>>,
}

/// Metrics that can be plotted against another, for the schema. Null means a missing key.
fn compared_names() -> Vec<Option<&'static str>> {
    let compared =
        METRICS.iter().filter(|it| it.is_number_of_trial() && it.better != Better::Neither);
    compared.map(|it| Some(it.name)).chain([None]).collect()
}

impl PlotSpec {
    pub(crate) fn resolve(&self, matrix: &Matrix<'_>, cases: &[Case]) -> Result<Plot, Fault> {
        let plot = match (&self.against, &self.against_flow) {
            (Some(against), _) => self.resolve_against(against, matrix)?,
            (None, Some(flow)) => return Err(Fault::new(Problem::AgainstNothing, flow.span())),
            (None, None) => self.resolve_over(matrix)?,
        };
        for (metric, flow) in
            [(Some(&self.metric), &self.flow), (self.against.as_ref(), &self.against_flow)]
        {
            if let (Some(metric), Some(flow)) = (metric, flow) {
                check_flow(flow, drawn(metric)?, cases)?;
            }
        }
        Ok(Plot {
            flow: text(self.flow.as_ref()),
            against_flow: text(self.against_flow.as_ref()),
            ..plot
        })
    }

    /// A metric against another metric.
    fn resolve_against(
        &self,
        against: &Located<String>,
        matrix: &Matrix<'_>,
    ) -> Result<Plot, Fault> {
        for written in [&self.metric, against] {
            let info = drawn(written)?;
            if info.better == Better::Neither {
                return Err(Fault::new(Problem::NoMerit(info.name.into()), written.span()));
            }
        }
        let is_same_flow = text(self.flow.as_ref()) == text(self.against_flow.as_ref());
        if against.get_ref() == self.metric.get_ref() && is_same_flow {
            let problem = Problem::AgainstItself(against.get_ref().clone());
            return Err(Fault::new(problem, against.span()));
        }
        let over = match &self.over {
            Some(written) => matrix.find(written)?,
            None => most_levels(matrix.factors())
                .ok_or_else(|| Fault::new(Problem::OnePoint, self.metric.span()))?,
        };
        let by = self.by.as_ref().map(|written| other_than(over, written, matrix)).transpose()?;
        Ok(Plot {
            metric: self.metric.get_ref().clone(),
            over: over.key.to_string(),
            by,
            against: Some(against.get_ref().clone()),
            ..Plot::default()
        })
    }

    /// A metric over a factor.
    fn resolve_over(&self, matrix: &Matrix<'_>) -> Result<Plot, Fault> {
        let info = drawn(&self.metric)?;
        let over = match &self.over {
            Some(written) => {
                let factor = matrix.find(written)?;
                if numbers(factor).is_none() {
                    let problem = Problem::NoNumbers(factor.key.to_string());
                    return Err(Fault::new(problem, written.span()));
                }
                factor
            }
            None => longest(matrix)
                .ok_or_else(|| Fault::new(Problem::NothingToDrawOver, self.metric.span()))?,
        };
        let by = match &self.by {
            Some(written) => Some(other_than(over, written, matrix)?),
            None => other(matrix, &over.key),
        };
        Ok(Plot { metric: info.name.into(), over: over.key.to_string(), by, ..Plot::default() })
    }
}

fn text(written: Option<&Located<String>>) -> Option<String> {
    written.map(|it| it.get_ref().clone())
}

/// The metric of this name, which needs one number per trial.
fn drawn(written: &Spanned<String>) -> Result<&'static MetricInfo, Fault> {
    let name = written.get_ref();
    let Some(info) = metric(name) else {
        return Err(Fault::new(Problem::UnknownMetric(name.clone()), written.span()));
    };
    if !info.is_number_of_trial() {
        return Err(Fault::new(Problem::NotDrawn(name.clone()), written.span()));
    }
    Ok(info)
}

/// The factor of this name, which must not be `over`.
fn other_than(
    over: &Factor<'_>,
    written: &Spanned<String>,
    matrix: &Matrix<'_>,
) -> Result<String, Fault> {
    let factor = matrix.find(written)?;
    if factor.key == over.key || matrix.are_paired(&factor.key, &over.key) {
        return Err(Fault::new(Problem::OverItself(factor.key.to_string()), written.span()));
    }
    Ok(factor.key.to_string())
}

/// The default plots: first of the `main` metric, if the scenario names one.
pub(crate) fn usual(matrix: &Matrix<'_>, cases: &[Case], main: Option<&str>) -> Vec<Plot> {
    let Some(over) = longest(matrix).filter(|it| it.levels.len() >= LEVELS_WORTH_A_LINE) else {
        return Vec::new();
    };
    let loads = cases.iter().filter(|case| case.workload.load.is_some()).count();
    let usual: &[&str] = match loads {
        0 if cases.iter().any(|case| case.workload.amount() == Bytes::ZERO) => &[],
        0 => &USUAL,
        _ => &USUAL_OF_LOAD,
    };
    let plot = |metric: &str| Plot {
        metric: metric.into(),
        over: over.key.to_string(),
        by: other(matrix, &over.key),
        ..Plot::default()
    };
    let main = main.filter(|name| metric(name).is_some_and(MetricInfo::is_number_of_trial));
    let others = usual.iter().copied().filter(|name| Some(*name) != main);
    main.into_iter().chain(others).map(plot).collect()
}

/// The first factor with most numbers.
fn longest<'m, 'i>(matrix: &'m Matrix<'i>) -> Option<&'m Factor<'i>> {
    most_levels(matrix.factors().filter(|factor| numbers(factor).is_some()))
}

/// The first factor with most levels.
fn most_levels<'m, 'i>(factors: impl Iterator<Item = &'m Factor<'i>>) -> Option<&'m Factor<'i>>
where
    'i: 'm,
{
    factors.reduce(|most, next| if next.levels.len() > most.levels.len() { next } else { most })
}

/// Of the other factors, the first with most levels: few plots with many lines. A factor paired
/// with the axis would have a line for each point.
fn other(matrix: &Matrix<'_>, over: &Key) -> Option<String> {
    let is_other = |key: &Key| key != over && !matrix.are_paired(key, over);
    let most = most_levels(matrix.factors().filter(|factor| is_other(&factor.key)));
    most.map(|factor| factor.key.to_string())
}

fn numbers(factor: &Factor<'_>) -> Option<Vec<f64>> {
    let texts = factor.levels.iter().map(|level| level.text.as_str()).collect::<Vec<_>>();
    as_numbers(&texts)
}

/// Levels as numbers: plain ones, or quantities of one kind (bytes, seconds, bits per second, per
/// cent). `None` if one is neither, or there is only one.
pub fn as_numbers(levels: &[&str]) -> Option<Vec<f64>> {
    if levels.len() < 2 {
        return None;
    }
    let all = |read: &dyn Fn(&str) -> Option<f64>| -> Option<Vec<f64>> {
        levels.iter().map(|text| read(text).filter(|number| number.is_finite())).collect()
    };
    all(&|text| text.replace('_', "").parse().ok())
        .or_else(|| all(&|text| Some(text.parse::<Bytes>().ok()?.as_u64() as f64)))
        .or_else(|| all(&|text| Some(text.parse::<Span>().ok()?.as_secs_f64())))
        .or_else(|| all(&|text| Some(text.parse::<Rate>().ok()?.as_mbit_f64() * 1e6)))
        .or_else(|| all(&|text| Some(text.parse::<Probability>().ok()?.as_f64() * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn read(sections: &str) -> Result<Vec<Plot>, String> {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
             \"workload.write_size\" = [\"1 kB\", \"4 kB\", \"64 KiB\"]\n{sections}"
        );
        let read = Scenario::parse(&source, "t").map(|scenario| scenario.plots);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn plot_without_over_takes_factor_with_most_numbers() {
        let plot = |metric: &str, over: &str, by: Option<&str>| Plot {
            metric: metric.into(),
            over: over.into(),
            by: by.map(Into::into),
            ..Plot::default()
        };
        let (size, congestion) = ("workload.write_size", Some("client.socket.congestion"));
        assert_eq!(read("").unwrap(), [plot("goodput", size, congestion)], "by default");
        for (section, expected) in [
            ("metric = \"lost\"", plot("lost", size, congestion)),
            ("metric = \"lost\"\nover = \"workload.write_size\"", plot("lost", size, congestion)),
        ] {
            assert_eq!(read(&format!("[[plot]]\n{section}")).unwrap(), [expected], "{section}");
        }
    }

    /// The answer's metric is drawn, first.
    #[test]
    fn default_plot_is_of_the_metric_of_the_question_or_comparison() {
        let names = |sections: &str| -> Vec<String> {
            let source = format!(
                "title = \"t\"\n{sections}\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
                 \"workload.write_size\" = [\"1 kB\", \"4 kB\", \"64 KiB\"]\n"
            );
            let plots = Scenario::parse(&source, "t").unwrap().plots;
            plots.into_iter().map(|plot| plot.metric).collect()
        };
        let compare = "compare = [{ factor = \"workload.write_size\", levels = [\"1 kB\", \
                       \"4 kB\"], metrics = [\"lost\", \"goodput\"] }]";
        assert_eq!(names("question_metric = \"transfer_time\""), ["transfer_time", "goodput"]);
        assert_eq!(names("question_metric = \"goodput\""), ["goodput"]);
        assert_eq!(names(compare), ["lost", "goodput"]);
        let both = format!("question_metric = \"rtt.p95\"\n{compare}");
        assert_eq!(names(&both), ["rtt.p95", "goodput"]);
    }

    #[test]
    fn plot_against_metric_has_points() {
        let plot = |over: &str, by: Option<&str>| Plot {
            metric: "goodput".into(),
            over: over.into(),
            by: by.map(Into::into),
            against: Some("buffer_delay".into()),
            ..Plot::default()
        };
        let (size, congestion) = ("workload.write_size", "client.socket.congestion");
        for (keys, expected) in [
            ("", plot(size, None)),
            ("over = \"client.socket.congestion\"", plot(congestion, None)),
            ("by = \"client.socket.congestion\"", plot(size, Some(congestion))),
        ] {
            let section =
                format!("[[plot]]\nmetric = \"goodput\"\nagainst = \"buffer_delay\"\n{keys}");
            assert_eq!(read(&section).unwrap(), [expected], "{section}");
        }
    }

    #[test]
    fn plot_of_flows_has_two_flows() {
        let flows =
            "[flow.bulk]\n[flow.keys]\nworkload.keystrokes = { count = 3, every = \"1 s\" }\n";
        let keys = "metric = \"goodput\"\nflow = \"bulk\"\nagainst = \"median_response\"\n\
                    against_flow = \"keys\"";
        let plot = read(&format!("{flows}[[plot]]\n{keys}")).unwrap().remove(0);
        let measures =
            [Some(plot.measure()), plot.other_measure()].map(|it| it.map(|it| it.to_string()));
        assert_eq!(measures.map(Option::unwrap), ["goodput of bulk", "median_response of keys"]);
        let both =
            "metric = \"goodput\"\nflow = \"bulk\"\nagainst = \"goodput\"\nagainst_flow = \"keys\"";
        assert!(read(&format!("{flows}[[plot]]\n{both}")).is_ok(), "one flow against the other");
        for (section, why) in [
            ("flow = \"bulky\"", "unknown flow `bulky`"),
            ("against = \"lost\"\nagainst_flow = \"key\"", "unknown flow `key`"),
            ("against_flow = \"keys\"", "`against_flow` needs `against`"),
            ("against = \"fairness\"\nagainst_flow = \"keys\"", "`flow` does not apply to"),
            (
                "flow = \"keys\"\nagainst = \"goodput\"\nagainst_flow = \"keys\"",
                "`goodput` cannot be plotted against itself",
            ),
        ] {
            let result = read(&format!("{flows}[[plot]]\nmetric = \"goodput\"\n{section}"));
            assert!(
                result.as_ref().is_err_and(|result| result.contains(why)),
                "{section}: {result:?}"
            );
        }
        let result = read("[[plot]]\nmetric = \"goodput\"\nflow = \"bulk\"");
        assert!(result.is_err_and(|result| result.contains("unknown flow `bulk`")));
    }

    #[test]
    fn impossible_plot_is_refused() {
        for (section, why) in [
            ("metric = \"speed\"", "unknown metric `speed`"),
            ("metric = \"episode.duration\"", "`episode.duration` cannot be plotted"),
            (
                "metric = \"lost\"\nover = \"client.socket.congestion\"",
                "the levels of `client.socket.congestion` are not all numbers",
            ),
            ("metric = \"lost\"\nby = \"path.rate\"", "`path.rate` is not varied"),
            (
                "metric = \"lost\"\nby = \"workload.write_size\"",
                "`workload.write_size` cannot be both",
            ),
            ("metric = \"goodput\"\nagainst = \"speed\"", "unknown metric `speed`"),
            ("metric = \"goodput\"\nagainst = \"max_window\"", "`max_window` has no better"),
            (
                "metric = \"goodput\"\nagainst = \"goodput\"",
                "`goodput` cannot be plotted against itself",
            ),
        ] {
            let result = read(&format!("[[plot]]\n{section}"));
            assert!(
                result.as_ref().is_err_and(|result| result.contains(why)),
                "{section}: {result:?}"
            );
        }
    }

    #[test]
    fn levels_of_one_kind_become_numbers() {
        for (levels, numbers) in [
            (&["1", "4", "16"][..], Some(vec![1.0, 4.0, 16.0])),
            (&["1_000", "2.5"], Some(vec![1000.0, 2.5])),
            (&["512 B", "64 KiB"], Some(vec![512.0, 65536.0])),
            (&["0 ms", "2 s"], Some(vec![0.0, 2.0])),
            (&["5 Mbit/s", "1 Gbit/s"], Some(vec![5e6, 1e9])),
            (&["0.25 %", "10 %"], Some(vec![0.25, 10.0])),
            (&["1 kB", "2 s"], None),
            (&["reno", "1"], None),
            (&["nan", "1"], None),
            (&["7"], None),
        ] {
            assert_eq!(as_numbers(levels), numbers, "{levels:?}");
        }
    }
}
