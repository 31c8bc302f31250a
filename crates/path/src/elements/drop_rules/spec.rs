//! How rules are written in a scenario.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::Probability;

use super::plan::{DropPlan, PacketKind, RulePlan};
use crate::fault::Fault;
use crate::text_or_table::text_or_table;

text_or_table!(
    DropSpec, "Drop", "Packets to drop.",
    "a table such as { kind = \"syn\", nth = [1] }, or a list of them",
    list DropRule, text(String): |text: &str| Err::<DropSpec, String>(format!(
        "`{text}` is not enough: give a table such as {{ kind = \"syn\", nth = [1] }}"
    ))
);

/// Which packets to drop: those that meet every condition given, of which there is at least one. A
/// packet that meets several rules counts for all of them, and is dropped by the first that says
/// so. What was lost before it came here (in the queue, in an interruption, by a random loss) does
/// not count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropRule {
    /// What they are. Default: any packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PacketKind>,
    /// The bytes of the stream that they carry one of, counted from 0 for the first byte after the
    /// SYN: `"10000..11448"`, the end not included. A stream whose SYN has not passed here has no
    /// such count, and meets no such rule. Not with `pure-ack`, which carries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ByteRange>")]
    pub bytes: Option<String>,
    /// Which of those that meet the conditions above, counted from 1 as they come, over all
    /// connections of this direction together: `[1, 3]` or ranges as text, `["5..8"]` with both
    /// ends. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<Vec<Nth>>,
    /// With which probability each of those is dropped. Default: 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
}

/// A number, or a range of numbers such as `5..8`, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number from 1 on, or a range of them such as \"5..8\"")]
pub enum Nth {
    /// That one.
    One(u64),
    /// From one to another.
    Range(String),
}

/// For the schema: two numbers with two dots between them.
struct ByteRange;

impl JsonSchema for ByteRange {
    fn schema_name() -> Cow<'static, str> {
        "ByteRange".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": RANGE_PATTERN,
            "description": "Bytes of a stream, the end not included, such as `10000..11448`."
        })
    }
}

impl JsonSchema for Nth {
    fn schema_name() -> Cow<'static, str> {
        "Nth".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": RANGE_PATTERN },
            ],
            "description": "A number from 1 on, or a range such as `\"5..8\"`, both ends included."
        })
    }
}

const RANGE_PATTERN: &str = r"^\s*[0-9]+\s*\.\.\s*[0-9]+\s*$";

/// The most rules in a list: every packet is held against each.
const RULES_MAX: usize = 1_000;

impl DropSpec {
    /// None when nothing is ever dropped.
    pub(crate) fn plan(&self) -> Result<Option<DropPlan>, Fault> {
        if self.0.len() > RULES_MAX {
            let found = self.0.len();
            return Err(Fault::here(format!(
                "{found} rules: give at most {RULES_MAX}; one rule can list many packets with `nth`"
            )));
        }
        let several = self.0.len() > 1;
        let rules = self.0.iter().zip(1..).map(|(rule, number)| {
            rule.plan().map_err(|Fault { below, what }| {
                let what = if several { format!("rule {number}: {what}") } else { what };
                Fault { below, what }
            })
        });
        let rules = rules.collect::<Result<Vec<_>, Fault>>()?;
        let drops = rules.iter().any(|rule| rule.probability != Probability::NEVER);
        Ok(drops.then_some(DropPlan { rules }))
    }
}

impl DropRule {
    fn plan(&self) -> Result<RulePlan, Fault> {
        let DropRule { kind, bytes, nth, probability } = self;
        if *self == DropRule::default() {
            return Err(Fault::here(
                "this rule has no condition: add one of `kind`, `bytes`, `nth` and `probability`, or \
                 write `blackhole = \"0 s\"`",
            ));
        }
        if *kind == Some(PacketKind::PureAck) && bytes.is_some() {
            let what = "a pure ACK carries no bytes, so no packet meets this rule: give either \
                        `bytes` or `kind = \"pure-ack\"`";
            return Err(Fault::below("bytes", what));
        }
        Ok(RulePlan {
            kind: *kind,
            bytes: bytes.as_deref().map(byte_range).transpose()?,
            nth: nth.as_deref().map(numbers).transpose()?.unwrap_or_default(),
            probability: probability.unwrap_or(Probability::ALWAYS),
        })
    }
}

fn byte_range(text: &str) -> Result<(u64, u64), Fault> {
    let Some((start, end)) = range(text) else {
        let what = format!(
            "`{text}` is not a range of bytes: write first..end, end not included, such as \
             `10000..11448`"
        );
        return Err(Fault::below("bytes", what));
    };
    if start >= end {
        let what = format!("the range {text} is empty: the end, not included, must be larger");
        return Err(Fault::below("bytes", what));
    }
    Ok((start, end))
}

fn numbers(list: &[Nth]) -> Result<Vec<(u64, u64)>, Fault> {
    if list.is_empty() {
        let what =
            "the list is empty: remove `nth` to drop all matching packets, or remove the rule";
        return Err(Fault::below("nth", what));
    }
    let ranges = list.iter().map(|nth| nth.range().map_err(|what| Fault::below("nth", what)));
    let mut ranges = ranges.collect::<Result<Vec<_>, Fault>>()?;
    ranges.sort_unstable();
    // A number that is given twice is dropped once.
    ranges.dedup_by(|(from, to), (_, end)| {
        let overlaps = *from <= *end;
        *end = if overlaps { (*end).max(*to) } else { *end };
        overlaps
    });
    Ok(ranges)
}

impl Nth {
    /// The first and the last, or what is wrong.
    fn range(&self) -> Result<(u64, u64), String> {
        let (from, to) = match self {
            Nth::One(number) => (*number, *number),
            Nth::Range(text) => range(text).ok_or_else(|| {
                format!("`{text}` is not a range of numbers: write first..last, such as `5..8`")
            })?,
        };
        if from == 0 {
            return Err("packets are counted from 1: give 1 or more".into());
        }
        if from > to {
            return Err(format!("the range {from}..{to} is reversed: write `{to}..{from}`"));
        }
        Ok((from, to))
    }
}

/// Two whole numbers with two dots between them.
fn range(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once("..")?;
    let number = |text: &str| {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { text.parse().ok() } else { None }
    };
    Some((number(from)?, number(to)?))
}
