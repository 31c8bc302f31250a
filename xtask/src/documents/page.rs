//! The page of a document.

use std::fmt::Write as _;

use super::figures::Figures;
use super::rows::{Document, Part, Row, Verdict};

/// Markdown.
///
/// # Errors
/// When a row names a claim that has no figure, or calls the same what did not hold.
pub(super) fn page(document: &Document, figures: &Figures) -> anyhow::Result<String> {
    let count = |verdict| document.rows().filter(|row| row.verdict == verdict).count();
    let mut page = format!(
        "# {}\n\n{}\n\n{} rows: {} as in the document (✓), {} differ (≠), {} cannot be had (–). \
         Made by `make documents`; `cargo xtask tidy` checks it.\n",
        document.title,
        document.about.trim(),
        document.rows().count(),
        count(Verdict::Same),
        count(Verdict::Differs),
        count(Verdict::Impossible),
    );
    for part in &document.part {
        write_part(&mut page, document, part, figures)?;
    }
    Ok(page)
}

fn write_part(
    page: &mut String,
    document: &Document,
    part: &Part,
    figures: &Figures,
) -> anyhow::Result<()> {
    write!(page, "\n## {}\n\n", part.title)?;
    if !part.text.is_empty() {
        write!(page, "{}\n\n", part.text.trim())?;
    }
    page.push_str("| the document | its figure | here | | command |\n|---|---|---|---|---|\n");
    for row in &part.row {
        let here = here(row, figures)?;
        let verdict = match row.why.trim() {
            "" => row.verdict.sign().to_owned(),
            why => format!("{} {why}", row.verdict.sign()),
        };
        let cells = [&row.says, &row.figure, &here, &verdict, &command(document, row)];
        for cell in cells {
            write!(page, "| {} ", cell.trim().replace('\n', " ").replace('|', "\\|"))?;
        }
        page.push_str("|\n");
    }
    Ok(())
}

/// What was found here.
fn here(row: &Row, figures: &Figures) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    if let Some(scenario) = &row.run {
        for claim in &row.claims {
            let Some(finding) = figures.finding(scenario, claim) else {
                anyhow::bail!("{scenario} has no figure for the claim \"{claim}\"");
            };
            anyhow::ensure!(
                finding.held || row.verdict != Verdict::Same,
                "the same, but \"{claim}\" does not hold in {scenario}: {}",
                finding.found
            );
            parts.push(finding.found.clone());
        }
    }
    if !row.here.is_empty() {
        parts.push(row.here.clone());
    }
    Ok(parts.join("; "))
}

fn command(document: &Document, row: &Row) -> String {
    match (&row.run, &row.command) {
        (_, Some(command)) => format!("`{command}`"),
        (Some(scenario), None) => match document.world(scenario) {
            "kernel" => format!("`tcplab run {scenario}`, this kernel"),
            "models" => format!("`tcplab run {scenario} --world sim --kernel model`"),
            kernel => format!("`tcplab run {scenario} --world sim --kernel {kernel}`"),
        },
        (None, None) => {
            let test = row.test.as_deref().unwrap_or_default();
            test.rsplit("::").next().map_or(String::new(), |test| format!("test `{test}`"))
        }
    }
}
