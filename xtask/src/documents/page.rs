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
        "# {}\n\n{}\n\n{} rows: {} as in the document (✓), {} differ (≠). \
         Commands run in virtual time on models (`--world sim --kernel model`) where nothing else is \
         said. Made by `make documents`; `cargo xtask tidy` checks it.\n",
        document.title,
        document.about.trim(),
        document.rows().count(),
        count(Verdict::Same),
        count(Verdict::Differs),
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
            parts.push(format!("`{}` {}", finding.metric, short(&finding.found)));
        }
    }
    if !row.here.is_empty() {
        parts.push(row.here.clone());
    }
    Ok(parts.join("; "))
}

/// What was found, equal values together: `case: 1 s; other: 1 s; third: 2 s` is
/// `1 s (case, other); 2 s (third)`, and where all are equal the value alone.
fn short(found: &str) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in found.split("; ") {
        let Some((case, value)) = part.split_once(": ") else { return grouped(found) };
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((value, vec![case])),
        }
    }
    if let [(value, _)] = groups[..] {
        return grouped(value);
    }
    let words = groups.into_iter().map(|(value, cases)| match &cases[..] {
        [_, _, _, _, ..] => format!("{} ({} cases)", grouped(value), cases.len()),
        few => format!("{} ({})", grouped(value), few.join(", ")),
    });
    words.collect::<Vec<_>>().join("; ")
}

/// With commas in whole numbers of five digits or more.
fn grouped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end =
            rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| start + n);
        let digits = &rest[start..end];
        out.push_str(&rest[..start]);
        let is_whole = !out.ends_with('.') && digits.len() >= 5;
        for (index, digit) in digits.chars().enumerate() {
            if is_whole && index > 0 && (digits.len() - index).is_multiple_of(3) {
                out.push(',');
            }
            out.push(digit);
        }
        rest = &rest[end..];
    }
    out + rest
}

fn command(document: &Document, row: &Row) -> String {
    match (&row.run, &row.command) {
        (_, Some(command)) => format!("`{command}`"),
        (Some(scenario), None) => match document.world(scenario) {
            "kernel" => format!("`tcplab run {scenario}`, this kernel"),
            "models" => format!("`tcplab run {scenario}`"),
            kernel => format!("`tcplab run {scenario} --kernel {kernel}`"),
        },
        (None, None) => {
            let test = row.test.as_deref().unwrap_or_default();
            test.rsplit("::").next().map_or(String::new(), |test| format!("test `{test}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_told_once() {
        for (found, shown) in [
            ("2a: 0 s", "0 s"),
            ("a: 1; b: 1; c: 1", "1"),
            ("a: 1 s; b: 2 s; c: 1 s", "1 s (a, c); 2 s (b)"),
            ("a: 1; b: 1; c: 1; d: 1; e: 10000000 bytes", "1 (4 cases); 10,000,000 bytes (e)"),
            ("all 12: 1152 bytes", "1152 bytes"),
            ("a: 0.123456 s", "0.123456 s"),
        ] {
            assert_eq!(short(found), shown);
        }
    }
}
