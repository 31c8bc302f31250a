//! The figures that several runs have in common, each with all of them.

mod columns;
mod kept;
mod label;
mod quantities;
mod relative;
mod shapes;
#[cfg(test)]
mod tests;
mod trends;

use std::collections::BTreeSet;

use tcplab_plot::Looks;

use crate::absent::without_values;
use crate::figures::RunFigure;
use crate::looks::{FigureLooks, LooksError};
use columns::Columns;
pub use kept::{KeptRuns, TooMany};
pub use label::{LabelError, LabelledRun, check_labels, labelled, run_called};
use quantities::{Quantity, Row, quantities};
pub use relative::Relative;
use shapes::{Shape, Shown};
use trends::trends;

/// A row for each of so many still makes a picture that programs can open: 16,046 pixels high,
/// twice as many in a PNG, where 32,767 fit. What bounds the memory is how many numbers they have
/// together: [`TooMany::Values`].
pub const RUNS_MOST: usize = 4_000;

/// The figures of several runs.
pub struct CommonFigures {
    labels: Vec<String>,
    columns: Columns,
    quantities: Vec<Quantity>,
    list: Vec<CommonFigure>,
    relative: Option<Relative>,
    /// The cases of which all trials failed: column and run, by column.
    failed: Vec<(usize, usize)>,
}

/// A figure that at least two of the runs have something to show in.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonFigure {
    /// Such as `goodput/trials`; unique.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Whether it is of a quantity that is not one of the key metrics.
    pub is_detail: bool,
    /// The case, where each has a figure of its own.
    pub case: Option<String>,
    /// The labels of the runs with nothing to show in it.
    pub missing: Vec<String>,
    content: Content,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    /// The quantity, its shape, and the column of the case, by their indices.
    Quantity(usize, Shape, Option<usize>),
    Drawn(Box<RunFigure>),
}

impl CommonFigures {
    /// Those of these runs: of each quantity the mean of each case, every trial and their
    /// distribution, then the runs' plots over numbers. A quantity or a plot that only one run has
    /// is left out. A case that only some runs have is shown where it is. `relative` is what the
    /// runs were divided by, if they were. The figures hold the values that they show: the runs
    /// are not needed any more.
    pub fn of(runs: &[LabelledRun<'_>], relative: Option<Relative>) -> CommonFigures {
        let columns = Columns::of(runs.iter().map(|it| it.run));
        let unit = relative.as_ref().map(Relative::unit);
        let mut all = CommonFigures {
            labels: runs.iter().map(|it| it.label.clone()).collect(),
            quantities: quantities(runs, &columns, unit.as_deref()),
            failed: failed(runs, &columns),
            columns,
            list: Vec::new(),
            relative,
        };
        all.list = (0..all.quantities.len()).flat_map(|index| all.of_quantity(index)).collect();
        for (figure, missing) in trends(runs) {
            all.list.push(CommonFigure {
                name: figure.name.clone(),
                title: match &unit {
                    Some(unit) => format!("{}, {unit}", figure.title),
                    None => figure.title.clone(),
                },
                is_detail: false,
                case: None,
                missing: all.labels_of(&missing),
                content: Content::Drawn(Box::new(figure)),
            });
        }
        // The key metrics first.
        all.list.sort_by_key(|it| it.is_detail);
        all
    }

    /// Key metrics first.
    pub fn list(&self) -> &[CommonFigure] {
        &self.list
    }

    /// Draws one of the list as its reader wants it, with notes on what is not in it.
    ///
    /// # Errors
    /// If the figure cannot look so.
    pub fn draw(
        &self,
        figure: &CommonFigure,
        looks: &FigureLooks,
    ) -> Result<(RunFigure, Vec<String>), LooksError> {
        // A run without anything in the figure has no line that could have its colour.
        let colours = looks.colours.iter().filter(|(label, _)| !figure.missing.contains(label));
        let looks = FigureLooks { colours: colours.cloned().collect(), ..looks.clone() };
        let (drawn, mut notes) = looks.applied(self.drawn(figure))?;
        let metric = match figure.content {
            Content::Quantity(index, _, column) => {
                notes.extend(self.without_values(figure, column));
                Some(self.quantities[index].key.as_str())
            }
            Content::Drawn(_) => None,
        };
        notes.extend(self.relative.iter().flat_map(|it| it.notes(metric)));
        Ok((drawn, notes))
    }

    /// A note on the cases of the runs in a figure that it has no values of, as their trials
    /// failed. Where a figure shows one case, a run without values of that is missing.
    fn without_values(&self, figure: &CommonFigure, column: Option<usize>) -> Vec<String> {
        let of_shown = self
            .failed
            .iter()
            .filter(|(_, run)| column.is_none() && !figure.missing.contains(&self.labels[*run]));
        let name = |(column, run): &(usize, usize)| {
            (format!("{}: {}", self.labels[*run], self.columns.names[*column]), true)
        };
        without_values(&of_shown.map(name).collect::<Vec<_>>())
    }

    fn drawn(&self, figure: &CommonFigure) -> RunFigure {
        let (index, shape, column) = match &figure.content {
            Content::Quantity(index, shape, column) => (*index, *shape, *column),
            Content::Drawn(drawn) => {
                return RunFigure { title: figure.title.clone(), ..(**drawn).clone() };
            }
        };
        let shown = Shown {
            title: &figure.title,
            quantity: &self.quantities[index],
            labels: &self.labels,
            cases: &self.columns.names,
            column,
        };
        let picture = shown.picture(shape);
        let (drawn, _) = picture.drawn(&Looks::default());
        let (name, title) = (figure.name.clone(), figure.title.clone());
        let (svg, table) = (drawn.svg, Some(drawn.table));
        RunFigure { name, title, svg, table, picture: Some(picture), ..RunFigure::default() }
    }

    fn of_quantity(&self, index: usize) -> Vec<CommonFigure> {
        let quantity = &self.quantities[index];
        let mut found = Vec::new();
        for shape in Shape::ALL {
            if !shape.suits(quantity) {
                continue;
            }
            let of = |column: Option<usize>, rows: &[Row]| {
                let case = column.map(|column| self.columns.names[column].clone());
                let (mut name, mut title) =
                    (format!("{}/{}", quantity.key, shape.key()), quantity.title(shape.words()));
                if let Some(case) = &case {
                    name = format!("{name}/{case}");
                    title = format!("{title}, {case}");
                }
                let shown: BTreeSet<usize> = rows.iter().map(|row| row.run).collect();
                let runs = 0..self.labels.len();
                let missing: Vec<usize> = runs.filter(|run| !shown.contains(run)).collect();
                let missing = self.labels_of(&missing);
                let content = Content::Quantity(index, shape, column);
                CommonFigure { name, title, is_detail: quantity.is_detail, case, missing, content }
            };
            let (runs, cases) = (self.labels.len(), self.columns.names.len());
            if shape.is_whole(quantity.rows.len(), runs, cases) {
                found.push(of(None, &quantity.rows));
            } else {
                let of_cases = quantity.rows.chunk_by(|one, other| one.column == other.column);
                found.extend(of_cases.map(|rows| of(Some(rows[0].column), rows)));
            }
        }
        found
    }

    fn labels_of(&self, runs: &[usize]) -> Vec<String> {
        runs.iter().map(|run| self.labels[*run].clone()).collect()
    }
}

fn failed(runs: &[LabelledRun<'_>], columns: &Columns) -> Vec<(usize, usize)> {
    let of_run = |(run, it): (usize, &LabelledRun<'_>)| -> Vec<(usize, usize)> {
        let cases = it.run.cases.iter().enumerate().filter(|(_, case)| case.all_failed());
        cases.map(|(index, _)| (columns.column(run, index), run)).collect()
    };
    let mut all: Vec<(usize, usize)> = runs.iter().enumerate().flat_map(of_run).collect();
    all.sort_unstable();
    all
}
