//! The two families of tests of a comparison.
//!
//! The primary metric is tested in all cases together (Holm 1979), as if there were no other
//! metric; the others together after it. Each family has an error rate of 5 % of its own: of twenty
//! comparisons of equal things at most one calls the primary metric different, and at most one any
//! of the others.

use tcplab_scenario::MetricInfo;
use tcplab_stats::holm;

use crate::comparison::ComparedCase;
use crate::comparison::{ALPHA, Family, Row};

/// The numbers of tests of both families.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tests {
    pub(super) primary: usize,
    pub(super) rest: usize,
    /// How many pairs of levels there were to choose from.
    pub(super) choices: usize,
}

impl Tests {
    /// The level of a family's first test, by Holm.
    pub(super) fn level(self, family: Family) -> f64 {
        let count = match family {
            Family::Primary => self.primary,
            Family::Rest => self.rest,
        };
        ALPHA / (count.max(1) * self.choices) as f64
    }
}

/// Corrects the probabilities of rows that vary.
///
/// A row in which nothing varies cannot be called different whatever the level, so it takes no
/// part (Tarone 1990).
pub(super) fn correct(rows: &mut [&mut Row], choices: usize) -> Tests {
    let mut tests = Tests { choices, ..Tests::default() };
    for family in [Family::Primary, Family::Rest] {
        let own = rows.iter_mut().map(|row| &mut **row).filter(|row| row.family == family);
        let own: Vec<&mut Row> = own.collect();
        let corrected = holm(&own.iter().map(|row| row.p).collect::<Vec<f64>>());
        match family {
            Family::Primary => tests.primary = own.len(),
            Family::Rest => tests.rest = own.len(),
        }
        for (row, p) in own.into_iter().zip(corrected) {
            row.p_corrected = (p * choices as f64).min(1.0);
        }
    }
    tests
}

/// What was tested together, in a sentence.
pub(super) fn sentence(cases: &[ComparedCase], metrics: &[&MetricInfo], tests: Tests) -> String {
    let cases = match cases.len() {
        1 => "1 case".to_owned(),
        n => format!("{n} cases"),
    };
    let of = |count: usize| match count * tests.choices {
        0 => "nothing is tested, as no difference is left to chance".to_owned(),
        1 => "1 test, not corrected".into(),
        n => format!("{n} tests, corrected together after Holm"),
    };
    let (primary, rest) = metrics.split_first().expect("there is a metric");
    let mut text = format!("first {} in {cases}: {}", primary.name, of(tests.primary));
    if tests.choices > 1 {
        text += &format!(" (any of {} pairs of levels)", tests.choices);
    }
    if !rest.is_empty() {
        let names: Vec<&str> = rest.iter().map(|info| info.name).collect();
        text += &format!("; apart from it {}: {}", names.join(", "), of(tests.rest));
    }
    text
}
