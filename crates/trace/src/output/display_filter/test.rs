//! Whether a packet is as an expression says.

use super::fields::Field;
use super::values::{Comparison, Value, Wanted};
use crate::output::listed::Listed;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Exists(Field),
    Is(Field, Comparison, Wanted),
    /// One of its values lies in one of these, ends included.
    In(Field, Vec<(Wanted, Wanted)>),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

impl Test {
    pub(super) fn holds(&self, packet: &Listed<'_>) -> bool {
        match self {
            Test::Exists(field) => field.is_in(packet),
            Test::Is(field, Comparison::Unequal, wanted) => {
                let values = field.of(packet);
                let differ = |value: &Value| !Comparison::Equal.holds(*value, *wanted);
                !values.is_empty() && values.iter().all(differ)
            }
            Test::Is(field, comparison, wanted) => {
                field.of(packet).iter().any(|value| comparison.holds(*value, *wanted))
            }
            Test::In(field, ranges) => field.of(packet).iter().any(|value| {
                ranges.iter().any(|(first, last)| match (first, last) {
                    (Wanted::Network(..), _) => Comparison::Equal.holds(*value, *first),
                    _ => {
                        Comparison::AtLeast.holds(*value, *first)
                            && Comparison::AtMost.holds(*value, *last)
                    }
                })
            }),
            Test::Not(test) => !test.holds(packet),
            Test::All(tests) => tests.iter().all(|test| test.holds(packet)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(packet)),
        }
    }
}
