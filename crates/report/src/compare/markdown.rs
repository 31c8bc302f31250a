//! Markdown for a pull request.

use tcplab_results::comparison::{Comparison, Outcome, Row};
use tcplab_units::visible_line;

use crate::compared::{
    change, detectable, difference, estimate, interval, is_quiet, missing_lines, probability,
    sentence, side, trials, verdict,
};
use crate::title::title;

/// Rows shown; a fold has the others.
const SHOWN: usize = 8;

/// The verdict, the rows that matter, and everything else folded away.
pub fn markdown(found: &Comparison) -> String {
    let worst = found.rows.first().map(|row| row.outcome);
    let sign = match worst {
        Some(Outcome::Worse) => "❌",
        Some(Outcome::Different | Outcome::Inconclusive { .. }) | None => "❔",
        Some(_) if !found.missing.is_empty() => "❔",
        Some(Outcome::Better | Outcome::Equivalent { .. }) => "✅",
    };
    let mut text = format!("### {sign} tcplab: {}\n\n", escaped(&sentence(found)));
    let loud: Vec<&Row> = found.rows.iter().filter(|row| !is_quiet(row)).collect();
    if !loud.is_empty() {
        text += "| case | metric | A | B | change | 95 % CI | verdict |\n";
        text += "|---|---|--:|--:|--:|--:|---|\n";
        for row in loud.iter().take(SHOWN) {
            text += &line(&[
                &row.case,
                &title(&row.metric),
                &estimate(row, 0),
                &estimate(row, 1),
                &change(row),
                &interval(row),
                &bold(found, row),
            ]);
        }
        if loud.len() > SHOWN {
            text += &format!("\n{} more below.\n", loud.len() - SHOWN);
        }
        text.push('\n');
    }
    for missing in missing_lines(found) {
        text += &format!("- {}\n", escaped(&missing));
    }
    if !found.missing.is_empty() {
        text.push('\n');
    }
    text += &format!("A: {}, B: {}\n", escaped(&side(found, 0)), escaped(&side(found, 1)));
    for warning in &found.warnings {
        text += &format!("- ⚠️ {}\n", escaped(warning));
    }
    text += &format!(
        "\n<details><summary>All {} comparisons ({})</summary>\n\n",
        found.rows.len(),
        escaped(&found.family)
    );
    text += "| case | metric | trials | A | B | B − A | change | 95 % CI | p (Holm) | min. detectable (90 % power) | \
             verdict |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n";
    for row in &found.rows {
        text += &line(&[
            &row.case,
            &title(&row.metric),
            &trials(row),
            &estimate(row, 0),
            &estimate(row, 1),
            &difference(row),
            &change(row),
            &interval(row),
            &probability(row, row.p_corrected),
            &detectable(row),
            &verdict(found, row),
        ]);
    }
    text += "\nA is its median, B that changed by the Hodges–Lehmann estimate, or its median where that \
             is beyond all trials of B; rank tests, corrected by Holm.\n";
    text += "\n</details>\n";
    text
}

fn bold(found: &Comparison, row: &Row) -> String {
    let verdict = verdict(found, row);
    if row.outcome == Outcome::Worse { format!("**{verdict}**") } else { verdict }
}

fn line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Names of cases must not act as markup.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let mut safe = String::with_capacity(text.len());
    for c in visible_line(&text).chars() {
        match c {
            // A table's cell, a link or picture, code.
            '|' | '[' | ']' | '`' | '\\' => safe.extend(['\\', c]),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            c => safe.push(c),
        }
    }
    safe
}
