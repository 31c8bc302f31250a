//! How a figure is to look, as its reader says it.

use std::str::FromStr;

use tcplab_plot::{AxisKind, AxisLooks, Colour, Content, Looks, Picture, titled};
use tcplab_scenario::as_numbers;
use tcplab_units::rounded::{counted, grouped};
use thiserror::Error;

use crate::figures::RunFigure;
use crate::summary::boxes::BOXED_LEAST;

/// Further ends of axes cannot be written beside them.
const FARTHEST: f64 = 1e15;
/// The same of logarithmic axes, near zero.
const NEAREST: f64 = 1e-12;
/// Labels of axes and titles have at most so many letters.
const LETTERS_MOST: usize = 200;
/// More lines have no colour of their own.
const COLOURED: usize = 14;

/// What is set of a figure; the rest is as it is without.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureLooks {
    /// Written above it.
    pub title: Option<String>,
    /// The axis from left to right.
    pub x: AxisWish,
    /// The axis upwards.
    pub y: AxisWish,
    /// The colours of lines or rows, by their names; that of a run's label is also that of
    /// its cases.
    pub colours: Vec<(String, Colour)>,
}

/// What is set of an axis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxisWish {
    /// What of it is shown.
    pub range: Option<AxisRange>,
    /// Whether it is logarithmic; if not said, the values decide.
    pub is_log: Option<bool>,
    /// What is written beside it.
    pub label: Option<String>,
}

/// From one place of an axis to another, as written: a number in the axis's unit, or with a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisRange {
    from: Option<String>,
    until: Option<String>,
}

/// Why a figure cannot look so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LooksError {
    /// It is no range.
    #[error("`{0}` is no range: write A..B, A.. or ..B")]
    Range(String),
    /// An end is no number, or in another unit.
    #[error("`{text}` is no place on the {axis} axis, {of}")]
    Place {
        /// As written.
        text: String,
        /// `x` or `y`.
        axis: char,
        /// What the axis has.
        of: String,
    },
    /// Nothing can lie in it.
    #[error("nothing lies in the range of the {0} axis: its end is not above its begin")]
    Empty(char),
    /// Zero or less on a logarithmic axis.
    #[error("a logarithmic axis has no place for 0 or less: begin the {0} range above it")]
    NotPositive(char),
    /// Bars show means by their length, from zero on.
    #[error("bars begin at zero, which {0}")]
    FromZero(&'static str),
    /// The axis has no numbers.
    #[error("the {0} axis of this figure has no {1}")]
    Names(char, &'static str),
    /// Graphs of packets, heat maps and others.
    #[error("`{0}` cannot be drawn with other axes or colours: only its title can be set")]
    Fixed(String),
    /// A colour for what is not there.
    #[error("this figure has no `{name}`: it shows {shown}")]
    NoLine {
        /// As written.
        name: String,
        /// The names that there are.
        shown: String,
    },
    /// A text beside the picture is too long.
    #[error("a title or label has more than {LETTERS_MOST} letters")]
    Long,
}

impl FromStr for AxisRange {
    type Err = LooksError;

    fn from_str(text: &str) -> Result<AxisRange, LooksError> {
        let wrong = || LooksError::Range(text.to_owned());
        let (from, until) = text.split_once("..").ok_or_else(wrong)?;
        let end = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let range = AxisRange { from: end(from), until: end(until) };
        if range == (AxisRange { from: None, until: None }) {
            return Err(wrong());
        }
        Ok(range)
    }
}

impl FigureLooks {
    /// The figure as its reader wants it, and notes on what is not in the picture. Its table has
    /// all numbers, whatever is shown.
    ///
    /// # Errors
    /// If the figure has no such axis or line, or a range is wrong.
    pub fn applied(&self, figure: RunFigure) -> Result<(RunFigure, Vec<String>), LooksError> {
        let texts = [&self.title, &self.x.label, &self.y.label].into_iter().flatten();
        if texts.map(|text| text.chars().count()).any(|count| count > LETTERS_MOST) {
            return Err(LooksError::Long);
        }
        let mut figure = figure;
        let mut notes = figure.notes.clone();
        if let Some(picture) = figure.picture.take() {
            self.check_colours(&picture.names())?;
            let [across, up] = picture.axes();
            let (across, up) = (self.x.looks('x', across)?, self.y.looks('y', up)?);
            let looks = Looks { across, up, colours: self.colours.clone() };
            let (drawn, outside) = picture.drawn(&looks);
            (figure.svg, figure.table) = (drawn.svg, Some(drawn.table));
            notes.extend(notes_on(&picture, outside, picture.cut_intervals(&looks)));
            (figure.picture, figure.looks) = (Some(picture), looks);
        } else if self.x != AxisWish::default()
            || self.y != AxisWish::default()
            || !self.colours.is_empty()
        {
            return Err(LooksError::Fixed(figure.name));
        }
        if let Some(title) = &self.title {
            figure.svg = titled(&figure.svg, title);
            figure.title.clone_from(title);
        }
        Ok((figure, notes))
    }

    fn check_colours(&self, names: &[&str]) -> Result<(), LooksError> {
        let is_of = |own: &str, name: &str| {
            name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        };
        for (own, _) in &self.colours {
            if !names.iter().any(|name| is_of(own, name)) {
                let shown: Vec<String> =
                    names.iter().take(8).map(|name| format!("`{name}`")).collect();
                let more = if names.len() > 8 { " and others" } else { "" };
                let shown = format!("{}{more}", shown.join(", "));
                return Err(LooksError::NoLine { name: own.clone(), shown });
            }
        }
        Ok(())
    }
}

/// What of a picture is not seen in it; `outside`: how many values lie outside, and `cut`, how many
/// intervals end there.
fn notes_on(picture: &Picture, outside: usize, cut: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if cut > 0 {
        let go = if cut == 1 { "goes" } else { "go" };
        let intervals = counted(cut, "interval", "intervals");
        notes.push(format!("{intervals} {go} on beyond the axis: an arrowhead"));
    }
    if outside > 0 {
        let lie = if outside == 1 { "lies" } else { "lie" };
        let values = counted(outside, "value", "values");
        notes.push(format!("{values} {lie} outside and {} not drawn", is_or_are(outside)));
    }
    if let Content::Boxes(rows) = &picture.content {
        let few = rows.iter().filter(|row| row.shape.is_none()).count();
        if few > 0 {
            let (rows, have) = (counted(few, "row", "rows"), if few == 1 { "has" } else { "have" });
            notes.push(format!(
                "{rows} of fewer than {BOXED_LEAST} values {have} no box: each value is a dot"
            ));
        }
    }
    let count = grouped(picture.names().len() as u64);
    let pointer = "in an SVG file, a line under the pointer says its name";
    match (picture.has_lines(), picture.is_unnamed()) {
        (true, true) => notes.push(format!(
            "{count} lines are too many for names: some look alike; {pointer}, and the table has all"
        )),
        (true, false) if picture.names().len() > COLOURED => notes
            .push(format!("{count} lines: each has a colour, dash and mark of its own; {pointer}")),
        (false, true) => notes.push(format!(
            "{count} rows are too many for names beside them; {}, and the table has all",
            pointer.replace("a line", "a row")
        )),
        _ => {}
    }
    notes
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

impl AxisWish {
    /// In numbers, for an axis of this kind.
    fn looks(&self, axis: char, kind: AxisKind<'_>) -> Result<AxisLooks, LooksError> {
        let AxisWish { range, is_log, label } = self;
        match kind {
            AxisKind::Names if range.is_some() => return Err(LooksError::Names(axis, "numbers")),
            AxisKind::Names if is_log.is_some() => return Err(LooksError::Names(axis, "scale")),
            AxisKind::Shares if *is_log == Some(true) => {
                return Err(LooksError::Names(axis, "logarithmic scale"));
            }
            AxisKind::FromZero(_) if *is_log == Some(true) => {
                return Err(LooksError::FromZero("has no place on a logarithmic axis"));
            }
            AxisKind::Names if axis == 'y' && label.is_some() => {
                return Err(LooksError::Names(axis, "label"));
            }
            _ => {}
        }
        let end =
            |text: &Option<String>| text.as_deref().map(|text| place(text, axis, kind)).transpose();
        let (from, until) = match range {
            Some(range) => (end(&range.from)?, end(&range.until)?),
            None => (None, None),
        };
        if from.zip(until).is_some_and(|(from, until)| from >= until) {
            return Err(LooksError::Empty(axis));
        }
        let leaves_out_zero = from.is_some_and(|it| it > 0.0) || until.is_some_and(|it| it < 0.0);
        if matches!(kind, AxisKind::FromZero(_)) && leaves_out_zero {
            return Err(LooksError::FromZero("is not in the range"));
        }
        let least = if *is_log == Some(true) { NEAREST } else { f64::NEG_INFINITY };
        if [from, until].into_iter().flatten().any(|end| end < least) {
            return Err(LooksError::NotPositive(axis));
        }
        Ok(AxisLooks { from, until, is_log: *is_log, label: label.clone() })
    }
}

/// A place on an axis, in its numbers.
fn place(text: &str, axis: char, kind: AxisKind<'_>) -> Result<f64, LooksError> {
    let (found, of) = match kind {
        AxisKind::Values(name) | AxisKind::FromZero(name) => {
            let unit = name.rsplit_once(", ").map_or("", |(_, unit)| unit);
            (value(text, unit), name.to_owned())
        }
        AxisKind::Levels(levels) => {
            let texts: Vec<&str> =
                levels.iter().map(|(_, text)| text.as_str()).chain([text]).collect();
            let found = as_numbers(&texts).and_then(|all| all.last().copied());
            let first = levels.first().map_or("", |(_, text)| text);
            (found, format!("where one is `{first}`"))
        }
        AxisKind::Shares => (
            value(text, "%").filter(|share| (0.0..=100.0).contains(share)),
            "which goes from 0 % to 100 %".to_owned(),
        ),
        AxisKind::Names => (None, "which has names".to_owned()),
    };
    found.filter(|it| it.is_finite() && it.abs() <= FARTHEST).ok_or_else(|| {
        let text = text.to_owned();
        LooksError::Place { text, axis, of }
    })
}

/// A number in `unit`, which may be written with another unit of the same kind.
fn value(text: &str, unit: &str) -> Option<f64> {
    let number = |text: &str| text.trim().replace('_', "").parse::<f64>().ok();
    let own = || text.strip_suffix(unit).filter(|_| !unit.is_empty()).and_then(number);
    number(text).or_else(own).or_else(|| {
        let one = format!("1 {unit}");
        let [amount, one] = as_numbers(&[text, one.as_str()])?[..] else { return None };
        Some(amount / one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_in_the_unit_of_the_axis_or_in_their_own() {
        let time = AxisKind::Values("response time, ms");
        for (text, found) in
            [("5", 5.0), ("1_000", 1e3), ("5 ms", 5.0), ("2 s", 2e3), ("-3", -3.0), ("250us", 0.25)]
        {
            assert!((place(text, 'x', time).unwrap() - found).abs() < 1e-9, "{text}");
        }
        let rate = AxisKind::Values("goodput, Mbit/s");
        assert!((place("500 kbit/s", 'y', rate).unwrap() - 0.5).abs() < 1e-12);
        let levels = [(0.001, "1 ms".to_owned()), (1.0, "1 s".to_owned())];
        assert!((place("20 ms", 'x', AxisKind::Levels(&levels)).unwrap() - 0.02).abs() < 1e-12);
        assert!((place("95 %", 'y', AxisKind::Shares).unwrap() - 95.0).abs() < 1e-12);
        for (wrong, kind) in [
            ("5 kB", time),
            ("NaN", time),
            ("inf", time),
            ("1e300", time),
            ("", time),
            ("ms", time),
            ("5", AxisKind::Levels(&levels)),
            ("101", AxisKind::Shares),
        ] {
            assert!(place(wrong, 'x', kind).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_may_be_open() {
        let range = |text: &str| text.parse::<AxisRange>();
        let of = |from: Option<&str>, until: Option<&str>| {
            let [from, until] = [from, until].map(|it| it.map(str::to_owned));
            Ok(AxisRange { from, until })
        };
        assert_eq!(range("1..5"), of(Some("1"), Some("5")));
        assert_eq!(range("5 ms.."), of(Some("5 ms"), None));
        assert_eq!(range("..0.5"), of(None, Some("0.5")));
        assert_eq!(range("1...5"), of(Some("1"), Some(".5")));
        for wrong in ["", "..", "5", "1-5"] {
            assert_eq!(range(wrong), Err(LooksError::Range(wrong.into())));
        }
    }

    #[test]
    fn axis_says_what_it_cannot_be() {
        let range = |text: &str| Some(text.parse().unwrap());
        let wish = |text, is_log| AxisWish { range: range(text), is_log, label: None };
        let values = AxisKind::Values("goodput, Mbit/s");
        let found = |wish: AxisWish, kind| wish.looks('y', kind).map(|it| (it.from, it.until));
        assert_eq!(found(wish("2..", None), values), Ok((Some(2.0), None)));
        assert_eq!(found(wish("2..2", None), values), Err(LooksError::Empty('y')));
        let log = Some(true);
        assert_eq!(found(wish("0..5", log), values), Err(LooksError::NotPositive('y')));
        let names = LooksError::Names('y', "numbers");
        assert_eq!(found(wish("0..5", None), AxisKind::Names), Err(names));
        let mean = AxisKind::FromZero("goodput, Mbit/s");
        let zero = |why| Err(LooksError::FromZero(why));
        let whole = AxisWish { is_log: log, ..AxisWish::default() };
        assert_eq!(found(whole, mean), zero("has no place on a logarithmic axis"));
        assert_eq!(found(wish("2..5", None), mean), zero("is not in the range"));
        assert_eq!(found(wish("..-2", None), mean), zero("is not in the range"));
        assert_eq!(found(wish("0..5", None), mean), Ok((Some(0.0), Some(5.0))));
        let shares = wish("0..5", log).looks('y', AxisKind::Shares);
        assert_eq!(shares, Err(LooksError::Names('y', "logarithmic scale")));
    }
}
