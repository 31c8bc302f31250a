//! Names of cases.

use super::factor::Cell;

/// Longest name of a case, bytes; it becomes part of file names.
const NAME_MAX: usize = 80;

/// The levels of a cell as a file name: `reno`, `5Mbit-s_nodelay=true`.
pub(super) fn name(cell: &Cell<'_, '_>) -> String {
    let parts: Vec<String> = cell
        .iter()
        .map(|(factor, level)| {
            let plain = slug(&level.text);
            // Words and quantities are clear alone; a bare number or truth needs its key.
            let is_clear = level.is_word
                && !plain.starts_with('-')
                && plain.contains(|c: char| c.is_ascii_alphabetic());
            let last = factor.key.0.last().expect("a key has parts");
            match last.rsplit('.').next() {
                Some(what) if !is_clear => format!("{what}={plain}"),
                _ => plain,
            }
        })
        .collect();
    let mut name = if parts.is_empty() { "base".into() } else { parts.join("_") };
    name.truncate(NAME_MAX);
    name
}

/// Letters, digits, `.` and the `%` of a number, of a text in ASCII (`µ` as `u`); the space between a
/// number and its unit disappears, everything else becomes `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    let text = text.trim().replace('µ', "u");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after_digit = slug.ends_with(|c: char| c.is_ascii_digit());
        if c.is_ascii_alphanumeric()
            || matches!(c, '.' | '_') && !slug.is_empty()
            || c == '%' && after_digit
        {
            slug.push(c);
        } else if c == ' '
            && after_digit
            && chars.peek().is_some_and(|c| c.is_ascii_alphabetic() || *c == '%')
        {
            // `64 KiB` reads well as `64KiB`.
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "-".into() } else { slug.into() }
}
