//! Tables for the terminal.

use std::fmt::Write as _;

use tcplab_lab::Run;
use tcplab_plot::grouped;

use crate::outcome::by_kind;
use crate::summary::blocks;

/// The run as text: metrics by variant, recovery episodes by type, claims. Every line ends in
/// `\n`; columns are aligned for a fixed-width font.
pub fn text_table(run: &Run) -> String {
    let mut text = String::new();
    let metrics = metrics(run);
    if !metrics.is_empty() {
        text.push_str(&aligned(&metrics));
        text.push('\n');
    }
    text.push_str(&aligned(&episodes(run)));
    for (i, claim) in run.claims.iter().enumerate() {
        if i == 0 {
            text.push('\n');
        }
        let sign = if claim.held { '✓' } else { '✗' };
        line(&mut text, &format!("{sign} {}", claim.claim));
        line(&mut text, &format!("    {}: {}", claim.check, claim.found));
    }
    text
}

fn metrics(run: &Run) -> Vec<Vec<String>> {
    let head = |name: String| -> Vec<String> {
        [name.as_str(), "mean", "sd", "95 % interval", "trials"].map(String::from).to_vec()
    };
    let mut rows = Vec::new();
    for block in blocks(run) {
        let unit = if block.unit.is_empty() { String::new() } else { format!(", {}", block.unit) };
        rows.push(head(format!("{}{unit}", block.name)));
        for row in block.rows {
            rows.push(vec![
                format!("  {}", row.case),
                row.mean,
                row.deviation,
                row.interval,
                row.count.to_string(),
            ]);
        }
    }
    rows
}

fn episodes(run: &Run) -> Vec<Vec<String>> {
    let all = run.cases.iter().flat_map(|c| &c.trials).flat_map(|t| &t.episodes);
    let kinds: Vec<String> = by_kind(all).into_iter().map(|(kind, _)| kind).collect();
    let mut rows = vec![vec!["recovery episodes".to_string()]];
    rows[0].extend(kinds.iter().cloned());
    rows[0].extend(["lost segments", "repaired"].map(String::from));
    for case in &run.cases {
        let here: Vec<_> = case.trials.iter().flat_map(|t| &t.episodes).collect();
        let mut row = vec![format!("  {}", case.name)];
        for kind in &kinds {
            row.push(grouped(here.iter().filter(|e| e.kind == *kind).count() as u64));
        }
        row.push(grouped(here.iter().map(|e| e.lost_segments as u64).sum()));
        let repaired = here.iter().filter(|e| e.repaired).count();
        row.push(format!("{repaired} of {}", here.len()));
        rows.push(row);
    }
    rows
}

/// The first column to the left, the others to the right, two spaces between.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut out = String::new();
        for (i, cell) in row.iter().enumerate() {
            let width = widths[i];
            let written = if i == 0 {
                write!(out, "{cell:<width$}")
            } else {
                write!(out, "  {cell:>width$}")
            };
            written.expect("a String takes what it is given");
        }
        line(&mut text, out.trim_end());
    }
    text
}

fn line(text: &mut String, line: &str) {
    // A control character in somebody's claim must not steer the terminal.
    text.extend(line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }));
    text.push('\n');
}
