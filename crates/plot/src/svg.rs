//! Writing SVG.

use std::borrow::Cow;

use tcplab_units::visible;

/// Escapes `text` for text nodes and quoted attributes. Control characters, most of which XML
/// forbids, are [shown as such](visible); its noncharacters become U+FFFD.
pub fn escape(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'' | '\u{fffe}' | '\u{ffff}');
    let text = visible(text);
    if !text.contains(special) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_is_escaped() {
        for (raw, safe) in [
            ("ack 5 SACK 7-9", "ack 5 SACK 7-9"),
            ("</svg><script>\"&'", "&lt;/svg&gt;&lt;script&gt;&quot;&amp;&#39;"),
            ("bell\u{7}<", "bell\\x07&lt;"),
            ("\u{202e}\u{ffff}", "\\u{202e}\u{fffd}"),
        ] {
            assert_eq!(super::escape(raw), safe);
        }
    }
}
