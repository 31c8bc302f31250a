//! Which packets of a listing to show, in the language of Wireshark's display filters.
//!
//! ```text
//! expression  = term { ("or" | "||") term }
//! term        = factor { ("and" | "&&") factor }
//! factor      = ("not" | "!") factor | "(" expression ")" | test
//! test        = FIELD [ COMPARISON VALUE | ["not"] "in" "{" RANGE { "," RANGE } "}" ]
//! COMPARISON  = "==" | "!=" | ">" | "<" | ">=" | "<=" | "eq" | "ne" | "gt" | "lt" | "ge" | "le"
//! RANGE       = VALUE [ ".." VALUE ]
//! ```
//! As in Wireshark 4, a comparison holds if it does for any of a field's values, `!=` if it does
//! for all of them; none holds of a field that the packet does not have.

mod chosen;
mod fields;
mod parser;
mod test;
#[cfg(test)]
mod tests;
mod values;

use std::fmt;

pub use chosen::{PacketField, PacketValues, packet_values};

use super::listed::Listed;
use crate::expression::FilterError;
use parser::Parser;
use test::Test;

/// What a packet must be like to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayFilter {
    text: String,
    test: Test,
}

impl DisplayFilter {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first thing in it that cannot be, and what was expected there.
    pub fn parse(text: &str) -> Result<DisplayFilter, FilterError> {
        let test = Parser::new(text).whole()?;
        Ok(DisplayFilter { text: text.to_owned(), test })
    }

    /// The fields: their names, and what they are.
    pub fn fields() -> impl Iterator<Item = (&'static str, &'static str)> {
        fields::FIELDS.iter().map(|field| (field.name, field.about))
    }

    pub(super) fn admits(&self, packet: &Listed<'_>) -> bool {
        self.test.holds(packet)
    }
}

impl fmt::Display for DisplayFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
