//! The table on the terminal.

use tcplab_results::comparison::{Comparison, Row};
use tcplab_units::visible_line;

use crate::compared::{
    change, detectable, estimate, interval, is_quiet, missing_lines, probability, quiet, sentence,
    side, verdict,
};
use crate::grid::Side::{Left, Right};
use crate::grid::{Cell, Grid};
use crate::title::title;

/// The comparison as text: what A and B are, what else differs, the verdict, the rows worst first;
/// what is the same in a line.
pub fn compare_text(found: &Comparison) -> String {
    let mut text = String::new();
    if let Some(factor) = &found.by {
        text += &line(&format!("{}, by {factor}", found.sides[0].directory.display()));
    }
    text += &line(&format!("A: {}", side(found, 0)));
    text += &line(&format!("B: {}", side(found, 1)));
    for warning in &found.warnings {
        text += &line(&format!("! {warning}"));
    }
    text.push('\n');
    text += &line(&sentence(found));
    let rows: Vec<&Row> = found.rows.iter().filter(|row| !is_quiet(row)).collect();
    if !rows.is_empty() {
        text += &format!("\n{}", table(found, &rows));
    }
    let same = [missing_lines(found), quiet(found)].concat();
    if !same.is_empty() {
        text.push('\n');
    }
    for same in same {
        text += &line(&same);
    }
    text.push('\n');
    text += &line(&format!(
        "Min. detectable: smallest difference found with 90 % power. Tested: {}.",
        found.family
    ));
    text
}

/// One line: names of files and cases, which others chose, begin no other.
fn line(text: &str) -> String {
    format!("{}\n", visible_line(text))
}

fn table(found: &Comparison, rows: &[&Row]) -> String {
    const HEAD: [&str; 9] =
        ["case", "metric", "A", "B", "B against A", "95 % CI", "p", "min. detectable", "verdict"];
    let row = |row: &&Row| {
        [
            row.case.clone(),
            title(&row.metric),
            estimate(row, 0),
            estimate(row, 1),
            change(row),
            interval(row),
            probability(row, row.p_corrected),
            detectable(row),
            verdict(found, row),
        ]
    };
    let mut grid = Grid::new(&[Left, Left, Right, Right, Right, Right, Right, Right, Left]);
    grid.row(HEAD.map(Cell::new));
    for cells in rows.iter().map(row) {
        grid.row(cells.map(Cell::new));
    }
    grid.plain()
}
