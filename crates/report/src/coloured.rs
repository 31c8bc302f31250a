//! Colours of tcplab in a text, and none of others.

use tcplab_units::visible;

/// A text as a terminal may get it: `text(false)` with control characters shown as such; or, if
/// colours are wished and it has none, `text(true)`, which must differ by colours alone. So a
/// terminal obeys nothing but tcplab's colours, whatever names and comments the text contains.
pub fn coloured(text: impl Fn(bool) -> String, is_wished: bool) -> String {
    let plain = text(false);
    let shown = visible(&plain);
    if is_wished && shown == plain {
        let coloured = text(true);
        if without_colours(&coloured) == plain {
            return coloured;
        }
    }
    shown.into_owned()
}

/// Without complete SGR sequences (ECMA-48 8.3.117).
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (place, part) in text.split("\x1b[").enumerate() {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|end| part[*end..].starts_with('m')) {
            Some(end) if place > 0 => plain.push_str(&part[end + 1..]),
            _ => {
                plain.push_str(if place > 0 { "\x1b[" } else { "" });
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_added_only_where_nothing_else_steers() {
        let table = |name: &str, is_coloured: bool| {
            if is_coloured { format!("\x1b[1m{name}\x1b[0m 1\n") } else { format!("{name} 1\n") }
        };
        for (name, is_wished, shown) in [
            ("case", false, "case 1\n"),
            ("case", true, "\x1b[1mcase\x1b[0m 1\n"),
            ("a\x1b[2Jb", true, "a\\x1b[2Jb 1\n"),
            // A colour of somebody else.
            ("a\x1b[31mb", true, "a\\x1b[31mb 1\n"),
            ("a\u{9b}31mb", false, "a\\x9b31mb 1\n"),
        ] {
            assert_eq!(coloured(|is| table(name, is), is_wished), shown, "{name:?}");
        }
        // More than colours was added.
        let added = |is_coloured| if is_coloured { "\x1b[2Jtext" } else { "text" }.to_owned();
        assert_eq!(coloured(added, true), "text");
        assert_eq!(without_colours("\x1b[1;31ma\x1b[0mb\x1b[2Jc\x1b[m"), "ab\x1b[2Jc");
    }
}
