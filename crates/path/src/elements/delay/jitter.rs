//! Delays that differ from packet to packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Probability, Rng, Span};

use super::law::{JitterLaw, TableLaw};
use super::{dist_table, normal};
use crate::behaviour::Streams;
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table! {
    JitterSpec, "Jitter", "Jitter of the delay.", "a time such as \"2 ms\", or a table",
    /// Evenly, from so much less than the delay to so much more.
    Uniform(Span),
    /// Another law.
    Table(JitterTable),
}

/// The law of jitter: exactly one of `uniform`, `normal`, `pareto`, `pareto_normal` and `table`.
/// Each packet's delay is drawn by it, in whole nanoseconds, rounded up; what would be negative is
/// zero. Packets keep their order unless `reorder` is set, so where they follow one another more
/// closely than their delays differ, many come later than drawn: right behind the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JitterLaw")]
pub struct JitterTable {
    /// Evenly distributed, from so much less than the delay to so much more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Span>,
    /// Normally distributed around the delay, with this standard deviation; not cut off (netem cuts
    /// at four of them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<Span>,
    /// Pareto distributed (tail index 3) as netem's table `pareto`, with this scale: from 0.67
    /// times it less than the delay to 4 times it more, where the tail is cut off. The mean is 0.03
    /// times the scale below the delay, the standard deviation 0.82 times the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Span>,
    /// A quarter normal and three quarters Pareto as netem's table `paretonormal`, with this scale.
    /// The mean is 0.02 times the scale below the delay, the standard deviation 0.83 times the
    /// scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto_normal: Option<Span>,
    /// A file with a distribution in netem's format (`*.dist`), scaled by `scale`: up to 16384
    /// whole numbers from -32768 to 32767, each as likely as the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The time of one unit of the table (a standard deviation, written 8192).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Span>,
    /// The content of `table`; filled in when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<i32>>,
    /// How much the jitter of a packet is like that of the one before, below 100 %: the correlation
    /// of the normal variates that it is made from (a Gaussian copula), so that the law stays as
    /// asked. netem averages the values themselves, which changes their law. Default: 0 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Probability>,
    /// Whether packets overtake one another when their delays ask for it, also where these change
    /// with time. Default: false, a packet waits for those before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

/// The law of jitter, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JitterPlan {
    /// By how much.
    pub law: JitterLaw,
    /// The correlation of the normal scores of successive packets; below one.
    pub correlation: Probability,
    /// Whether packets overtake one another.
    pub reorder: bool,
}

impl JitterSpec {
    /// None when there is none.
    pub(crate) fn plan(&self) -> Result<Option<JitterPlan>, Fault> {
        let plan = match self {
            JitterSpec::Uniform(most) => JitterPlan {
                law: JitterLaw::Uniform(*most),
                correlation: Probability::NEVER,
                reorder: false,
            },
            JitterSpec::Table(table) => table.plan()?,
        };
        Ok(Some(plan).filter(|plan| !plan.is_even() || plan.reorder))
    }
}

impl JitterTable {
    /// Reads the file that `table` names, if it names one that has not been read, with `read`,
    /// which gives the content of a file.
    ///
    /// # Errors
    /// When `read` fails, or when what it gives is not a table in netem's format: the file, the
    /// line and the reason.
    pub fn load(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), String> {
        if let (Some(name), None) = (&self.table, &self.values) {
            let entries = dist_table::parse(&read(name)?);
            self.values = Some(entries.map_err(|error| format!("`{name}`: {error}"))?);
        }
        Ok(())
    }

    fn plan(&self) -> Result<JitterPlan, Fault> {
        let correlation = self.correlation.unwrap_or(Probability::NEVER);
        if correlation == Probability::ALWAYS {
            let what = "a correlation of 100 % gives all packets the same jitter: give less";
            return Err(Fault::below("correlation", what));
        }
        Ok(JitterPlan { law: self.law()?, correlation, reorder: self.reorder })
    }

    /// The one law that is given.
    fn law(&self) -> Result<JitterLaw, Fault> {
        let mut given = [
            ("uniform", self.uniform.is_some()),
            ("normal", self.normal.is_some()),
            ("pareto", self.pareto.is_some()),
            ("pareto_normal", self.pareto_normal.is_some()),
            ("table", self.table.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name));
        if let (Some(one), Some(other)) = (given.next(), given.next()) {
            let what = format!("give either `{one}` or `{other}`");
            return Err(Fault::below(other, what));
        }
        if self.table.is_none() && self.scale.is_some() {
            let what = "`scale` needs `table`; other laws have their own scale";
            return Err(Fault::below("scale", what));
        }
        if self.table.is_none() && self.values.is_some() {
            return Err(Fault::below("values", "`values` needs `table`: name the file"));
        }
        let law = self.uniform.map(JitterLaw::Uniform);
        let law = law.or(self.normal.map(JitterLaw::Normal));
        let law = law.or(self.pareto.map(JitterLaw::Pareto));
        let law = law.or(self.pareto_normal.map(JitterLaw::ParetoNormal));
        match (law, &self.table) {
            (Some(law), _) => Ok(law),
            (None, Some(name)) => self.table_law(name),
            (None, None) => Err(Fault::here(
                "no law given: add one of `uniform`, `normal`, `pareto`, `pareto_normal`, `table`",
            )),
        }
    }

    fn table_law(&self, name: &str) -> Result<JitterLaw, Fault> {
        let Some(scale) = self.scale else {
            let what = "`table` needs `scale`: the time that its unit (8192) stands for";
            return Err(Fault::below("table", what));
        };
        let Some(values) = &self.values else {
            return Err(Fault::below("table", format!("the table `{name}` has not been read")));
        };
        if values.is_empty() || values.len() > dist_table::MOST {
            let what = format!("a table has 1 to 16384 values, not {}", values.len());
            return Err(Fault::below("values", what));
        }
        if let Some(value) = values.iter().find(|value| !dist_table::RANGE.contains(value)) {
            let what = format!("{value} is out of range: values are from -32768 to 32767");
            return Err(Fault::below("values", what));
        }
        let mut values = values.clone();
        values.sort_unstable();
        Ok(JitterLaw::Table(TableLaw { name: name.to_owned(), scale, values }))
    }
}

impl JitterPlan {
    /// Whether all packets take the same.
    pub(super) fn is_even(&self) -> bool {
        self.law.scale().is_zero()
    }

    /// Continues `Delay 5 ms`.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        if !self.is_even() {
            text += &format!(", {}", self.law.describe());
            if self.correlation != Probability::NEVER {
                text += &format!(", correlation {}", self.correlation);
            }
        }
        let order = if self.reorder { "reordering possible" } else { "order kept" };
        text + "; " + order
    }
}

/// The element at work.
#[derive(Debug)]
pub(super) struct Jitter {
    law: JitterLaw,
    correlation: f64,
    /// How much of a normal score is new: √(1 − ρ²).
    novelty: f64,
    /// The normal score of the packet before.
    score: Option<f64>,
    rng: Rng,
}

impl Jitter {
    pub(super) fn new(plan: &JitterPlan, streams: Streams) -> Jitter {
        let correlation = plan.correlation.as_f64();
        let novelty = ((1.0 - correlation) * (1.0 + correlation)).sqrt();
        Jitter { law: plan.law.clone(), correlation, novelty, score: None, rng: streams.own() }
    }

    /// By how many nanoseconds the delay of the next packet differs, rounded up. Takes one draw.
    pub(super) fn next(&mut self) -> i64 {
        let u = self.rng.open_unit();
        if self.novelty >= 1.0 {
            return self.law.quantile(u).ceil() as i64;
        }
        // A stationary chain: the first score is drawn from the law of all others.
        let new = normal::quantile(u);
        let score = match self.score {
            Some(last) => self.correlation * last + self.novelty * new,
            None => new,
        };
        self.score = Some(score);
        self.law.at_score(score).ceil() as i64
    }
}
