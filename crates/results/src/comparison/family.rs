//! The two families of tests of a comparison.
//!
//! The primary metric is tested first, in all cases together (Holm 1979), as if there were no other
//! metric. The rest is a second family, tested only when the first has shown a difference in every
//! case (serial gatekeeping: Westfall and Krishen 2001; Dmitrienko, Offen and Westfall 2003): a
//! corrected probability is not below the largest of the primary family. So the family-wise error
//! rate of all tests together stays 5 %, whatever depends on what.

use tcplab_scenario::MetricInfo;
use tcplab_stats::holm;

use super::found::ComparedCase;
use super::row::{ALPHA, Family, Row};

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
    let mut gate: f64 = 0.0;
    for family in [Family::Primary, Family::Rest] {
        let own: Vec<&mut &mut Row> = rows.iter_mut().filter(|row| row.family == family).collect();
        let corrected = holm(&own.iter().map(|row| row.p).collect::<Vec<f64>>());
        match family {
            Family::Primary => tests.primary = own.len(),
            Family::Rest => tests.rest = own.len(),
        }
        let mut largest = gate;
        for (row, p) in own.into_iter().zip(corrected) {
            let p = (p * choices as f64).min(1.0);
            row.p_corrected = p.max(gate);
            row.awaits_primary = p <= ALPHA && gate > ALPHA;
            largest = largest.max(row.p_corrected);
        }
        gate = largest;
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
        0 => "nothing varies, so nothing is tested".to_owned(),
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
        let then = if tests.primary == 0 { "then" } else { "then, if that differs throughout," };
        text += &format!("; {then} {}: {}", names.join(", "), of(tests.rest));
    }
    text
}
