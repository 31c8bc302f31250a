//! Text to [`Script`]: a descent through packetdrill's grammar.

mod conditions;
mod expression;
mod foreign;
mod options;
mod packet;

use std::collections::BTreeMap;

use tcplab_units::Span;

use crate::ast::{Action, Code, Event, Flag, Script, Shell, Time};
use crate::lexer::{Kind, Token, lex};
use crate::python::Program;
use crate::shell;
use crate::source::{Lines, ParseError, Position};

impl Script {
    /// Reads a script. Words in `definitions` (packetdrill's `-D name=value`) or in its
    /// own `--define=name=value` mean their values.
    ///
    /// # Errors
    /// When it is not one: the place, what was expected there and what was found.
    pub fn parse(source: &str, definitions: &Definitions) -> Result<Script, ParseError> {
        let tokens = lex(source, damaged_comment(source))?;
        // What the script says comes behind and counts more, so it goes first.
        let own = own_definitions(&tokens);
        let defined = |name: &str| own.contains_key(name) || definitions.0.contains_key(name);
        let mut tokens = conditions::met(source, tokens, defined)?;
        replace(&mut tokens, &own);
        replace(&mut tokens, &definitions.0);
        Parser { source, lines: Lines::of(source), tokens, next: 0, depth: 0 }.script()
    }
}

/// Words and what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definitions(BTreeMap<String, String>);

impl Definitions {
    /// None at all.
    pub fn none() -> Definitions {
        Definitions(BTreeMap::new())
    }

    /// What both suites' runners define for IPv6.
    pub fn for_ipv6() -> Definitions {
        Definitions::default()
            .with("CMSG_LEVEL_IP", "SOL_IPV6")
            .with("CMSG_TYPE_RECVERR", "IPV6_RECVERR")
            .with("TFO_COOKIE", "c1d1e9742a47a9bc")
            .with("TFO_COOKIE_ZERO", "82af1a8f9a205c34")
    }

    /// `name` means `value` from here on: a number, a word, `"text"` or a command in backticks.
    /// What stands between `#ifdef name` and `#endif` counts.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Definitions {
        self.0.insert(name.into(), value.into());
        self
    }
}

/// What google/packetdrill's `run_all.py` defines for IPv4 (Linux's `ksft_runner.sh` has the first
/// three and one more), and the MSS that the scripts on PSP ask for.
impl Default for Definitions {
    fn default() -> Definitions {
        Definitions::none()
            .with("CMSG_LEVEL_IP", "SOL_IP")
            .with("CMSG_TYPE_RECVERR", "IP_RECVERR")
            .with("TFO_COOKIE", "3021b9d889017eeb")
            .with("TFO_COOKIE_ZERO", "b7c12350a90dc8f5")
            .with("CODE", "host_unreachable")
            .with("MSS", "1460")
    }
}

/// The length of a word in front of the comment that begins a script, which somebody slipped into:
/// FreeBSD's suite has one script that begins with `s//`.
fn damaged_comment(source: &str) -> usize {
    let word = source.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(0);
    if source[word..].starts_with("//") { word } else { 0 }
}

fn own_definitions(tokens: &[Token<'_>]) -> BTreeMap<String, String> {
    // --define = NAME = value
    let five = tokens.windows(5).filter(|five| five[0].kind == Kind::Flag);
    let defining = five.filter(|five| five[0].text == "--define" && five[2].kind == Kind::Word);
    defining.map(|five| (five[2].text.to_owned(), five[4].text.to_owned())).collect()
}

fn replace<'a>(tokens: &mut [Token<'a>], definitions: &'a BTreeMap<String, String>) {
    let mut defines = 0;
    for token in tokens {
        // The name in `--define=NAME=value` stays.
        defines = if token.text == "--define" { 5 } else { u32::saturating_sub(defines, 1) };
        if let Some(value) = definitions.get(token.text)
            && token.kind == Kind::Word
            && defines == 0
        {
            *token = token.replaced_by(value);
        }
    }
}

struct Parser<'a> {
    source: &'a str,
    lines: Lines<'a>,
    /// The last is [`Kind::End`].
    tokens: Vec<Token<'a>>,
    next: usize,
    /// How deep expressions are nested.
    depth: u32,
}

impl Parser<'_> {
    fn script(mut self) -> Result<Script, ParseError> {
        let mut script = Script::default();
        while self.kind() == Kind::Flag {
            script.options.push(self.flag()?);
        }
        if self.kind() == Kind::Shell {
            script.init = Some(self.shell()?);
        }
        while self.kind() != Kind::End {
            if self.kind() == Kind::Shell && !script.events.is_empty() {
                script.cleanup = Some(self.shell()?);
                if self.kind() != Kind::End {
                    return Err(self.expected("the end behind the command that cleans up"));
                }
                break;
            }
            script.events.push(self.event()?);
        }
        if script.events.is_empty() {
            return Err(self.expected("an event, which begins with its time"));
        }
        Ok(script)
    }

    fn flag(&mut self) -> Result<Flag, ParseError> {
        let at = self.position();
        let name = self.take()[2..].to_owned();
        if !self.accept_sign('=') {
            return Ok(Flag { at, name, value: None });
        }
        let mut value = match self.kind() {
            Kind::Text => unquoted(self.take()).to_owned(),
            Kind::Integer | Kind::Hex | Kind::Decimal | Kind::Word | Kind::Ipv4 | Kind::Ipv6 => {
                self.take().to_owned()
            }
            Kind::Sign('.' | '/') => {
                return Err(self.expected("the option's value, a path in quotes (\"./x.sh\")"));
            }
            _ => return Err(self.expected("the option's value")),
        };
        if self.accept_sign('=') {
            value = format!("{value}={}", self.take());
        }
        Ok(Flag { at, name, value: Some(value) })
    }

    fn shell(&mut self) -> Result<Shell, ParseError> {
        let at = self.position();
        let text = unquoted(self.take_kind(Kind::Shell, "a command in backticks")?).to_owned();
        let commands = shell::read(&text);
        Ok(Shell { at, text, commands })
    }

    fn event(&mut self) -> Result<Event, ParseError> {
        let at = self.position();
        let start = self.next;
        let time = self.time()?;
        let action = self.action(time)?;
        let outbound = matches!(action, Action::Outbound(_));
        let only_expected = match time {
            Time::Any => Some("`*` is allowed only before expected packets (`>`)"),
            Time::Between(..) | Time::AfterBetween(..) => {
                Some("a time range is allowed only before expected packets (`>`)")
            }
            Time::At(_) | Time::After(_) => None,
        };
        match only_expected {
            Some(what) if !outbound => Err(self.error_at(start, what.into())),
            _ => Ok(Event { at, time, action }),
        }
    }

    fn time(&mut self) -> Result<Time, ParseError> {
        if self.accept_sign('*') {
            return Ok(Time::Any);
        }
        let start = self.next;
        let relative = self.accept_sign('+');
        let from = self.span("an event's time (`0.1`, `+.1`, `0.1~0.2` or `*`)")?;
        if !self.accept_sign('~') {
            return Ok(if relative { Time::After(from) } else { Time::At(from) });
        }
        if relative {
            self.sign('+', "`+` before the range's end, as before its start")?;
        }
        let to = self.span("the end of the time range")?;
        if to < from {
            return Err(self.error_at(start, "the time range ends before it starts".into()));
        }
        Ok(if relative { Time::AfterBetween(from, to) } else { Time::Between(from, to) })
    }

    fn action(&mut self, time: Time) -> Result<Action, ParseError> {
        match self.kind() {
            Kind::Sign('<') => self.packet(true).map(Action::Inbound),
            Kind::Sign('>') => self.packet(false).map(Action::Outbound),
            Kind::Shell => self.shell().map(Action::Shell),
            Kind::Code => self.code().map(Action::Code),
            Kind::Word | Kind::Ellipsis => self.call(time).map(Action::Call),
            _ => Err(self.expected("`<`, `>`, a system call, `command` or %{ code }%")),
        }
    }

    fn code(&mut self) -> Result<Code, ParseError> {
        let start = self.tokens[self.next].at + 2;
        let whole = self.take();
        let text = whole[2..whole.len() - 2].to_owned();
        let program = Program::parse(&text)
            .map_err(|error| ParseError::new(self.source, start + error.at, error.what))?;
        Ok(Code { at: self.lines.position(start), text, program })
    }

    /// A time in seconds, kept to nanoseconds.
    fn span(&mut self, what: &str) -> Result<Span, ParseError> {
        if !matches!(self.kind(), Kind::Integer | Kind::Decimal) {
            return Err(self.expected(what));
        }
        let start = self.next;
        let text = self.take();
        if text.starts_with('-') {
            return Err(self.error_at(start, "a time cannot be negative".into()));
        }
        let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
        let nanos: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        let seconds = if seconds.is_empty() { Ok(0) } else { seconds.parse::<u64>() };
        let too_long = || self.error_at(start, "the time is too long".into());
        let nanos = nanos.parse::<u64>().map_err(|_| too_long())?;
        let whole = seconds.ok().and_then(|s| s.checked_mul(1_000_000_000)).ok_or_else(too_long)?;
        whole.checked_add(nanos).map(Span::from_nanos).ok_or_else(too_long)
    }
}

/// The tools of all parts of the grammar.
impl<'a> Parser<'a> {
    fn kind(&self) -> Kind {
        self.tokens[self.next].kind
    }

    /// The kind of the word `ahead` words on.
    fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].kind
    }

    fn text(&self) -> &'a str {
        self.tokens[self.next].text
    }

    fn position(&self) -> Position {
        self.lines.position(self.tokens[self.next].at)
    }

    /// The text of the next word, which is passed, unless it is the end.
    fn take(&mut self) -> &'a str {
        let text = self.text();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        text
    }

    fn take_kind(&mut self, kind: Kind, what: &str) -> Result<&'a str, ParseError> {
        if self.kind() == kind { Ok(self.take()) } else { Err(self.expected(what)) }
    }

    fn accept_sign(&mut self, sign: char) -> bool {
        let there = self.kind() == Kind::Sign(sign);
        if there {
            self.take();
        }
        there
    }

    fn sign(&mut self, sign: char, what: &str) -> Result<(), ParseError> {
        if self.accept_sign(sign) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn is_word(&self, word: &str) -> bool {
        self.kind() == Kind::Word && self.text() == word
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let there = self.is_word(word);
        if there {
            self.take();
        }
        there
    }

    /// A number in `0..=most`, decimal or hexadecimal.
    fn number(&mut self, most: u32, what: &str) -> Result<u32, ParseError> {
        let start = self.next;
        let value = match self.kind() {
            Kind::Integer => self.text().parse::<u32>().ok(),
            Kind::Hex => u32::from_str_radix(&self.text()[2..], 16).ok(),
            _ => return Err(self.expected(what)),
        };
        self.take();
        value.filter(|value| *value <= most).ok_or_else(|| {
            let written = self.tokens[start].text;
            self.error_at(start, format!("{what} must be in 0..={most}: {written} is not"))
        })
    }

    fn number16(&mut self, what: &str) -> Result<u16, ParseError> {
        self.number(u32::from(u16::MAX), what).map(|n| n as u16)
    }

    /// The error that the next word is not `what`.
    fn expected(&self, what: &str) -> ParseError {
        let found = match self.kind() {
            Kind::End => "the script's end".to_owned(),
            _ => format!("`{}`", shortened(self.text())),
        };
        self.error_at(self.next, format!("expected {what}, found {found}"))
    }

    fn error_at(&self, token: usize, what: String) -> ParseError {
        ParseError::new(self.source, self.tokens[token].at, what)
    }
}

/// Without the first and the last character.
fn unquoted(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 40 && line.len() == text.len() {
        return line.to_owned();
    }
    line.chars().take(40).chain(['…']).collect()
}
