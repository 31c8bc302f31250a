//! System calls and their arguments.

use super::{Parser, unquoted};
use crate::ast::{Call, Expression, Field, Time};
use crate::lexer::Kind;
use crate::source::ParseError;

/// Deeper than any script nests, and not too deep for the stack.
const DEEPEST: u32 = 64;

impl Parser<'_> {
    pub(super) fn call(&mut self, time: Time) -> Result<Call, ParseError> {
        let mut until = None;
        if self.kind() == Kind::Ellipsis {
            let start = self.next;
            self.take();
            let end = self.span("the time at which the call returns")?;
            let from = match time {
                Time::At(from) | Time::After(from) => from,
                Time::Any | Time::Between(..) | Time::AfterBetween(..) => end,
            };
            if end < from {
                let what = "the call returns before it starts";
                return Err(self.error_at(start, what.into()));
            }
            until = Some(end);
        }
        let name = self.take_kind(Kind::Word, "the name of a system call")?.to_owned();
        self.sign('(', "`(` and the call's arguments")?;
        let arguments = self.list(')')?;
        self.sign('=', "`=` and what the call returns")?;
        // A word here is a constant, even where a note in parentheses follows.
        let result = match self.kind() {
            Kind::Word => Expression::Word(self.take().to_owned()),
            _ => self.expression()?,
        };
        let errno = (self.kind() == Kind::Word).then(|| self.take().to_owned());
        let note = self.note()?;
        Ok(Call { name, until, arguments, result, errno, note })
    }

    /// `(Resource temporarily unavailable)`: anything up to the parenthesis.
    fn note(&mut self) -> Result<Option<String>, ParseError> {
        if !self.accept_sign('(') {
            return Ok(None);
        }
        let from = self.tokens[self.next].at;
        while self.kind() != Kind::Sign(')') {
            if self.kind() == Kind::End {
                return Err(self.expected("`)` behind the note"));
            }
            self.take();
        }
        let note = self.source[from..self.tokens[self.next].at].trim().to_owned();
        self.take();
        Ok(Some(note))
    }

    /// Expressions with commas between them, up to and with `close`.
    fn list(&mut self, close: char) -> Result<Vec<Expression>, ParseError> {
        let mut list = Vec::new();
        if self.accept_sign(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if !self.accept_sign(',') {
                self.sign(close, &format!("`,` or `{close}`"))?;
                return Ok(list);
            }
        }
    }

    fn expression(&mut self) -> Result<Expression, ParseError> {
        if self.depth >= DEEPEST {
            return Err(self.error_at(self.next, "this is nested too deeply".into()));
        }
        self.depth += 1;
        let whole = self.alternatives();
        self.depth -= 1;
        whole
    }

    fn alternatives(&mut self) -> Result<Expression, ParseError> {
        let mut all = vec![self.operand()?];
        while self.accept_sign('|') {
            all.push(self.operand()?);
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Expression::Or(all) })
    }

    fn operand(&mut self) -> Result<Expression, ParseError> {
        Ok(match self.kind() {
            Kind::Ellipsis => {
                self.take();
                Expression::Ellipsis
            }
            Kind::Integer | Kind::Hex => Expression::Integer(self.integer()?),
            Kind::Text => self.string(),
            Kind::Word => return self.word(),
            Kind::Sign('[') => {
                self.take();
                Expression::Array(self.list(']')?)
            }
            Kind::Sign('{') => return self.braces(),
            _ => return Err(self.expected("a value")),
        })
    }

    fn integer(&mut self) -> Result<i64, ParseError> {
        let start = self.next;
        let hex = self.kind() == Kind::Hex;
        let text = self.take();
        // A mask such as 0xffffffffffffffff is meant as the bits it is.
        let value = if hex {
            u64::from_str_radix(&text[2..], 16).map(|bits| bits as i64)
        } else {
            text.parse()
        };
        value.map_err(|_| self.error_at(start, format!("{text} does not fit into 64 bits")))
    }

    /// Adjacent strings, or one that continues with `...`.
    fn string(&mut self) -> Expression {
        let mut text = unquoted(self.take()).to_owned();
        if self.kind() == Kind::Ellipsis {
            self.take();
            return Expression::TextFrom(text);
        }
        while self.kind() == Kind::Text {
            text.push_str(unquoted(self.take()));
        }
        Expression::Text(text)
    }

    fn word(&mut self) -> Result<Expression, ParseError> {
        let name = self.take().to_owned();
        Ok(match self.kind() {
            Kind::Sign('(') => {
                self.take();
                Expression::Macro(name, self.list(')')?)
            }
            Kind::Sign('=') => {
                self.take();
                Expression::Assign(name, Box::new(self.expression()?))
            }
            _ => Expression::Word(name),
        })
    }

    /// `{fd=3, events=POLLIN}`, `{..., 1000}`, `{msg_iov(1)=[…]}`, `{flags none, sum 0 …}`.
    fn braces(&mut self) -> Result<Expression, ParseError> {
        let start = self.next;
        self.take();
        if let Some(header) = self.header(start)? {
            return Ok(header);
        }
        let mut fields = Vec::new();
        if self.accept_sign('}') {
            return Ok(Expression::Structure(fields));
        }
        loop {
            fields.push(self.field()?);
            if !self.accept_sign(',') {
                self.sign('}', "`,` or `}` behind the field")?;
                return Ok(Expression::Structure(fields));
            }
        }
    }

    fn field(&mut self) -> Result<Field, ParseError> {
        let value = self.expression()?;
        Ok(match value {
            Expression::Assign(name, value) => {
                Field { name: Some(name), count: None, value: *value }
            }
            Expression::Macro(name, mut counts) if self.kind() == Kind::Sign('=') => {
                self.take();
                Field { name: Some(name), count: counts.pop(), value: self.expression()? }
            }
            value => Field { name: None, count: None, value },
        })
    }

    /// Headers of MPLS (`{(label 1, …)}`) and GRE (`{flags …, key=1}`) in braces.
    fn header(&mut self, start: usize) -> Result<Option<Expression>, ParseError> {
        let gre = self.is_word("flags")
            && !matches!(self.kind_at(1), Kind::Sign('=' | ',' | '}' | '|' | '('));
        if !gre && self.kind() != Kind::Sign('(') {
            return Ok(None);
        }
        while self.kind() != Kind::Sign('}') {
            if self.kind() == Kind::End {
                return Err(self.expected("`}` behind the header"));
            }
            self.take();
        }
        self.take();
        let from = self.tokens[start].at;
        let to = self.tokens[self.next - 1].at + 1;
        Ok(Some(Expression::Header(self.source[from..to].to_owned())))
    }
}
