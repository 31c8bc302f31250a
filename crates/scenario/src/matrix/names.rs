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
            let is_clear =
                level.is_word && !plain.starts_with('-') && plain.contains(char::is_alphabetic);
            let last = factor.key.0.last().expect("a key has parts");
            match last.rsplit('.').next() {
                Some(what) if !is_clear => format!("{what}={plain}"),
                _ => plain,
            }
        })
        .collect();
    let mut name = if parts.is_empty() { "base".into() } else { parts.join("_") };
    shorten(&mut name);
    name
}

/// Cuts what is too long, not within a letter.
fn shorten(name: &mut String) {
    let end = (0..=NAME_MAX.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    name.truncate(end.unwrap_or_default());
}

/// Letters of any script, digits, `.` and the `%` of a number (`µ` as `u`); the space between a
/// number and its unit disappears, everything else becomes `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    let text = text.trim().replace('µ', "u");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after_digit = slug.ends_with(|c: char| c.is_ascii_digit());
        if c.is_alphanumeric()
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
    let slug = slug.trim_start_matches(['-', '.']).trim_end_matches('-');
    if slug.is_empty() { "-".into() } else { slug.into() }
}

#[cfg(test)]
mod tests {
    use super::{NAME_MAX, shorten, slug};

    #[test]
    fn long_names_end_with_a_whole_letter() {
        for (letter, length) in [("a", NAME_MAX), ("é", NAME_MAX), ("語", NAME_MAX / 3 * 3)] {
            let mut name = letter.repeat(NAME_MAX);
            shorten(&mut name);
            assert_eq!(name.len(), length, "{letter}");
        }
    }

    #[test]
    fn letters_of_any_script_are_kept() {
        for (text, wanted) in [
            ("64 KiB", "64KiB"),
            ("50 µs", "50us"),
            ("0.1 %", "0.1%"),
            ("日本語", "日本語"),
            ("à la carte", "à-la-carte"),
            ("a/b\u{202e}", "a-b"),
            ("../x", "x"),
            ("→", "-"),
        ] {
            assert_eq!(slug(text), wanted, "{text}");
        }
    }
}
