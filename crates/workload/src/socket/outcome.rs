//! The outcome of setting an option.

use serde::{Deserialize, Serialize};

use super::option::{OptionInfo, is_of_the_machine};
use super::value::OptionValue;

/// The outcome of setting an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was left to the system.
    #[default]
    Default,
    /// It is the requested value.
    AsAsked,
    /// The listening socket handed it down.
    Inherited,
    /// It is twice the requested value.
    Doubled,
    /// A sysctl keeps it lower than was asked for.
    Clamped,
    /// It is never as low as was asked for.
    Raised,
    /// The kernel made something near of it.
    Adjusted,
    /// It was taken, without effect.
    Ignored,
    /// It was refused.
    Refused,
}

impl Outcome {
    /// As a reader sees it.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Default => "default",
            Outcome::AsAsked => "as asked",
            Outcome::Inherited => "inherited",
            Outcome::Doubled => "doubled",
            Outcome::Clamped => "clamped",
            Outcome::Raised => "raised",
            Outcome::Adjusted => "adjusted",
            Outcome::Ignored => "ignored",
            Outcome::Refused => "refused",
        }
    }
}

/// What became of an option that was `asked` for: `before` it was set it was this, and when it was
/// `set` that. `sysctl` gives the values of settings at that time. With a sentence, where there is
/// something to say.
pub fn outcome(
    info: &OptionInfo,
    asked: &OptionValue,
    before: Option<&OptionValue>,
    set: &OptionValue,
    sysctl: impl Fn(&str) -> Option<String>,
) -> (Outcome, Option<String>) {
    let number = |value: &OptionValue| value.number(info.kind);
    let (wanted, has) = (number(asked), number(set));
    let limit = info.limited_by.and_then(|name| {
        let value = sysctl(name)?;
        // Of several numbers the last is the most.
        Some((name, value.split_whitespace().last()?.parse::<u64>().ok()?))
    });
    if let (Some(least), Some(wanted), Some(has)) = (info.doubled, wanted, has) {
        if has == wanted.saturating_mul(2) {
            return (Outcome::Doubled, Some(DOUBLED.into()));
        }
        if has == least && wanted < least {
            return (Outcome::Raised, Some(format!("{DOUBLED}; the minimum is {least} B")));
        }
        if let Some((name, most)) = limit.filter(|(_, most)| has == most * 2 && wanted > *most) {
            return (Outcome::Clamped, Some(format!("{}; {DOUBLED}", limited(name, most))));
        }
    }
    if set == asked {
        return (Outcome::AsAsked, None);
    }
    if let (Some((name, most)), Some(wanted), Some(has)) = (limit, wanted, has)
        && has <= most
        && wanted > most
    {
        return (Outcome::Clamped, Some(limited(name, most)));
    }
    let outcome = if before == Some(set) { Outcome::Ignored } else { Outcome::Adjusted };
    (outcome, info.adjusted.map(Into::into))
}

/// Why (socket(7)).
const DOUBLED: &str = "Linux doubles the value for its bookkeeping";

fn limited(name: &str, most: u64) -> String {
    let whose = if is_of_the_machine(name) { ", machine-wide" } else { "" };
    format!("{name} = {most}{whose}")
}
