//! The `[[compare]]` sections: comparisons of two levels of a factor.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tcplab_units::Probability;
use toml::Spanned;

use crate::case::Case;
use crate::fault::Fault;
use crate::located::Located;
use crate::matrix::{Factor, Matrix, text_of, written_at};
use crate::metrics::{METRICS, MetricInfo, MetricKind, Scope, metric};
use crate::operand::{Operand, Value, value};
use crate::problem::Problem;

/// Compares two levels of a factor in each combination of all other levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// The factor, by its full name.
    pub factor: String,
    /// A (the baseline) and B.
    pub levels: [String; 2],
    /// Metrics of trials; empty: the key metrics.
    pub metrics: Vec<String>,
    /// The default equivalence margin.
    pub threshold: Threshold,
    /// Equivalence margins of single metrics.
    pub thresholds: BTreeMap<String, Threshold>,
}

/// An equivalence margin: the smallest difference that matters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// A share of A's median.
    Share(f64),
    /// An amount in the metric's unit.
    Absolute(f64),
}

/// 5 %. Nobody changes a setting for less; repeated measurements in real time differ by one or two
/// per cent, and models must be as close.
impl Default for Threshold {
    fn default() -> Threshold {
        Threshold::Share(0.05)
    }
}

impl Threshold {
    /// The margin in the metric's unit, for a median of A.
    pub fn margin(self, median: f64) -> f64 {
        match self {
            Threshold::Share(share) => share * median.abs(),
            Threshold::Absolute(amount) => amount,
        }
    }
}

/// A comparison of two levels of a factor, trial by trial with the same seed, in each combination
/// of all other levels: is the second better, worse or equivalent? The report starts with the
/// verdicts; `comparisons.json` and `comparisons.csv` contain them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareSpec {
    /// The factor: a key of the matrix.
    factor: Located<String>,
    /// Two of its levels, first the baseline: `["before", "after"]`. Default: its levels in the
    /// order of the file, if it has only two.
    #[schemars(with = "Option<[serde_json::Value; 2]>")]
    levels: Option<Spanned<Vec<Spanned<toml::Value>>>>,
    /// Metrics to compare, with one number per trial. All are tested together, so fewer metrics
    /// need fewer trials. Default: the key metrics, as in `tcplab compare`.
    #[schemars(extend("items" = names()))]
    metrics: Option<Located<Vec<Located<String>>>>,
    /// Equivalence margin, the smallest difference that matters: a share of the first level's
    /// median, such as `"1 %"`; or for each named metric a share or an amount in its unit: `{
    /// transfer_time = "1 %", retransmissions = 2 }`. Default: `"5 %"`.
    #[schemars(with = "Option<MarginsForm>")]
    threshold: Option<Spanned<Margins>>,
}

/// Metrics that can be compared, for the schema.
fn names() -> serde_json::Value {
    let names: Vec<&str> = METRICS.iter().filter(|it| is_compared(it)).map(|it| it.name).collect();
    serde_json::json!({ "type": "string", "enum": names })
}

pub(crate) fn is_compared(info: &MetricInfo) -> bool {
    info.scope == Scope::Trial && !matches!(info.kind, MetricKind::Text(_))
}

impl CompareSpec {
    /// Resolves the factor, levels and metrics.
    pub(crate) fn resolve(
        &self,
        matrix: &Matrix<'_>,
        cases: &[Case],
        source: &str,
    ) -> Result<Compare, Fault> {
        let factor = matrix.find(&self.factor)?;
        let levels = self.levels(factor, source)?;
        let metrics = self.metrics()?;
        let (threshold, thresholds) = self.thresholds(&metrics)?;
        let key = factor.key.to_string();
        let compare = Compare { factor: key, levels, metrics, threshold, thresholds };
        if compare.combinations(cases) == 0 {
            let problem = Problem::NothingToCompare;
            let span = self.levels.as_ref().map_or(self.factor.span(), Spanned::span);
            return Err(Fault::new(problem, span));
        }
        Ok(compare)
    }

    fn levels(&self, factor: &Factor<'_>, source: &str) -> Result<[String; 2], Fault> {
        let known: Vec<String> = factor.levels.iter().map(|level| level.text.clone()).collect();
        let key = || factor.key.to_string();
        let Some(written) = &self.levels else {
            return known.try_into().map_err(|levels| {
                Fault::new(Problem::WhichLevels { key: key(), levels }, self.factor.span())
            });
        };
        let mut chosen: Vec<String> = Vec::new();
        for level in written.get_ref() {
            let text = match level.get_ref() {
                toml::Value::String(_) => text_of(level.get_ref()),
                _ => written_at(&level.span(), source),
            };
            let problem = if !known.contains(&text) {
                Problem::NoSuchLevel { key: key(), level: text, levels: known }
            } else if chosen.contains(&text) {
                Problem::LevelTwice { key: key(), level: text }
            } else {
                chosen.push(text);
                continue;
            };
            return Err(Fault::new(problem, level.span()));
        }
        chosen.try_into().map_err(|_| {
            Fault::new(Problem::WhichLevels { key: key(), levels: known.clone() }, written.span())
        })
    }

    fn metrics(&self) -> Result<Vec<String>, Fault> {
        let Some(written) = &self.metrics else { return Ok(Vec::new()) };
        if written.get_ref().is_empty() {
            return Err(Fault::new(Problem::EmptyList { check: "metrics" }, written.span()));
        }
        let mut chosen: Vec<String> = Vec::new();
        for name in written.get_ref() {
            let info = compared(name.get_ref(), name)?;
            if chosen.iter().any(|known| known == info.name) {
                return Err(Fault::new(Problem::NamedTwice(info.name.into()), name.span()));
            }
            chosen.push(info.name.into());
        }
        Ok(chosen)
    }

    fn thresholds(
        &self,
        metrics: &[String],
    ) -> Result<(Threshold, BTreeMap<String, Threshold>), Fault> {
        let mut each = BTreeMap::new();
        let Some(written) = &self.threshold else { return Ok((Threshold::default(), each)) };
        let named = match written.get_ref() {
            Margins::Share(text) => {
                let share = share(text).map_err(|what| Fault::new(what, written.span()))?;
                return Ok((share, each));
            }
            Margins::Each(named) => named,
        };
        for (name, amount) in named {
            let info = compared(name, amount)?;
            if !metrics.is_empty() && !metrics.contains(name) {
                return Err(Fault::new(Problem::ThresholdAlone(name.clone()), amount.span()));
            }
            let threshold = match amount.get_ref() {
                Operand::Text(text) if text.trim_end().ends_with('%') => {
                    share(text).map_err(|what| Fault::new(what, amount.span()))?
                }
                _ => match value(amount, info, "at_most")? {
                    Value::Number(number) => Threshold::Absolute(number),
                    Value::Text(_) => unreachable!("texts are not compared"),
                },
            };
            each.insert(name.clone(), threshold);
        }
        Ok((Threshold::default(), each))
    }
}

/// The metric of this name, which needs one number per trial; errors show `place`.
pub(crate) fn compared<T>(name: &str, place: &Spanned<T>) -> Result<&'static MetricInfo, Fault> {
    match metric(name) {
        None => Err(Fault::new(Problem::UnknownMetric(name.into()), place.span())),
        Some(info) if !is_compared(info) => {
            Err(Fault::new(Problem::NotCompared(name.into()), place.span()))
        }
        Some(info) => Ok(info),
    }
}

fn share(text: &str) -> Result<Threshold, Problem> {
    let share = text.parse::<Probability>().map_err(|error| Problem::Value(error.to_string()))?;
    Ok(Threshold::Share(share.as_f64()))
}

impl Compare {
    /// How many of these cases have the first level, and a counterpart among them that differs in
    /// the second level alone.
    pub fn combinations(&self, cases: &[Case]) -> usize {
        let [first, second] = &self.levels;
        let has_counterpart = |case: &&Case| {
            let mut levels = case.levels.clone();
            let mut own = levels.iter_mut();
            let own = own.find(|(key, level)| *key == self.factor && level == first);
            let Some((_, level)) = own else { return false };
            level.clone_from(second);
            cases.iter().any(|other| other.levels == levels)
        };
        cases.iter().filter(has_counterpart).count()
    }
}

/// The value of `threshold`.
#[derive(Debug)]
enum Margins {
    /// A share of the median, for all metrics.
    Share(String),
    /// Margins by metric.
    Each(BTreeMap<String, Spanned<Operand>>),
}

/// A margin for all metrics, or a margin for each named metric.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Thresholds")]
#[expect(dead_code, reason = "for the schema")]
enum MarginsForm {
    /// A share of the first level's median.
    Share(Probability),
    /// A margin for each named metric.
    Each(BTreeMap<String, Operand>),
}

impl<'de> Deserialize<'de> for Margins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Margins, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Margins;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as \"1 %\", or metrics with an amount each")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Margins, E> {
                Ok(Margins::Share(text.into()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Margins, A::Error> {
                let mut each = BTreeMap::new();
                while let Some((name, amount)) = map.next_entry()? {
                    each.insert(name, amount);
                }
                Ok(Margins::Each(each))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn read(section: &str) -> Result<Vec<Compare>, (String, usize)> {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
             'client.sysctl.net.ipv4.tcp_reordering' = [3, 30, 300]\n\
             [matrix.stack]\nold = {{}}\nnew = {{ \"client.socket.nodelay\" = true }}\n\
             [design]\nexclude = [{{ stack = \"new\", 'client.sysctl.net.ipv4.tcp_reordering' = 30 }}]\n\
             [[compare]]\n{section}"
        );
        let read = Scenario::parse(&source, "t").map(|scenario| scenario.compares);
        read.map_err(|error| (error.to_string(), error.line()))
    }

    #[test]
    fn missing_keys_have_defaults() {
        let [compare] = &read("factor = \"stack\"").unwrap()[..] else { panic!("there is one") };
        assert_eq!(
            (&*compare.factor, &*compare.levels[0], &*compare.levels[1]),
            ("stack", "old", "new")
        );
        assert!(compare.metrics.is_empty() && compare.thresholds.is_empty());
        assert_eq!(compare.threshold, Threshold::Share(0.05));
    }

    #[test]
    fn levels_metrics_and_margins_are_resolved() {
        let section = "factor = \"client.sysctl.net.ipv4.tcp_reordering\"\nlevels = [300, 3]\n\
                       metrics = [\"goodput\", \"transfer_time\", \"retransmissions\"]\n\
                       threshold = { goodput = \"2 %\", transfer_time = \"20 ms\", retransmissions = 3 }";
        let compare = read(section).unwrap().remove(0);
        assert_eq!(compare.levels, ["300", "3"]);
        assert_eq!(compare.metrics, ["goodput", "transfer_time", "retransmissions"]);
        let found: Vec<(&str, Threshold)> =
            compare.thresholds.iter().map(|(name, it)| (&**name, *it)).collect();
        assert_eq!(
            found,
            [
                ("goodput", Threshold::Share(0.02)),
                ("retransmissions", Threshold::Absolute(3.0)),
                ("transfer_time", Threshold::Absolute(0.02)),
            ]
        );
        let same = read("factor = \"stack\"\nthreshold = \"1 %\"").unwrap().remove(0);
        assert_eq!(same.threshold, Threshold::Share(0.01));
    }

    #[test]
    fn impossible_comparison_is_refused_with_its_line() {
        const AT: usize = 13;
        for (section, line, why) in [
            ("levels = [\"a\", \"b\"]", 0, "missing key `factor`"),
            ("factor = \"stick\"", 1, "`stick` is not varied"),
            (
                "factor = \"client.sysctl.net.ipv4.tcp_reordering\"",
                1,
                "two levels of `client.sysctl",
            ),
            ("factor = \"stack\"\nlevels = [\"old\"]", 2, "two levels of `stack`"),
            ("factor = \"stack\"\nlevels = [\"old\", \"mid\"]", 2, "no case has `stack` = `mid`"),
            ("factor = \"stack\"\nlevels = [\"old\", \"old\"]", 2, "the level `old` twice"),
            ("factor = \"stack\"\nmetrics = []", 2, "`metrics` is an empty list"),
            (
                "factor = \"stack\"\nmetrics = [\n\"goodput\",\n\"speed\"]",
                4,
                "unknown metric `speed`",
            ),
            (
                "factor = \"stack\"\nmetrics = [\"episode.type\"]",
                2,
                "`episode.type` cannot be compared",
            ),
            ("factor = \"stack\"\nmetrics = [\"lost\", \"lost\"]", 2, "`lost` is named twice"),
            ("factor = \"stack\"\nthreshold = \"much\"", 2, "much"),
            ("factor = \"stack\"\nthreshold = { speed = 1 }", 2, "unknown metric `speed`"),
            (
                "factor = \"stack\"\nmetrics = [\"lost\"]\nthreshold = { goodput = \"2 %\" }",
                3,
                "`goodput` has a threshold, and is not compared",
            ),
            ("factor = \"stack\"\nthreshold = { transfer_time = 3 }", 2, "3"),
            ("factor = \"stack\"\nsome = \"1 %\"", 2, "unknown key `some`"),
        ] {
            let (error, found) = read(section).unwrap_err();
            assert!(error.contains(why), "{section}: {error}");
            assert!(line == 0 || found == AT + line, "{section}: line {found}, {error}");
        }
    }

    #[test]
    fn pair_of_levels_without_case_is_refused() {
        let source = "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
                      \"path.delay\" = [\"1 ms\", \"9 ms\"]\n\"path.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\
                      [design]\npairs = [[\"path.delay\", \"path.rate\"]]\n\
                      [[compare]]\nfactor = \"path.delay\"\n";
        let error = Scenario::parse(source, "t").unwrap_err();
        assert_eq!((error.line(), error.problem()), (11, &Problem::NothingToCompare));
        let alone = source.replace("[[compare]]\nfactor = \"path.delay\"\n", "");
        assert!(Scenario::parse(&alone, "t").is_ok());
    }
}
