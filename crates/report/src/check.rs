//! The configured path beside the measured one, as a table.

use tcplab_results::Calibration;
use tcplab_results::verification::{CheckRow, Outcome, PathCheck};

use crate::grid::{Cell, Grid, Side};

pub(crate) struct Line {
    pub(crate) sign: char,
    pub(crate) quantity: String,
    pub(crate) asked: String,
    pub(crate) achieved: String,
    pub(crate) why: String,
    pub(crate) class: &'static str,
    pub(crate) verdict: &'static str,
}

impl Line {
    pub(crate) fn of(row: &CheckRow) -> Line {
        let (sign, class) = match row.outcome {
            Outcome::Ok => ('✓', "held"),
            Outcome::Off => ('✗', "broke"),
            Outcome::NotMeasured => ('–', "unknown"),
        };
        let quantity = match row.direction {
            Some(direction) => format!("{direction} {}", row.quantity),
            None => row.quantity.clone(),
        };
        Line {
            sign,
            quantity,
            asked: row.asked.clone(),
            achieved: row.achieved.clone(),
            why: row.why.clone(),
            class,
            verdict: row.outcome.name(),
        }
    }
}

/// The rows as text, aligned for a fixed-width font; every line ends in `\n`.
pub fn check_table(rows: &[CheckRow]) -> String {
    let mut grid = Grid::new(&[Side::Left; 4]);
    grid.row(["", "configured", "measured", "bound, or why not measured"].map(Cell::new));
    for Line { sign, quantity, asked, achieved, why, verdict, .. } in rows.iter().map(Line::of) {
        let achieved = if achieved.is_empty() { verdict.to_owned() } else { achieved };
        grid.row([format!("{sign} {quantity}"), asked, achieved, why].map(Cell::new));
    }
    grid.plain()
}

/// A line for a verified path, a table for one that is off.
pub(crate) fn verified(calibration: &Calibration) -> String {
    let mut text = String::new();
    let several = calibration.paths.len() > 1;
    for path in &calibration.paths {
        let of = if several { format!(" of {}", path.cases.join(", ")) } else { String::new() };
        let rows = with_timer(calibration, path);
        if rows.iter().all(|row| row.outcome != Outcome::Off) {
            text += &format!("✓ path{of} verified: {}\n", in_short(&rows));
        } else {
            text += &format!("! path{of} not as configured on this machine:\n");
            text += &check_table(&rows);
        }
    }
    text
}

pub(crate) struct Verified {
    /// The variants of this path; empty where all have it.
    pub(crate) of: String,
    pub(crate) is_good: bool,
    pub(crate) in_short: String,
    pub(crate) lines: Vec<Line>,
}

impl Verified {
    pub(crate) fn all(calibration: &Calibration) -> Vec<Verified> {
        let several = calibration.paths.len() > 1;
        let one = |path: &PathCheck| {
            let rows = with_timer(calibration, path);
            Verified {
                of: if several { path.cases.join(", ") } else { String::new() },
                is_good: rows.iter().all(|row| row.outcome != Outcome::Off),
                in_short: in_short(&rows),
                lines: rows.iter().map(Line::of).collect(),
            }
        };
        calibration.paths.iter().map(one).collect()
    }
}

/// With the machine's timers, which all paths share.
fn with_timer(calibration: &Calibration, path: &PathCheck) -> Vec<CheckRow> {
    std::iter::once(&calibration.timer).chain(&path.rows).cloned().collect()
}

/// Such as `5 as configured, 1 off; not measured: delay`.
fn in_short(rows: &[CheckRow]) -> String {
    let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let mut text = format!("{} as configured", count(Outcome::Ok));
    if count(Outcome::Off) > 0 {
        text += &format!(", {} off", count(Outcome::Off));
    }
    let missing: Vec<String> = rows
        .iter()
        .filter(|row| row.outcome == Outcome::NotMeasured)
        .map(|row| Line::of(row).quantity)
        .collect();
    if !missing.is_empty() {
        text += &format!("; not measured: {}", missing.join(", "));
    }
    text
}
