//! Packets of protocols that are not known here: passed over, and named when they are due.

use super::Parser;
use crate::ast::Body;
use crate::lexer::Kind;

impl Parser<'_> {
    /// A packet of SCTP or UDP-Lite: all up to the next line that can begin an event and is outside
    /// of brackets.
    pub(super) fn foreign(&mut self) -> Body {
        let start = self.next;
        let name = if self.is_word("sctp") { "SCTP" } else { "UDP-Lite" };
        let mut depth = 0_u32;
        loop {
            match self.kind() {
                Kind::Sign('(' | '[' | '{' | '<') => depth += 1,
                Kind::Sign(')' | ']' | '}' | '>') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.take();
            let begins = matches!(
                self.kind(),
                Kind::Integer | Kind::Decimal | Kind::Sign('+' | '*') | Kind::Shell
            );
            let line = &self.source[self.tokens[self.next - 1].at..self.tokens[self.next].at];
            if self.kind() == Kind::End || depth == 0 && begins && line.contains('\n') {
                let text = &self.source[self.tokens[start].at..self.tokens[self.next].at];
                let text = text.split("//").next().unwrap_or_default();
                return Body::Foreign(name, text.trim().to_owned());
            }
        }
    }
}
