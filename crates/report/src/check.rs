//! The configured path beside the measured one, as a table.

use tcplab_results::Calibration;
use tcplab_results::verification::{CheckRow, Outcome, PathCheck};

use crate::grid::{Cell, Grid, Side, wrapped};

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

/// A sentence for a verified path, wrapped at `width`; with a table for one that is off.
pub(crate) fn verified(calibration: &Calibration, width: usize) -> String {
    let mut text = String::new();
    for path in &calibration.paths {
        let rows = with_timer(calibration, path);
        for line in wrapped(&summary(&rows, &cases_of(calibration, path)), width) {
            text += &format!("{line}\n");
        }
        if is_off(&rows) {
            text += &check_table(&rows);
        }
    }
    text
}

pub(crate) struct Verified {
    pub(crate) is_good: bool,
    /// What was not measured, then what was verified.
    pub(crate) summary: String,
    pub(crate) lines: Vec<Line>,
}

impl Verified {
    pub(crate) fn all(calibration: &Calibration) -> Vec<Verified> {
        let one = |path: &PathCheck| {
            let rows = with_timer(calibration, path);
            Verified {
                is_good: !is_off(&rows),
                summary: summary(&rows, &cases_of(calibration, path)),
                lines: rows.iter().map(Line::of).collect(),
            }
        };
        calibration.paths.iter().map(one).collect()
    }
}

/// Such as ` of reno, cubic`; empty where all variants have this path.
fn cases_of(calibration: &Calibration, path: &PathCheck) -> String {
    let several = calibration.paths.len() > 1;
    if several { format!(" of {}", path.cases.join(", ")) } else { String::new() }
}

fn is_off(rows: &[CheckRow]) -> bool {
    rows.iter().any(|row| row.outcome == Outcome::Off)
}

/// With the machine's timers, which all paths share.
fn with_timer(calibration: &Calibration, path: &PathCheck) -> Vec<CheckRow> {
    std::iter::once(&calibration.timer).chain(&path.rows).cloned().collect()
}

/// Such as `✓ path of reno: not measured: forward delay; verified: 5 as configured`. What was not
/// measured comes before the word `verified`: nobody reads that as a verdict on the whole path.
fn summary(rows: &[CheckRow], of: &str) -> String {
    let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let mut parts: Vec<String> = Vec::new();
    let missing: Vec<String> = rows
        .iter()
        .filter(|row| row.outcome == Outcome::NotMeasured)
        .map(|row| Line::of(row).quantity)
        .collect();
    if !missing.is_empty() {
        parts.push(format!("not measured: {}", missing.join(", ")));
    }
    // Those without a direction are of this machine.
    let is_of_path = |row: &&CheckRow| row.outcome == Outcome::Ok && row.direction.is_some();
    let of_path = rows.iter().filter(is_of_path).count();
    let of_machine = count(Outcome::Ok) - of_path;
    parts.push(format!("verified: {of_path} of the path and {of_machine} of this machine"));
    if is_off(rows) {
        let off = count(Outcome::Off);
        return format!(
            "! path{of} not as configured on this machine: {off} off; {}",
            parts.join("; ")
        );
    }
    let colon = if missing.is_empty() { "" } else { ":" };
    format!("✓ path{of}{colon} {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use tcplab_path::Direction;

    use super::*;

    #[test]
    fn unmeasured_elements_come_before_verified() {
        let machine = || CheckRow::new("lateness", String::new(), "0".into(), true, String::new());
        let queue = CheckRow::unknown("queue", String::new(), "").in_direction(Direction::Forward);
        let rate = |good| {
            CheckRow::new("rate", String::new(), "1".into(), good, String::new())
                .in_direction(Direction::Forward)
        };
        for (rows, text) in [
            (
                vec![machine(), queue.clone()],
                "✓ path of 4e: not measured: forward queue; verified: 0 of the path and 1 of this \
                 machine",
            ),
            (
                vec![machine(), rate(true)],
                "✓ path of 4e verified: 1 of the path and 1 of this machine",
            ),
            (
                vec![machine(), rate(false), queue],
                "! path of 4e not as configured on this machine: 1 off; not measured: forward \
                 queue; verified: 0 of the path and 1 of this machine",
            ),
        ] {
            assert_eq!(summary(&rows, " of 4e"), text);
        }
    }
}
