//! Laws by which sizes and times are drawn.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tcplab_units::{Bytes, Rng, Span};

/// A size or a time: always the same, such as `"30 kB"`, or drawn each time, such as
/// `{ exponential = "30 kB" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "LawOf{T}")]
pub enum Law<T> {
    /// Always this.
    Fixed(T),
    /// Drawn from a distribution.
    Drawn(Distribution<T>),
}

impl<T> Law<T> {
    /// Whether it is drawn each time.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self, Law::Drawn(_))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Law<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Law<T>, D::Error> {
        deserializer.deserialize_any(LawVisitor(PhantomData))
    }
}

/// So that an error names the form that was written: a value or a distribution.
struct LawVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LawVisitor<T> {
    type Value = Law<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its unit, or a table with a distribution")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Law<T>, E> {
        T::deserialize(text.into_deserializer()).map(Law::Fixed)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Law<T>, A::Error> {
        Distribution::deserialize(MapAccessDeserializer::new(map)).map(Law::Drawn)
    }
}

/// From what a size or a time is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "DistributionOf{T}")]
pub enum Distribution<T> {
    /// Exponential with this mean. Such times between arrivals make a Poisson process.
    Exponential(T),
    /// Pareto: heavy-tailed, as the sizes of what is fetched in the web are (Crovella and
    /// Bestavros, IEEE/ACM Transactions on Networking 5(6), 1997, find shapes of 1.0 to 1.3). Cut
    /// off at 1000 means.
    Pareto(Pareto<T>),
    /// Log-normal (Downey, "The structural cause of file size distributions", MASCOTS 2001). Cut
    /// off at 1000 medians.
    LogNormal(LogNormal<T>),
}

/// A Pareto distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ParetoOf{T}")]
pub struct Pareto<T> {
    /// Its mean, before it is cut off.
    pub mean: T,
    /// Its tail index, 1.001 to 100: the smaller, the heavier the tail; below 2 the variance is
    /// infinite.
    pub shape: Shape,
}

/// A log-normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogNormalOf{T}")]
pub struct LogNormal<T> {
    /// Half of the values are below.
    pub median: T,
    /// The standard deviation of the logarithm, 0.001 to 10.
    pub sigma: Shape,
}

/// A number that shapes a distribution, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64")]
pub struct Shape(u32);

impl Shape {
    fn as_f64(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

impl From<Shape> for f64 {
    fn from(shape: Shape) -> f64 {
        shape.as_f64()
    }
}

impl TryFrom<f64> for Shape {
    type Error = String;

    fn try_from(number: f64) -> Result<Shape, String> {
        if (0.001..=100.0).contains(&number) {
            Ok(Shape((number * 1e3).round() as u32))
        } else {
            Err(format!("{number} shapes nothing: write a number from 0.001 to 100"))
        }
    }
}

/// No more than so many means, or medians, are drawn.
const MOST: f64 = 1e3;

impl<T: Quantity> Law<T> {
    /// One value.
    pub fn draw(&self, rng: &mut Rng) -> T {
        let law = match self {
            Law::Fixed(value) => return *value,
            Law::Drawn(law) => law,
        };
        T::of(match law {
            Distribution::Exponential(mean) => mean.number() * -libm::log(rng.open_unit()),
            Distribution::Pareto(Pareto { mean, shape }) => {
                let (mean, shape) = (mean.number(), shape.as_f64());
                let least = mean * (shape - 1.0) / shape;
                (least * libm::pow(rng.open_unit(), -1.0 / shape)).min(mean * MOST)
            }
            Distribution::LogNormal(LogNormal { median, sigma }) => {
                let score = score(rng) * sigma.as_f64();
                (median.number() * libm::exp(score)).min(median.number() * MOST)
            }
        })
    }

    /// What about it makes no sense, as the end of a sentence.
    pub(super) fn objection(&self) -> Option<&'static str> {
        let (scale, shape) = match self {
            Law::Fixed(value) | Law::Drawn(Distribution::Exponential(value)) => (value, None),
            Law::Drawn(Distribution::Pareto(Pareto { mean, shape })) => (mean, Some(*shape)),
            Law::Drawn(Distribution::LogNormal(LogNormal { median, .. })) => (median, None),
        };
        if scale.number() < 1.0 {
            return Some("is nothing: write something that takes time or space");
        }
        let has_no_mean = shape.is_some_and(|shape| shape.as_f64() <= 1.0);
        has_no_mean.then_some("has no mean: a Pareto shape must be above 1")
    }
}

/// A normal score (Box and Muller 1958), of two draws.
fn score(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * libm::log(rng.open_unit())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * rng.open_unit())
}

/// What can be drawn.
pub trait Quantity: Copy {
    /// As a number.
    fn number(self) -> f64;
    /// Of a number, at least one unit.
    fn of(number: f64) -> Self;
}

impl Quantity for Bytes {
    fn number(self) -> f64 {
        self.as_u64() as f64
    }
    fn of(number: f64) -> Bytes {
        Bytes::new((number.round() as u64).max(1))
    }
}

impl Quantity for Span {
    fn number(self) -> f64 {
        self.as_nanos() as f64
    }
    fn of(number: f64) -> Span {
        Span::from_nanos((number.round() as u64).max(1))
    }
}
