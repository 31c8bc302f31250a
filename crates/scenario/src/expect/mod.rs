//! The `[[expect]]` sections: claims about the outcome.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Endpoint;
use toml::Spanned;

use crate::case::Case;
use crate::fault::Fault;
use crate::located::Located;
use crate::matrix::{Matrix, Wanted, select};
use crate::metrics::{Better, METRICS, MetricInfo, MetricKind, Scope, Source, metric};
use crate::operand::{Operand, Value, value};
use crate::problem::Problem;

mod selection;

pub use selection::Selection;
pub(crate) use selection::check_flow;

/// Stands for a metric relative to another case's.
const RATIO: MetricInfo = MetricInfo {
    name: "the ratio",
    label: "ratio",
    unit: "",
    meaning: "A metric divided by that of another case",
    better: Better::Neither,
    scope: Scope::Trial,
    kind: MetricKind::Number,
    source: Source::Applications,
    quantity: None,
};

/// A claim about a metric. It is evaluated case by case, over the values of all trials of the case
/// (and of all their episodes, for a metric of episodes); with [`Self::over`], over those of
/// several cases together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The scenario's text.
    pub claim: String,
    /// A name in [`METRICS`].
    pub metric: String,
    /// The statistic of its values.
    pub of: Statistic,
    /// Which of its values, if they belong to endpoints or calls.
    #[serde(default)]
    pub selection: Selection,
    /// Conditions that all must hold, at least one.
    pub checks: Vec<Check>,
    /// How many trials of each case it needs, from 1; see [`Evidence`].
    #[serde(default = "one")]
    pub trials: u32,
    /// Indices of the cases that the claim applies to, at least one.
    pub cases: Vec<usize>,
    /// For each of them the case to divide by, trial by trial: the checks then apply to the ratio.
    /// Empty: none.
    #[serde(default)]
    pub baselines: Vec<usize>,
    /// A factor: cases that differ only in its level are evaluated together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

impl Expectation {
    /// The definition of its metric.
    pub fn metric_info(&self) -> &'static MetricInfo {
        metric(&self.metric).expect("claims name metrics that exist")
    }

    /// What decides about one of its checks.
    pub fn evidence(&self, check: &Check) -> Evidence {
        match (self.of, check) {
            (Statistic::All, Check::Includes(_))
            | (Statistic::Min, Check::AtMost(_))
            | (Statistic::Max, Check::AtLeast(_)) => Evidence::Example,
            (Statistic::All, _)
            | (Statistic::Min, Check::AtLeast(_))
            | (Statistic::Max, Check::AtMost(_)) => Evidence::Counterexample,
            _ => Evidence::Whole,
        }
    }
}

fn one() -> u32 {
    1
}

/// What decides about a check before a claim has all the trials that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// It is about every value: one that is otherwise breaks it for good.
    Counterexample,
    /// It is about some value: one that is so settles it for good.
    Example,
    /// It is about all values together: nothing but all of them.
    Whole,
}

/// Such as `median of episode.duration at most 1 s`.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of != Statistic::All {
            write!(f, "{} of ", self.of.name())?;
        }
        write!(f, "{}{}", self.metric, self.selection)?;
        let info = self.metric_info();
        let (relative, unit) = if self.baselines.is_empty() {
            ("", info.unit)
        } else {
            (" ÷ that of the baseline", "times")
        };
        f.write_str(relative)?;
        for (i, check) in self.checks.iter().enumerate() {
            f.write_str(if i == 0 { " " } else { " and " })?;
            check.write(info, unit, f)?;
        }
        self.over.as_ref().map_or(Ok(()), |factor| write!(f, ", over {factor}"))
    }
}

/// Which statistic of a metric's values a claim checks.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// Every single value.
    #[default]
    All,
    /// Their arithmetic mean.
    Mean,
    /// Their median.
    Median,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Statistic {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::All => "all",
            Statistic::Mean => "mean",
            Statistic::Median => "median",
            Statistic::Min => "min",
            Statistic::Max => "max",
        }
    }
}

/// A condition on values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// No value is below.
    AtLeast(f64),
    /// No value is above.
    AtMost(f64),
    /// Each value equals this.
    Equals(Value),
    /// Each value is one of these.
    OneOf(Vec<Value>),
    /// Each of these occurs.
    Includes(Vec<Value>),
    /// None of these occurs.
    Excludes(Vec<Value>),
}

impl Check {
    /// Whether the condition holds for `values`. Without any value, only `excludes` holds.
    pub fn holds(&self, values: &[Value]) -> bool {
        let each = |good: &dyn Fn(&Value) -> bool| !values.is_empty() && values.iter().all(good);
        match self {
            Check::AtLeast(bound) => each(&|v| matches!(v, Value::Number(n) if n >= bound)),
            Check::AtMost(bound) => each(&|v| matches!(v, Value::Number(n) if n <= bound)),
            Check::Equals(wanted) => each(&|v| v == wanted),
            Check::OneOf(wanted) => each(&|v| wanted.contains(v)),
            Check::Includes(wanted) => wanted.iter().all(|w| values.contains(w)),
            Check::Excludes(unwanted) => !unwanted.iter().any(|u| values.contains(u)),
        }
    }

    fn write(&self, metric: &MetricInfo, unit: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |value: &Value| match (value, metric.kind) {
            (Value::Text(text), _) => format!("\"{text}\""),
            (Value::Number(n), MetricKind::Truth) => (*n != 0.0).to_string(),
            (Value::Number(n), _) => format!("{n} {unit}").trim_end().to_string(),
        };
        let list = |values: &[Value]| values.iter().map(one).collect::<Vec<_>>().join(", ");
        match self {
            Check::AtLeast(n) => write!(f, "at least {}", one(&Value::Number(*n))),
            Check::AtMost(n) => write!(f, "at most {}", one(&Value::Number(*n))),
            Check::Equals(value) => write!(f, "equals {}", one(value)),
            Check::OneOf(values) => write!(f, "is one of {}", list(values)),
            Check::Includes(values) => write!(f, "includes {}", list(values)),
            Check::Excludes(values) => write!(f, "excludes {}", list(values)),
        }
    }
}

/// A claim, which passes or fails. Needs at least one of `at_least`, `at_most`, `equals`, `one_of`,
/// `includes` and `excludes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectSpec {
    /// The claim as text.
    claim: String,
    /// The cases it applies to, by keys of the matrix and a level or a list of levels each.
    /// Default: all cases.
    #[serde(default, rename = "where")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    only: BTreeMap<String, Spanned<toml::Value>>,
    /// The baseline, by keys of the matrix and one level each: for each case, the one that differs
    /// in these levels alone. The claim then checks the metric divided by the baseline's, trial by
    /// trial, a number without unit: infinite where the baseline's alone is zero; trials where both
    /// are zero are left out. Only for metrics of trials.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    relative_to: Option<Spanned<BTreeMap<String, Spanned<toml::Value>>>>,
    /// A factor of the matrix: cases that differ only in its level are evaluated together, so that
    /// a claim is about all its levels, not each. With `of = "mean"` the findings give the 95 %
    /// confidence interval over the trials. Default: each case by itself.
    over: Option<Located<String>>,
    /// The metric.
    #[schemars(extend("enum" = METRICS.iter().map(|m| m.name).collect::<Vec<_>>()))]
    metric: Located<String>,
    /// The flow whose values count, where there are several. Metrics of trials then have a value
    /// for each of its connections. Default: the first flow in the file that is not background.
    flow: Option<Located<String>>,
    /// For metrics of endpoints: whose values count, `client` or `server`. Default: both.
    endpoint: Option<Located<Endpoint>>,
    /// For metrics of calls: which calls count, by the log's names, such as `close`, `read` or
    /// `read MSG_OOB`. Default: all.
    call: Option<Located<String>>,
    /// Use only the nth of each endpoint's remaining values, from 1. Default: all.
    #[schemars(range(min = 1))]
    nth: Option<Located<u64>>,
    /// The statistic to check. Default: `all`.
    #[serde(default)]
    of: Statistic,
    /// No value is below this.
    at_least: Option<Located<Operand>>,
    /// No value is above this.
    at_most: Option<Located<Operand>>,
    /// Every value equals this.
    equals: Option<Located<Operand>>,
    /// Every value is one of these.
    one_of: Option<Located<Vec<Located<Operand>>>>,
    /// Each of these occurs.
    includes: Option<Located<Vec<Located<Operand>>>>,
    /// None of these occurs.
    excludes: Option<Located<Vec<Located<Operand>>>>,
    /// How many trials of each case the claim needs. With fewer (`--quick`, `--trials`) it is not
    /// judged, unless what there is settles it: a value that breaks a claim about each value, or
    /// that settles one about some value. Default: the scenario's number of trials.
    #[schemars(range(min = 1, max = 99999))]
    trials: Option<Located<u32>>,
}

impl ExpectSpec {
    /// The claim with values in the metric's unit and indices of cases, of a scenario with `all`
    /// trials at least.
    pub(crate) fn resolve(
        &self,
        matrix: &Matrix<'_>,
        cases: &[Case],
        source: &str,
        all: u32,
    ) -> Result<Expectation, Fault> {
        let trials = self.trials.as_ref().map_or(all, |trials| *trials.get_ref());
        if let Some(written) = self.trials.as_ref().filter(|it| !(1..=all).contains(it.get_ref())) {
            return Err(Fault::new(Problem::ClaimTrials { most: all }, written.span()));
        }
        let name = self.metric.get_ref();
        let Some(metric) = metric(name) else {
            return Err(Fault::new(Problem::UnknownMetric(name.clone()), self.metric.span()));
        };
        let checked = match &self.relative_to {
            None => metric,
            Some(_) if metric.scope == Scope::Trial && metric.kind == MetricKind::Number => &RATIO,
            Some(_) => {
                return Err(Fault::new(Problem::NotRelative(name.clone()), self.metric.span()));
            }
        };
        let selection = self.selection(metric, cases)?;
        let checks = self.checks(checked)?;
        if checks.is_empty() {
            return Err(Fault::new(Problem::NothingClaimed(name.clone()), self.metric.span()));
        }
        let wanted = select(&self.only, matrix, source)?;
        let selected: Vec<usize> =
            (0..cases.len()).filter(|index| is_selected(&cases[*index], &wanted)).collect();
        if selected.is_empty() {
            let place = self.only.values().next().map_or(self.metric.span(), Spanned::span);
            return Err(Fault::new(Problem::NoCaseLeft, place));
        }
        let (selected, baselines) = self.baselines(matrix, cases, selected, source)?;
        let over = self.over.as_ref().map(|factor| matrix.find(factor)).transpose()?;
        Ok(Expectation {
            claim: self.claim.clone(),
            metric: name.clone(),
            of: self.of,
            selection,
            checks,
            trials,
            cases: selected,
            baselines,
            over: over.map(|factor| factor.key.to_string()),
        })
    }

    fn checks(&self, metric: &'static MetricInfo) -> Result<Vec<Check>, Fault> {
        let mut checks = Vec::new();
        let mut bounds = [None, None];
        for (name, operand, bound) in
            [("at_least", &self.at_least, 0), ("at_most", &self.at_most, 1)]
        {
            let Some(operand) = operand else { continue };
            let Value::Number(number) = value(operand, metric, name)? else { continue };
            bounds[bound] = Some(number);
            checks.push(if bound == 0 { Check::AtLeast(number) } else { Check::AtMost(number) });
        }
        if let ([Some(least), Some(most)], Some(at)) = (bounds, &self.at_least)
            && least > most
        {
            return Err(Fault::new(Problem::NothingBetween, at.span()));
        }
        if let Some(operand) = &self.equals {
            self.fits("equals", metric, operand.span())?;
            checks.push(Check::Equals(value(operand, metric, "equals")?));
        }
        let lists: [(_, _, OfValues); 3] = [
            ("one_of", &self.one_of, Check::OneOf),
            ("includes", &self.includes, Check::Includes),
            ("excludes", &self.excludes, Check::Excludes),
        ];
        for (name, operands, check) in lists {
            let Some(operands) = operands else { continue };
            self.fits(name, metric, operands.span())?;
            if operands.get_ref().is_empty() {
                return Err(Fault::new(Problem::EmptyList { check: name }, operands.span()));
            }
            let values = operands.get_ref().iter().map(|operand| value(operand, metric, name));
            checks.push(check(values.collect::<Result<_, _>>()?));
        }
        Ok(checks)
    }

    /// Refuses checks that do not fit `of`.
    fn fits(
        &self,
        check: &'static str,
        metric: &'static MetricInfo,
        span: std::ops::Range<usize>,
    ) -> Result<(), Fault> {
        if self.of == Statistic::All {
            return Ok(());
        }
        if matches!(metric.kind, MetricKind::Text(_)) {
            let problem =
                Problem::NotForTexts { check: self.of.name(), metric: metric.name.into() };
            return Err(Fault::new(problem, span));
        }
        if matches!(check, "includes" | "excludes") {
            return Err(Fault::new(Problem::NotForStatistic { check }, span));
        }
        Ok(())
    }

    /// For each case its baseline: the case that differs in these levels alone, and in those paired
    /// with them. Cases without a baseline in the design are left out.
    fn baselines(
        &self,
        matrix: &Matrix<'_>,
        cases: &[Case],
        selected: Vec<usize>,
        source: &str,
    ) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let Some(against) = &self.relative_to else { return Ok((selected, Vec::new())) };
        let (span, against) = (against.span(), against.get_ref());
        let wanted = select(against, matrix, source)?;
        if wanted.is_empty() || wanted.iter().any(|(_, texts)| texts.len() != 1) {
            return Err(Fault::new(Problem::NotOneLevel, span));
        }
        let moved: Vec<(String, String)> =
            wanted.iter().flat_map(|(key, texts)| matrix.with_partners(key, &texts[0])).collect();
        let of = |index: usize| {
            let mut levels = cases[index].levels.clone();
            for (key, level) in &mut levels {
                if let Some((_, other)) = moved.iter().find(|(moved, _)| moved == key) {
                    level.clone_from(other);
                }
            }
            let other = cases.iter().position(|case| case.levels == levels);
            other.map(|other| (index, other))
        };
        let found: Vec<(usize, usize)> = selected.into_iter().filter_map(of).collect();
        if found.is_empty() {
            return Err(Fault::new(Problem::NothingToCompare, span));
        }
        Ok(found.into_iter().unzip())
    }
}

/// Whether a case has a wanted level of each factor.
fn is_selected(case: &Case, wanted: &[Wanted]) -> bool {
    let has = |key: &String, texts: &[String]| {
        case.levels.iter().any(|(of, level)| of == key && texts.contains(level))
    };
    wanted.iter().all(|(key, texts)| has(key, texts))
}

/// Builds a check from its values.
type OfValues = fn(Vec<Value>) -> Check;

#[cfg(test)]
mod tests;
