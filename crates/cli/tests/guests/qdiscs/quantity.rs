//! Quantities of what became of packets, compared.

use super::cases::Case;
use super::crossing::Crossing;
use super::distance::{self, Distance};

/// What is compared, and how.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    /// A share of packets, each with a chance of its own.
    Share(fn(&Crossing) -> (u64, u64)),
    /// A sample of independent values.
    Law(fn(&Crossing) -> Vec<f64>),
    /// One number of all packets together, beside that of many seeds; and what it may be off in any
    /// case.
    Number(fn(&Crossing) -> f64, f64),
    /// Packets whose fate is another; and how many may have one.
    Fates(f64),
    /// The largest difference of the times at which a packet comes out, in ns; and how much that
    /// may be.
    Departures(f64),
}

/// A quantity of a case.
#[derive(Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) name: &'static str,
    pub(crate) quantity: Quantity,
    /// Why the two differ, where they do.
    pub(crate) known: Option<&'static str>,
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) element: String,
    pub(crate) quantity: &'static str,
    /// Both as text.
    pub(crate) values: [String; 2],
    pub(crate) distance: Distance,
    pub(crate) known: Option<&'static str>,
}

impl Row {
    /// Whether the two differ, and nothing is known that makes them.
    pub(crate) fn is_unexpected(&self) -> bool {
        !self.distance.passes() && self.known.is_none()
    }
}

/// Compares what the path does, with many seeds, with what the kernel did.
pub(crate) fn compare(case: &Case, kernel: &Crossing) -> Vec<Row> {
    let plan = case.plan();
    let seeds = 1..=case.seeds;
    let path: Vec<Crossing> =
        seeds.map(|seed| Crossing::of_path(&plan, seed, &kernel.arrivals)).collect();
    let rows = case.compared.iter().map(|compared| {
        let (values, distance) = compared.quantity.compare(&path, kernel);
        Row {
            element: case.element.to_owned(),
            quantity: compared.name,
            values,
            distance,
            known: compared.known,
        }
    });
    rows.collect()
}

impl Quantity {
    fn compare(self, path: &[Crossing], kernel: &Crossing) -> ([String; 2], Distance) {
        match self {
            Quantity::Share(of) => {
                let sum = |(some, all), (more, others)| (some + more, all + others);
                let ours = path.iter().map(of).fold((0, 0), sum);
                let theirs = of(kernel);
                ([ours, theirs].map(percent), distance::shares(ours, theirs))
            }
            Quantity::Law(of) => {
                let ours: Vec<f64> = path.iter().flat_map(of).collect();
                let theirs = of(kernel);
                ([&ours, &theirs].map(|it| summary(it)), distance::laws(&ours, &theirs))
            }
            Quantity::Number(of, tolerance) => {
                let ours: Vec<f64> = path.iter().map(of).collect();
                let theirs = of(kernel);
                let values = [distance::mean(&ours), theirs].map(|it| format!("{it:.3}"));
                (values, distance::one_of_many(&ours, theirs, tolerance))
            }
            Quantity::Fates(at_most) => {
                let [ours, theirs] = [&path[0], kernel].map(Crossing::lost);
                let differ = ours.iter().zip(&theirs).filter(|(one, other)| one != other).count();
                let lost = |of: &[bool]| of.iter().filter(|it| **it).count().to_string() + " lost";
                ([lost(&ours), lost(&theirs)], Distance { is: differ as f64, at_most })
            }
            Quantity::Departures(at_most) => {
                let [ours, theirs] = [&path[0], kernel].map(Crossing::departures);
                let both = ours.iter().filter_map(|(index, at)| Some((*at, *theirs.get(index)?)));
                let differences = both.map(|(one, other)| one.abs_diff(other) as f64);
                let is = differences.fold(0.0, f64::max);
                ([&path[0], kernel].map(|it| summary(&it.delays())), Distance { is, at_most })
            }
        }
    }
}

fn percent((some, of): (u64, u64)) -> String {
    format!("{:.3} %", 100.0 * some as f64 / of as f64)
}

/// Three of its quantiles.
fn summary(sample: &[f64]) -> String {
    let [low, median, high] = [0.05, 0.5, 0.95].map(|it| distance::quantile(sample, it));
    format!("{low:.3} / {median:.3} / {high:.3}")
}
