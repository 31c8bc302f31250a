//! Telling code from comments and literals, byte by byte.

/// What a byte of Rust text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Code,
    Comment,
    /// A string or character, with its prefix and quotes.
    Literal,
}

/// The class of every byte of `text` (Rust Reference, "Tokens" and "Comments").
///
/// Text that does not compile gives some classes too; the compiler reports it.
pub(super) fn classify(text: &str) -> Vec<Class> {
    let bytes = text.as_bytes();
    let mut classes = vec![Class::Code; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let (class, end) = token(text, at);
        classes[at..end].fill(class);
        at = end;
    }
    classes
}

/// `text` with everything but code blanked, byte for byte, so that offsets and lines stay.
pub(super) fn code_only(text: &str, classes: &[Class]) -> String {
    let blanked = text.bytes().zip(classes).map(|(byte, class)| match class {
        Class::Code => byte,
        _ if byte == b'\n' => byte,
        _ => b' ',
    });
    String::from_utf8(blanked.collect()).expect("comments and literals hold whole characters")
}

/// Whether `byte` can be part of an identifier; each byte beyond ASCII counts as one that can.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The class and the end of the token that begins at `at`.
fn token(text: &str, at: usize) -> (Class, usize) {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'/' if bytes[at..].starts_with(b"//") => {
            (Class::Comment, text[at..].find('\n').map_or(bytes.len(), |length| at + length))
        }
        b'/' if bytes[at..].starts_with(b"/*") => (Class::Comment, block_comment_end(bytes, at)),
        b'"' => (Class::Literal, string_end(bytes, at)),
        b'\'' => character_end(text, at).map_or((Class::Code, at + 1), |end| (Class::Literal, end)),
        byte if is_word(byte) => {
            let rest = &bytes[at..];
            let word = at + rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
            prefixed_end(text, at, word).map_or((Class::Code, word), |end| (Class::Literal, end))
        }
        _ => (Class::Code, at + 1),
    }
}

/// The end of a literal whose prefix is `text[at..quote]`, if it is one.
fn prefixed_end(text: &str, at: usize, quote: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    match (&bytes[at..quote], bytes.get(quote)?) {
        (b"r" | b"br" | b"cr", b'"' | b'#') => raw_string_end(bytes, quote),
        (b"b" | b"c", b'"') => Some(string_end(bytes, quote)),
        (b"b", b'\'') => character_end(text, quote),
        _ => None,
    }
}

/// Block comments nest.
fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `None` when this is no string but a raw identifier (`r#type`).
fn raw_string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start..].iter().take_while(|byte| **byte == b'#').count();
    let open = start + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"", vec![b'#'; hashes].as_slice()].concat();
    let length = bytes[open + 1..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// `None` when the quote at `quote` begins a lifetime or a label.
fn character_end(text: &str, quote: usize) -> Option<usize> {
    let inside = &text[quote + 1..];
    let length = if let Some(escape) = inside.strip_prefix('\\') {
        // The escaped character may itself be a quote.
        let escaped = escape.chars().next()?.len_utf8();
        1 + escaped + escape[escaped..].find('\'')?
    } else {
        let length = inside.chars().next()?.len_utf8();
        inside[length..].starts_with('\'').then_some(length)?
    };
    Some(quote + 1 + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_unmasked() {
        let table = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"todo!()\", x)", "f(         , x)"),
            (r#"f("a\"b", x)"#, "f(      , x)"),
            (r##"f(r#"a "b" \"#, x)"##, "f(            , x)"),
            ("r#type + br\"x\" + c\"y\"", "r#type +       +     "),
            (r"m('{', '\'', b'\\', '\u{7d}')", "m(   ,     ,      ,         )"),
            ("fn f<'a>(x: &'a str) -> &'static str", "fn f<'a>(x: &'a str) -> &'static str"),
            ("'outer: loop { break 'outer }", "'outer: loop { break 'outer }"),
            ("x('é', \"é\") // é", "x(    ,     )      "),
            ("\"never closed", "             "),
            ("/* never closed", "               "),
            ("r#\"never closed\"", "                "),
        ];
        for (text, expected) in table {
            assert_eq!(code_only(text, &classify(text)), expected, "{text}");
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "let a = \"x\n  y\";\n/* b\n */ c";
        let code = code_only(text, &classify(text));
        assert_eq!(code.len(), text.len());
        assert_eq!(code.lines().nth(3), Some("    c"));
    }
}
