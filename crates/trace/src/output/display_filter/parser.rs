//! From text to tests.

use std::net::IpAddr;
use std::ops::Range;

use tcplab_units::Span;

use super::fields::{Field, Kind};
use super::test::Test;
use super::values::{Comparison, Wanted};
use crate::expression::{FilterError, Words};

pub(super) struct Parser<'a> {
    words: Words<'a>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parser<'a> {
        Parser { words: Words::new(text, words(text)) }
    }

    pub(super) fn whole(&mut self) -> Result<Test, FilterError> {
        let test = self.expression()?;
        self.words.end()?;
        Ok(test)
    }

    fn expression(&mut self) -> Result<Test, FilterError> {
        let mut tests = vec![self.term()?];
        while self.words.take(&["or", "||"]) {
            tests.push(self.term()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) })
    }

    fn term(&mut self) -> Result<Test, FilterError> {
        let mut tests = vec![self.factor()?];
        while self.words.take(&["and", "&&"]) {
            tests.push(self.factor()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::All(tests) })
    }

    fn factor(&mut self) -> Result<Test, FilterError> {
        let (word, place) = self.word("a field, such as `tcp.len`, `not` or `(`")?;
        if !matches!(word, "not" | "!" | "(") {
            return self.test(word, place);
        }
        self.words.enter(place)?;
        let test = if word == "(" {
            let test = self.expression()?;
            self.expect(")")?;
            test
        } else {
            Test::Not(Box::new(self.factor()?))
        };
        self.words.leave();
        Ok(test)
    }

    fn test(&mut self, name: &str, place: Range<usize>) -> Result<Test, FilterError> {
        let Some(field) = Field::named(name) else {
            return Err(self.words.error(place, unknown(name)));
        };
        let Some(after) = self.words.peek() else { return Ok(Test::Exists(field)) };
        let sign = self.words.ahead().unwrap_or_default();
        let (is_not, comparison) = (sign == "not", comparison(sign));
        let is_in = is_not || sign == "in";
        if !is_in && comparison.is_none() {
            return Ok(Test::Exists(field));
        }
        self.words.take(&[sign]);
        if field.kind() == Kind::There {
            return Err(self
                .words
                .error(after, format!("`{name}` is there or not, and has no value")));
        }
        if is_not {
            self.expect("in")?;
        }
        if is_in {
            let test = Test::In(field, self.set(field)?);
            return Ok(if is_not { Test::Not(Box::new(test)) } else { test });
        }
        let comparison = comparison.expect("one of both");
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::Unequal);
        if is_order && field.kind() == Kind::Address {
            return Err(self
                .words
                .error(after, "addresses are equal or not: `==`, `!=`, `in`".into()));
        }
        let (word, place) = self.word(field.kind().expected())?;
        Ok(Test::Is(field, comparison, self.value(field, word, place)?))
    }

    /// `{ 1, 5..9 }`.
    fn set(&mut self, field: Field) -> Result<Vec<(Wanted, Wanted)>, FilterError> {
        self.expect("{")?;
        let mut ranges = Vec::new();
        loop {
            let (word, place) = self.word(field.kind().expected())?;
            let first = self.value(field, word, place)?;
            let dots = self.words.peek();
            let last = match dots.filter(|_| self.words.take(&[".."])) {
                None => first,
                Some(dots) if field.kind() == Kind::Address => {
                    let hint = "addresses have no ranges: name a network, such as 10.0.0.0/8";
                    return Err(self.words.error(dots, hint.into()));
                }
                Some(_) => {
                    let (word, place) = self.word(field.kind().expected())?;
                    self.value(field, word, place)?
                }
            };
            ranges.push((first, last));
            // Older Wiresharks separate by blanks.
            self.words.take(&[","]);
            if self.words.take(&["}"]) {
                return Ok(ranges);
            }
        }
    }

    fn value(&self, field: Field, word: &str, at: Range<usize>) -> Result<Wanted, FilterError> {
        field.kind().read(word).ok_or_else(|| {
            let expected = field.kind().expected();
            self.words.error(at, format!("expected {expected}, not `{word}`"))
        })
    }

    fn word(&mut self, expected: &str) -> Result<(&'a str, Range<usize>), FilterError> {
        self.words.word(&format!("expected {expected}"))
    }

    fn expect(&mut self, wanted: &str) -> Result<(), FilterError> {
        let (found, place) = self.word(&format!("`{wanted}`"))?;
        if found == wanted {
            return Ok(());
        }
        Err(self.words.error(place, format!("expected `{wanted}`, not `{found}`")))
    }
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Kind::Number | Kind::Hex => "a number, such as 1460 or 0x5b4",
            Kind::Flag => "1 or 0",
            Kind::Seconds => "seconds, such as 1.5",
            Kind::Address => "an address or network, such as 10.0.0.1 or 10.0.0.0/8",
            Kind::There => "nothing",
        }
    }

    fn read(self, word: &str) -> Option<Wanted> {
        match self {
            Kind::Number | Kind::Hex => {
                let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
                let number =
                    hex.map_or_else(|| word.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
                number.map(Wanted::Number)
            }
            Kind::Flag => match word {
                "1" | "true" | "True" | "TRUE" => Some(Wanted::Number(1)),
                "0" | "false" | "False" | "FALSE" => Some(Wanted::Number(0)),
                _ => None,
            },
            Kind::Seconds => {
                let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                let span = is_plain.then(|| format!("{word} s").parse::<Span>().ok())?;
                span.map(|span| Wanted::Number(span.as_nanos()))
            }
            Kind::Address => {
                let (address, bits) = word.split_once('/').unzip();
                let address: IpAddr = address.unwrap_or(word).parse().ok()?;
                let most = if address.is_ipv4() { 32 } else { 128 };
                let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
                (bits <= most).then_some(Wanted::Network(address, bits))
            }
            Kind::There => None,
        }
    }
}

fn comparison(word: &str) -> Option<Comparison> {
    Some(match word {
        "==" | "eq" => Comparison::Equal,
        "!=" | "ne" => Comparison::Unequal,
        ">" | "gt" => Comparison::Greater,
        "<" | "lt" => Comparison::Less,
        ">=" | "ge" => Comparison::AtLeast,
        "<=" | "le" => Comparison::AtMost,
        _ => return None,
    })
}

/// That there is no such field, and which are beside it.
pub(super) fn unknown(name: &str) -> String {
    let group = name.rsplit_once('.').map(|(group, _)| group);
    let is_beside = |known: &&str| known.rsplit_once('.').map(|(group, _)| group) == group;
    let beside: Vec<&str> = Field::all().map(Field::name).filter(is_beside).collect();
    match beside.len() {
        0 => format!("no field `{name}`; docs/display-filters.md has all"),
        _ => format!("no field `{name}`; there are {}", beside.join(", ")),
    }
}

/// Where the words are: signs are words of their own.
fn words(text: &str) -> Vec<Range<usize>> {
    const TWO: [&str; 7] = ["==", "!=", ">=", "<=", "&&", "||", ".."];
    let mut words: Vec<Range<usize>> = Vec::new();
    let (mut open, mut at) = (None, 0);
    while let Some(c) = text[at..].chars().next() {
        let sign = if text.get(at..at + 2).is_some_and(|two| TWO.contains(&two)) {
            2
        } else {
            usize::from(matches!(c, '(' | ')' | '{' | '}' | ',' | '!' | '<' | '>'))
        };
        if (sign > 0 || c.is_whitespace())
            && let Some(start) = open.take()
        {
            words.push(start..at);
        }
        if sign > 0 {
            words.push(at..at + sign);
        } else if !c.is_whitespace() {
            open.get_or_insert(at);
        }
        at += sign.max(c.len_utf8());
    }
    words.extend(open.map(|start| start..text.len()));
    words
}
