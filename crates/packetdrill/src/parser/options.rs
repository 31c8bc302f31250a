//! TCP options: `<mss 1460, sackOK, TS val 100 ecr 0, nop, wscale 7>`.

use super::Parser;
use crate::ast::{EcnCounter, OptionSpec};
use crate::lexer::Kind;
use crate::source::ParseError;

impl Parser<'_> {
    /// `None` for `<...>`; no options where no `<` stands.
    pub(super) fn tcp_options(&mut self) -> Result<Option<Vec<OptionSpec>>, ParseError> {
        let mut options = Vec::new();
        if !self.accept_sign('<') {
            return Ok(Some(options));
        }
        if self.kind() == Kind::Ellipsis {
            self.take();
            self.sign('>', "`>` behind `<...`")?;
            return Ok(None);
        }
        loop {
            options.push(self.tcp_option()?);
            if !self.accept_sign(',') {
                self.sign('>', "`,` or `>` behind the option")?;
                return Ok(Some(options));
            }
        }
    }

    fn tcp_option(&mut self) -> Result<OptionSpec, ParseError> {
        let start = self.next;
        Ok(match self.take_kind(Kind::Word, "a TCP option")? {
            "nop" => OptionSpec::Nop,
            "eol" => OptionSpec::Eol,
            "mss" => OptionSpec::Mss(self.number16("a segment's length")?),
            "wscale" => OptionSpec::WindowScale(self.number(255, "a shift of windows")? as u8),
            "sackOK" => OptionSpec::SackPermitted,
            "sack" => OptionSpec::Sack(self.blocks()?),
            "TS" => self.timestamps()?,
            "FO" => OptionSpec::FastOpen(self.bytes()?),
            "FOEXP" => OptionSpec::FastOpenExperimental(self.bytes()?),
            "md5" if self.accept_word("valid") => OptionSpec::Md5Valid,
            "md5" => OptionSpec::Md5(self.bytes()?),
            "ECN" => OptionSpec::AccEcn(self.counters()?),
            _ => self.other(start),
        })
    }

    fn blocks(&mut self) -> Result<Vec<(u32, u32)>, ParseError> {
        let mut blocks = Vec::new();
        while blocks.is_empty() || self.kind() == Kind::Integer {
            let left = self.number(u32::MAX, "a block `left:right`")?;
            self.sign(':', "`:` and the block's end")?;
            blocks.push((left, self.number(u32::MAX, "the block's end")?));
        }
        Ok(blocks)
    }

    fn timestamps(&mut self) -> Result<OptionSpec, ParseError> {
        let what = "`val N ecr N` behind TS";
        if !self.accept_word("val") {
            return Err(self.expected(what));
        }
        let value = self.number(u32::MAX, "a timestamp")?;
        if !self.accept_word("ecr") {
            return Err(self.expected(what));
        }
        Ok(OptionSpec::Timestamps { value, echo: self.number(u32::MAX, "a timestamp")? })
    }

    fn counters(&mut self) -> Result<Vec<(EcnCounter, u32)>, ParseError> {
        let mut counters = Vec::new();
        while self.kind() == Kind::Word {
            let counter = match self.text() {
                "e0b" => EcnCounter::Ect0,
                "e1b" => EcnCounter::Ect1,
                "ceb" => EcnCounter::Ce,
                _ => break,
            };
            self.take();
            counters.push((counter, self.number(0xff_ffff, "a counter of 24 bits")?));
        }
        if counters.is_empty() { Err(self.expected("e0b, e1b or ceb")) } else { Ok(counters) }
    }

    /// Bytes as pairs of hexadecimal digits, or none.
    fn bytes(&mut self) -> Result<Vec<u8>, ParseError> {
        if !matches!(self.kind(), Kind::Word | Kind::Integer) {
            return Ok(Vec::new());
        }
        let start = self.next;
        let digits = self.take();
        let odd = || self.error_at(start, format!("`{digits}` is not pairs of hexadecimal digits"));
        if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
            return Err(odd());
        }
        let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
        let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
        bytes.filter(|bytes| bytes.len() <= 38).ok_or_else(odd)
    }

    /// An option with a name of its own: all up to the next.
    fn other(&mut self, start: usize) -> OptionSpec {
        while !matches!(self.kind(), Kind::Sign(',' | '>') | Kind::End) {
            self.take();
        }
        let first = self.tokens[start].at;
        let behind = self.tokens[self.next].at;
        OptionSpec::Other(self.source[first..behind].trim().to_owned())
    }
}
