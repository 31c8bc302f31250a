//! How a picture looks where its reader says so: ranges, scales, labels and colours.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// What a reader sets; the rest is as it is without.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks {
    /// The axis from left to right.
    pub across: AxisLooks,
    /// The axis upwards.
    pub up: AxisLooks,
    /// The colours of lines and rows by their names; `a` is also that of `a: reno`.
    pub colours: Vec<(String, Colour)>,
}

/// Those of an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AxisLooks {
    /// Its low end.
    pub from: Option<f64>,
    /// Its high end.
    pub until: Option<f64>,
    /// Whether it is logarithmic; if not said, the values decide.
    pub is_log: Option<bool>,
    /// What is written beside it.
    pub label: Option<String>,
}

/// A colour of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of [`COLOURS`], which differ from one another and from light and dark pages; its index.
    Named(usize),
    /// Red, green and blue, the same on every page.
    Own([u8; 3]),
}

/// The names of colours: first those of lines, in their order.
pub const COLOURS: [&str; 8] =
    ["blue", "orange", "green", "pink", "ochre", "purple", "black", "grey"];

/// A text that is no colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColourError(pub String);

impl Error for ColourError {}

impl fmt::Display for ColourError {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = COLOURS.join(", ");
        write!(text, "`{}` is no colour: write #rrggbb or one of {names}", self.0)
    }
}

impl FromStr for Colour {
    type Err = ColourError;

    fn from_str(text: &str) -> Result<Colour, ColourError> {
        if let Some(index) = COLOURS.iter().position(|name| *name == text) {
            return Ok(Colour::Named(index));
        }
        let wrong = || ColourError(text.to_owned());
        let digits =
            text.strip_prefix('#').filter(|it| it.chars().all(|it| it.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(wrong)?;
        let digits: String = match digits.len() {
            3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
            6 => digits.to_owned(),
            _ => return Err(wrong()),
        };
        let number = u32::from_str_radix(&digits, 16).map_err(|_| wrong())?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(Colour::Own([red, green, blue]))
    }
}

impl Looks {
    /// That of a line with this name, if the reader has set it.
    pub(crate) fn colour_of(&self, name: &str) -> Option<Colour> {
        let is_of = |own: &str| {
            name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        };
        // The longest, where one label begins with another.
        let found = self.colours.iter().filter(|(own, _)| is_of(own));
        found.max_by_key(|(own, _)| own.len()).map(|(_, colour)| *colour)
    }
}

impl AxisLooks {
    /// Whether a value is between the ends, which belong to it.
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.from.is_none_or(|from| from <= value)
            && self.until.is_none_or(|until| value <= until)
            && (self.is_log != Some(true) || value > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_names_or_numbers() {
        assert_eq!("orange".parse(), Ok(Colour::Named(1)));
        assert_eq!("#0072B2".parse(), Ok(Colour::Own([0, 0x72, 0xb2])));
        assert_eq!("#1af".parse(), Ok(Colour::Own([0x11, 0xaa, 0xff])));
        for wrong in ["", "#", "#12", "#12345g", "0072b2", "#+1+2+3", "mauve", "#ÄÄÄ"] {
            assert_eq!(wrong.parse::<Colour>(), Err(ColourError(wrong.into())));
        }
    }

    #[test]
    fn colour_of_a_label_is_that_of_its_cases() {
        let colours = [("a", Colour::Named(0)), ("a: b", Colour::Named(1))];
        let colours = colours.map(|(name, colour)| (name.to_owned(), colour)).into();
        let looks = Looks { colours, ..Looks::default() };
        let found = ["a", "a: reno", "a: b", "a: b: reno", "ab", "c"].map(|it| looks.colour_of(it));
        let [first, second] = [0, 1].map(|index| Some(Colour::Named(index)));
        assert_eq!(found, [first, first, second, second, None, None]);
    }
}
