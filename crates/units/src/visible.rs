//! Foreign text made safe to look at.
//!
//! Comments of captures, names and titles in files, file names and answers of servers may hold what
//! steers a terminal (ECMA-48), is illegal in XML, or reorders the line (Unicode's bidirectional
//! controls, UAX 9). Shown as such it does nothing: `\x1b`, `\u{202e}`.

use std::borrow::Cow;
use std::fmt::Write;

/// A text of several lines with its control characters visible; new lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| steers(c) && !matches!(c, '\n' | '\t'))
}

/// A text that must stay on its line: new lines and tabs become `\n` and `\t`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    replaced(text, steers)
}

/// Whether the character is one that is not shown but obeyed: C0, DEL, C1, the line and paragraph
/// separators, and the embeddings, overrides and isolates of UAX 9.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_replaced) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut safe = String::with_capacity(text.len() + 8);
    safe.push_str(before);
    for c in rest.chars() {
        match c {
            _ if !is_replaced(c) => safe.push(c),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            '\0'..='\u{ff}' => {
                let _ = write!(safe, "\\x{:02x}", u32::from(c));
            }
            _ => safe.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_as_such() {
        for (text, shown) in [
            ("plain é ✓ 漢", "plain é ✓ 漢"),
            ("a\x1b[2Jb", "a\\x1b[2Jb"),
            ("\0\x07\x7f\r", "\\x00\\x07\\x7f\\r"),
            ("\u{9b}2J\u{80}", "\\x9b2J\\x80"),
            ("\u{202e}gpj.exe\u{2069}\u{2028}", "\\u{202e}gpj.exe\\u{2069}\\u{2028}"),
            ("one\n\ttwo", "one\n\ttwo"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_line("title\n✓ passed\t\x1b[0m"), "title\\n✓ passed\\t\\x1b[0m");
    }

    proptest! {
        /// The codes are those of ECMA-48 and UAX 9, spelled out here by number.
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            let is_obeyed = |c: char| matches!(
                u32::from(c),
                0..=0x1f | 0x7f..=0x9f | 0x2028..=0x202e | 0x2066..=0x2069
            );
            prop_assert!(!visible_line(&text).contains(is_obeyed));
            prop_assert!(!visible(&text).replace(['\n', '\t'], "").contains(is_obeyed));
            if !text.contains(is_obeyed) {
                prop_assert_eq!(visible_line(&text), text.as_str());
            }
        }
    }
}
