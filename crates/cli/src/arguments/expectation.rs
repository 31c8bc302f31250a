//! `--expect`: what a program's traffic should have been.

use std::fmt;
use std::str::FromStr;

use tcplab_scenario::{metric, nearest};
use tcplab_units::{Bytes, Probability, Rate, Span, rounded};

/// What is measured of a program's traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Goodput,
    Retransmissions,
    MeanRtt,
    MedianRtt,
    P95Rtt,
    LeastRtt,
    LargestRtt,
    Connections,
    Resets,
    Drops,
    Duration,
    Bytes,
}

impl Measure {
    const ALL: [Measure; 12] = [
        Measure::Goodput,
        Measure::Retransmissions,
        Measure::MeanRtt,
        Measure::MedianRtt,
        Measure::P95Rtt,
        Measure::LeastRtt,
        Measure::LargestRtt,
        Measure::Connections,
        Measure::Resets,
        Measure::Drops,
        Measure::Duration,
        Measure::Bytes,
    ];

    /// The name of the metric, where a trial has it, too.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Goodput => "goodput",
            Measure::Retransmissions => "retransmissions",
            Measure::MeanRtt => "rtt.mean",
            Measure::MedianRtt => "rtt.median",
            Measure::P95Rtt => "rtt.p95",
            Measure::LeastRtt => "rtt.min",
            Measure::LargestRtt => "rtt.max",
            Measure::Connections => "connections",
            Measure::Resets => "resets",
            Measure::Drops => "drops",
            Measure::Duration => "duration",
            Measure::Bytes => "bytes",
        }
    }

    fn read(self, text: &str) -> Result<Amount, String> {
        let plain = |error: tcplab_units::UnitError| error.to_string();
        match self {
            Measure::Goodput => text.parse().map(Amount::Rate).map_err(plain),
            Measure::MeanRtt
            | Measure::MedianRtt
            | Measure::P95Rtt
            | Measure::LeastRtt
            | Measure::LargestRtt
            | Measure::Duration => text.parse().map(Amount::Span).map_err(plain),
            Measure::Bytes => text.parse().map(Amount::Bytes).map_err(plain),
            Measure::Retransmissions | Measure::Drops if text.ends_with('%') => {
                text.parse().map(percent).map_err(plain)
            }
            Measure::Retransmissions | Measure::Drops => count(text, ", or a share such as `1 %`"),
            Measure::Connections | Measure::Resets => count(text, ""),
        }
    }
}

impl FromStr for Measure {
    type Err = String;
    fn from_str(text: &str) -> Result<Measure, String> {
        let all = || Measure::ALL.iter().map(|measure| measure.name());
        if let Some(found) = Measure::ALL.into_iter().find(|measure| measure.name() == text) {
            return Ok(found);
        }
        let family =
            all().find(|name| name.strip_prefix(text).is_some_and(|it| it.starts_with('.')));
        let help = match family.or_else(|| nearest(text, all())) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        let known: Vec<String> = all().map(|name| format!("`{name}`")).collect();
        let said = match metric(text) {
            Some(_) => format!("`{text}` is a metric of trials, and not measured in a shell"),
            None => format!("unknown quantity `{text}`"),
        };
        Err(format!("{said}: {help}use one of {}", known.join(", ")))
    }
}

/// In its steps of 10⁻¹⁰ %, so that `0.3 %` is what 3 of 1,000 are.
fn percent(share: Probability) -> Amount {
    Amount::Percent((share.as_f64() * 1e12).round() / 1e10)
}

fn count(text: &str, or: &str) -> Result<Amount, String> {
    let read = text.parse().map(Amount::Count);
    read.map_err(|_| format!("`{text}` is not a number: write a whole number{or}"))
}

/// An amount of what is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Rate(Rate),
    Span(Span),
    Bytes(Bytes),
    Percent(f64),
    Count(u64),
}

impl Amount {
    /// In its smallest unit.
    pub(crate) fn number(self) -> f64 {
        match self {
            Amount::Rate(rate) => rate.bits_per_second() as f64,
            Amount::Span(span) => span.as_nanos() as f64,
            Amount::Bytes(bytes) => bytes.as_u64() as f64,
            Amount::Percent(share) => share,
            Amount::Count(count) => count as f64,
        }
    }

    /// That unit, at the end of a key.
    pub(crate) fn key_unit(self) -> &'static str {
        match self {
            Amount::Rate(_) => "_bits_per_second",
            Amount::Span(_) => "_ns",
            Amount::Bytes(_) => "_bytes",
            Amount::Percent(_) => "_percent",
            Amount::Count(_) => "",
        }
    }

    /// In a few figures.
    pub(crate) fn rounded(self) -> String {
        match self {
            Amount::Rate(rate) => rounded::rate(rate),
            Amount::Span(span) => rounded::span(span),
            Amount::Bytes(bytes) => rounded::bytes(bytes),
            Amount::Percent(share) => format!("{} %", rounded::brief(share)),
            Amount::Count(count) => rounded::grouped(count),
        }
    }
}

/// Exact.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Rate(rate) => rate.fmt(f),
            Amount::Span(span) => span.fmt(f),
            Amount::Bytes(bytes) => bytes.fmt(f),
            Amount::Percent(share) => write!(f, "{share} %"),
            Amount::Count(count) => count.fmt(f),
        }
    }
}

/// How what was measured compares with what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
}

impl Comparison {
    /// Longer ones first: `>` begins `>=`, too.
    const WRITTEN: [(&'static str, Comparison); 8] = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        ("==", Comparison::Equal),
        ("≥", Comparison::AtLeast),
        ("≤", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
        ("=", Comparison::Equal),
    ];

    fn sign(self) -> &'static str {
        let found = Comparison::WRITTEN.iter().find(|(_, comparison)| *comparison == self);
        found.map_or("", |(sign, _)| sign)
    }
}

/// Such as `goodput >= 5 Mbit/s`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expectation {
    pub(crate) measure: Measure,
    comparison: Comparison,
    pub(crate) bound: Amount,
}

impl Expectation {
    /// Whether that is what was expected.
    pub(crate) fn holds(&self, measured: Amount) -> bool {
        let (measured, bound) = (measured.number(), self.bound.number());
        match self.comparison {
            Comparison::AtLeast => measured >= bound,
            Comparison::AtMost => measured <= bound,
            Comparison::Above => measured > bound,
            Comparison::Below => measured < bound,
            Comparison::Equal => measured.total_cmp(&bound).is_eq(),
        }
    }

    /// Without the quantity.
    pub(crate) fn range(&self) -> String {
        format!("{} {}", self.comparison.sign(), self.bound)
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.measure.name(), self.range())
    }
}

impl FromStr for Expectation {
    type Err = String;
    fn from_str(text: &str) -> Result<Expectation, String> {
        let signs = Comparison::WRITTEN.iter();
        let found =
            signs.filter_map(|(sign, comparison)| Some((text.find(sign)?, sign, comparison)));
        // The first of the longest where several begin at one place.
        let Some((at, sign, comparison)) = found.min_by_key(|(at, ..)| *at) else {
            return Err("no comparison: write one such as `goodput >= 5 Mbit/s`".into());
        };
        if text[..at].ends_with(['!', '~']) {
            let written = &text[at - 1..at + sign.len()];
            let said = format!("`{written}` is no comparison: use >=, <=, >, < or ==");
            return Err(said);
        }
        let measure: Measure = text[..at].trim().parse()?;
        let bound = text[at + sign.len()..].trim();
        let bound = measure.read(bound).map_err(|said| format!("{}: {said}", measure.name()))?;
        Ok(Expectation { measure, comparison: *comparison, bound })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Expectation {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn expectations_are_read() {
        for (text, range, bound) in [
            ("goodput >= 5 Mbit/s", ">= 5 Mbit/s", 5e6),
            ("goodput≥5Mbit/s", ">= 5 Mbit/s", 5e6),
            ("retransmissions <= 1 %", "<= 1 %", 1.0),
            ("retransmissions<3", "< 3", 3.0),
            (" rtt.p95 ≤ 80 ms ", "<= 80 ms", 80e6),
            ("connections = 2", "== 2", 2.0),
            ("resets == 0", "== 0", 0.0),
            ("drops > 0.5%", "> 0.5 %", 0.5),
            ("bytes >= 1 MB", ">= 1 MB", 1e6),
            ("duration < 1.5 s", "< 1.5 s", 1.5e9),
        ] {
            let read = read(text);
            assert_eq!((&*read.range(), read.bound.number()), (range, bound), "{text}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, said) in [
            ("goodput 5 Mbit/s", "no comparison: write one such as `goodput >= 5 Mbit/s`"),
            (
                "goodptu >= 5 Mbit/s",
                "unknown quantity `goodptu`: did you mean `goodput`? use one of",
            ),
            ("rtt <= 5 ms", "unknown quantity `rtt`: did you mean `rtt.mean`? use one of"),
            ("zebra <= 5", "unknown quantity `zebra`: use one of `goodput`, `retransmissions`"),
            ("transfer_time <= 5 s", "`transfer_time` is a metric of trials, and not measured"),
            ("goodput >= 5", "goodput: `5` has no unit"),
            ("goodput >= 5 MBit/x", "goodput: `MBit/x` is not a unit of"),
            ("rtt.min <= 5 MB", "rtt.min: `MB` is not a unit of"),
            ("retransmissions <= one", "write a whole number, or a share such as `1 %`"),
            ("retransmissions <= -1 %", "retransmissions: "),
            ("drops <= 101 %", "drops: `101 %` is out of range"),
            ("connections == 1.5", "`1.5` is not a number: write a whole number"),
            ("resets <= 1 %", "`1 %` is not a number: write a whole number"),
            ("goodput => 5 Mbit/s", "goodput: `> 5 Mbit/s` is not"),
            ("", "no comparison"),
            ("drops != 1", "`!=` is no comparison: use >=, <=, >, < or =="),
            ("drops~= 1", "`~=` is no comparison"),
        ] {
            let error = text.parse::<Expectation>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn bounds_belong_to_what_they_include() {
        for (text, below, at, above) in [
            ("rtt.mean >= 5 ns", false, true, true),
            ("rtt.mean <= 5 ns", true, true, false),
            ("rtt.mean > 5 ns", false, false, true),
            ("rtt.mean < 5 ns", true, false, false),
            ("rtt.mean == 5 ns", false, true, false),
        ] {
            let holds = |nanos| read(text).holds(Amount::Span(Span::from_nanos(nanos)));
            assert_eq!([holds(4), holds(5), holds(6)], [below, at, above], "{text}");
        }
    }

    /// What a trial has, too, has its name and its unit.
    #[test]
    fn names_are_those_of_metrics() {
        for (name, unit) in
            [("goodput", "Mbit/s"), ("retransmissions", "segments"), ("rtt.mean", "ms")]
        {
            assert_eq!(metric(name).unwrap().unit, unit);
        }
        for rtt in ["rtt.median", "rtt.p95", "rtt.min", "rtt.max"] {
            assert!(metric(rtt).is_some() && rtt.parse::<Measure>().is_ok(), "{rtt}");
        }
    }
}
