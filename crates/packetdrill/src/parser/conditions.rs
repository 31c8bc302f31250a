//! `#ifdef NAME … #endif`: lines for one system only.
//!
//! The packetdrill of FreeBSD's developers reads them. It does not nest them and has neither
//! `#else` nor `#ifndef`.

use crate::lexer::{Kind, Token};
use crate::source::ParseError;

/// `tokens` without those between `#ifdef` and `#endif` whose name nobody `defined`.
pub(super) fn met<'a>(
    source: &str,
    tokens: Vec<Token<'a>>,
    defined: impl Fn(&str) -> bool,
) -> Result<Vec<Token<'a>>, ParseError> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut open: Option<(usize, bool)> = None;
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let word =
            rest.peek().filter(|word| token.kind == Kind::Sign('#') && is_behind(token, word));
        let error = |what: &str| Err(ParseError::new(source, token.at, what.into()));
        match (word.map(|word| word.text), open) {
            (Some("ifdef"), None) => {
                rest.next();
                let Some(name) = rest.next_if(|name| name.kind == Kind::Word) else {
                    return error("`#ifdef` needs a name behind it, such as `#ifdef FreeBSD`");
                };
                open = Some((token.at, defined(name.text)));
            }
            (Some("ifdef"), Some(_)) => {
                return error("`#ifdef` inside another: add `#endif` before it");
            }
            (Some("endif"), Some(_)) => {
                rest.next();
                open = None;
            }
            (Some("endif"), None) => return error("`#endif` without `#ifdef`: remove it"),
            (Some("else" | "ifndef" | "if" | "define"), _) => {
                return error(
                    "only `#ifdef NAME` and `#endif` are known; `--define=NAME=1` defines",
                );
            }
            (_, Some((at, _))) if token.kind == Kind::End => {
                let what = "unterminated `#ifdef`: add `#endif`";
                return Err(ParseError::new(source, at, what.into()));
            }
            (_, Some((_, false))) => {}
            (_, Some((_, true)) | None) => kept.push(token),
        }
    }
    Ok(kept)
}

fn is_behind(sign: Token<'_>, word: &Token<'_>) -> bool {
    word.kind == Kind::Word && word.at == sign.at + 1
}
