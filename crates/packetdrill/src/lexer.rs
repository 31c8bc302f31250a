//! Words of a script.
//!
//! What a word means depends on where it stands (`ack`, `tc` and `fd` are also names), so there are
//! no keywords here.

use crate::source::ParseError;

/// What kind of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `name`, `10ab`.
    Word,
    /// `12`, `-1`.
    Integer,
    /// `0x1f`.
    Hex,
    /// `.1`, `2.5`.
    Decimal,
    /// `--name`.
    Flag,
    /// `"text"`.
    Text,
    /// A shell's command between backticks.
    Shell,
    /// `%{ code }%`.
    Code,
    /// `192.0.2.1`.
    Ipv4,
    /// `2001:db8::1`.
    Ipv6,
    /// `...`.
    Ellipsis,
    /// One character that is none of these.
    Sign(char),
    /// The end of the script.
    End,
}

/// A word and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    /// With its quotes.
    pub(crate) text: &'a str,
    /// Where it begins, in bytes.
    pub(crate) at: usize,
}

impl<'a> Token<'a> {
    /// What a definition's `value` puts in its place: `"text"`, a shell's command in backticks, a
    /// number or another word.
    pub(crate) fn replaced_by(self, value: &'a str) -> Token<'a> {
        let inner = lex(value, 0).unwrap_or_default();
        match inner.as_slice() {
            [one, _end] => Token { kind: one.kind, text: one.text, at: self.at },
            _ => Token { kind: Kind::Word, text: value, at: self.at },
        }
    }
}

/// All words of `source` from the byte `at` on, [`Kind::End`] the last.
pub(crate) fn lex(source: &str, mut at: usize) -> Result<Vec<Token<'_>>, ParseError> {
    let mut tokens = Vec::new();
    loop {
        at = skip_blank(source, at)?;
        let rest = &source[at..];
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "", at });
            return Ok(tokens);
        }
        let (kind, len) = first(source, at, rest)?;
        tokens.push(Token { kind, text: &rest[..len], at });
        at += len;
    }
}

/// Behind blanks and comments from `at` on.
fn skip_blank(source: &str, mut at: usize) -> Result<usize, ParseError> {
    loop {
        let rest = &source[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if let Some(comment) = trimmed.strip_prefix("/*") {
            let end = comment.find("*/").ok_or_else(|| {
                ParseError::new(source, at, "unterminated comment: add `*/`".into())
            })?;
            at += end + 4;
        } else {
            return Ok(at);
        }
    }
}

/// The first word of `rest`, which is not empty and does not begin with a blank.
fn first(source: &str, at: usize, rest: &str) -> Result<(Kind, usize), ParseError> {
    let c = rest.chars().next().unwrap_or_default();
    match c {
        '"' => return quoted(source, at, rest, '"').map(|len| (Kind::Text, len)),
        '`' => return quoted(source, at, rest, '`').map(|len| (Kind::Shell, len)),
        '%' if rest.starts_with("%{") => {
            let missing = || ParseError::new(source, at, "unterminated code: add `}%`".into());
            return rest.find("}%").map(|end| (Kind::Code, end + 2)).ok_or_else(missing);
        }
        _ => {}
    }
    if rest.starts_with("...") {
        return Ok((Kind::Ellipsis, 3));
    }
    if let Some(name) = rest.strip_prefix("--") {
        let len = run(name, is_word);
        if len > 0 {
            return Ok((Kind::Flag, len + 2));
        }
    }
    if let Some(address) = address(rest) {
        return Ok(address);
    }
    Ok(number(rest).unwrap_or_else(|| match run(rest, is_word) {
        0 => (Kind::Sign(c), c.len_utf8()),
        len => (Kind::Word, len),
    }))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// How many bytes from the start are such characters.
fn run(text: &str, such: impl Fn(char) -> bool) -> usize {
    text.find(|c| !such(c)).unwrap_or(text.len())
}

fn quoted(source: &str, at: usize, rest: &str, quote: char) -> Result<usize, ParseError> {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return Ok(index + 1);
        }
    }
    Err(ParseError::new(source, at, format!("unterminated quote: add `{quote}`")))
}

/// An IP address. `1:1001(1000)` and `sack 1:2` are none: one of version 6 has `::` or eight
/// groups.
fn address(rest: &str) -> Option<(Kind, usize)> {
    let digits_and_dots = run(rest, |c| c.is_ascii_digit() || c == '.');
    let v4 = &rest[..digits_and_dots];
    if v4.split('.').count() == 4 && v4.split('.').all(|part| !part.is_empty()) {
        return Some((Kind::Ipv4, digits_and_dots));
    }
    let len = run(rest, |c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    let v6 = rest[..len].trim_end_matches('.');
    let v6 = if v6.ends_with("::") { v6 } else { v6.trim_end_matches(':') };
    v6.parse::<std::net::Ipv6Addr>().ok().map(|_| (Kind::Ipv6, v6.len()))
}

/// A number that is not the start of a longer word.
fn number(rest: &str) -> Option<(Kind, usize)> {
    let word = run(rest, is_word);
    if let Some(hex) = rest.strip_prefix("0x") {
        let len = run(hex, |c| c.is_ascii_hexdigit());
        return (len > 0 && len + 2 == word).then_some((Kind::Hex, len + 2));
    }
    let minus = usize::from(rest.starts_with('-'));
    let whole = minus + run(&rest[minus..], |c| c.is_ascii_digit());
    if let Some(fraction) = rest[whole..].strip_prefix('.') {
        let len = run(fraction, |c| c.is_ascii_digit());
        if len > 0 {
            return Some((Kind::Decimal, whole + 1 + len));
        }
    }
    (whole > minus && whole >= word).then_some((Kind::Integer, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(Kind, &str)> {
        let tokens = lex(source, 0).unwrap();
        tokens[..tokens.len() - 1].iter().map(|t| (t.kind, t.text)).collect()
    }

    #[test]
    fn lexer_mixed_script_gives_each_word() {
        use Kind::*;
        assert_eq!(
            kinds("+.1 0...0.25 P.5 1:1001(1000) -1"),
            [
                (Sign('+'), "+"),
                (Decimal, ".1"),
                (Integer, "0"),
                (Ellipsis, "..."),
                (Decimal, "0.25"),
                (Word, "P"),
                (Decimal, ".5"),
                (Integer, "1"),
                (Sign(':'), ":"),
                (Integer, "1001"),
                (Sign('('), "("),
                (Integer, "1000"),
                (Sign(')'), ")"),
                (Integer, "-1"),
            ]
        );
        assert_eq!(
            kinds("--a_b=fd::1 0x1F 0123ab 10 192.0.2.1 // end"),
            [
                (Flag, "--a_b"),
                (Sign('='), "="),
                (Ipv6, "fd::1"),
                (Hex, "0x1F"),
                (Word, "0123ab"),
                (Integer, "10"),
                (Ipv4, "192.0.2.1"),
            ]
        );
        assert_eq!(
            kinds("/* a * / */ `x \\` y` %{ a }\n }% \"q\\\"\""),
            [(Shell, "`x \\` y`"), (Code, "%{ a }\n }%"), (Text, "\"q\\\"\"")]
        );
    }

    #[test]
    fn lexer_unterminated_text_gives_error() {
        for (source, shown) in [
            ("+0 `ls", "1:4: unterminated quote: add ```\n  | +0 `ls\n  |    ^"),
            ("\n/* x", "2:1: unterminated comment: add `*/`\n  | /* x\n  | ^"),
            ("%{ a", "1:1: unterminated code: add `}%`\n  | %{ a\n  | ^"),
        ] {
            assert_eq!(lex(source, 0).unwrap_err().to_string(), shown);
        }
    }
}
