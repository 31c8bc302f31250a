//! What tells lines apart: colour, dashes and marks.

use crate::looks::{Colour, Looks};

/// Lines with a colour each; others have the colours again, with other dashes.
pub(crate) const COLOURS: usize = 7;
/// Solid, and the dashes of `plot.css`.
pub(crate) const DASHES: usize = 6;
/// Forms of marks, each filled or open.
const FORMS: usize = 4;
/// So many lines differ: each form of a mark is filled or open with each dash of each colour.
pub(crate) const DIFFERENT: usize = COLOURS * DASHES * FORMS * 2;
/// The first of the marks that are open.
const OPEN_FROM: usize = 4;

/// The tags of the groups that lines with their marks are in, not closed. Of up to [`DIFFERENT`]
/// lines no two have the same colour, dash and mark; those that the reader gives one colour differ
/// in dashes.
pub(crate) fn groups<'n>(names: impl Iterator<Item = &'n str>, looks: &Looks) -> Vec<String> {
    let styles = styles(names, looks).into_iter().enumerate();
    styles.map(|(index, (dash, colour))| group(dash, index, colour)).collect()
}

/// Of each line: which of the dashes it has, and the colour that the reader gives it.
pub(crate) fn styles<'n>(
    names: impl Iterator<Item = &'n str>,
    looks: &Looks,
) -> Vec<(usize, Option<Colour>)> {
    let mut own: Vec<Colour> = Vec::new();
    let style = |(index, name): (usize, &str)| {
        let Some(colour) = looks.colour_of(name) else { return (index / COLOURS, None) };
        let before = own.iter().filter(|it| **it == colour).count();
        own.push(colour);
        (before, Some(colour))
    };
    names.enumerate().map(style).collect()
}

/// The tag of one, with this of the dashes; `colour` replaces that of the line.
pub(crate) fn group(dash: usize, index: usize, colour: Option<Colour>) -> String {
    let dash = match dash % DASHES {
        0 => String::new(),
        1 => " dashed".into(),
        other => format!(" dash-{other}"),
    };
    match colour {
        None => format!(r#"<g class="line-{}{dash}">"#, index % COLOURS),
        Some(Colour::Named(name)) if name < COLOURS => format!(r#"<g class="line-{name}{dash}">"#),
        Some(Colour::Named(_)) => format!(r#"<g class="line-grey{dash}">"#),
        Some(Colour::Own([red, green, blue])) => {
            format!(r##"<g class="own{dash}" color="#{red:02x}{green:02x}{blue:02x}">"##)
        }
    }
}

/// Which of the forms the mark of a line has, and whether it is open.
pub(crate) fn form(index: usize) -> (usize, bool) {
    let round = index / (COLOURS * DASHES);
    ((index + round) % FORMS, (index % COLOURS >= OPEN_FROM) != (round / FORMS % 2 == 1))
}

/// The mark of a line at a place.
pub(crate) fn marker(index: usize, x: f64, y: f64) -> String {
    let (form, is_open) = form(index);
    let shape = match form {
        0 => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        1 => "m-3.2-3.2h6.4v6.4h-6.4z",
        2 => "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
        _ => "m0-4.2l4.2 7.4h-8.4z",
    };
    let open = if is_open { " open" } else { "" };
    format!(r#"<path class="mark{open}" d="M{x:.1} {y:.1}{shape}"/>"#)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_of_many_lines_look_alike() {
        let all: BTreeSet<String> = (0..DIFFERENT)
            .map(|it| group(it / COLOURS, it, None) + &marker(it, 0.0, 0.0))
            .collect();
        assert_eq!((all.len(), DIFFERENT), (336, 336));
    }

    #[test]
    fn own_colour_replaces_that_of_the_line() {
        let own = Some(Colour::Own([0, 0x72, 0xb2]));
        assert_eq!(group(1, 8, own), r##"<g class="own dashed" color="#0072b2">"##);
        assert_eq!(group(1, 8, Some(Colour::Named(2))), r#"<g class="line-2 dashed">"#);
        assert_eq!(group(2, 15, Some(Colour::Named(7))), r#"<g class="line-grey dash-2">"#);
    }

    #[test]
    fn cases_of_one_colour_differ_in_dashes() {
        let colours = vec![("b".to_owned(), Colour::Named(0))];
        let looks = Looks { colours, ..Looks::default() };
        let found = groups(["a: x", "b: x", "a: y", "b: y"].into_iter(), &looks);
        let expected = ["line-0", "line-0", "line-2", "line-0 dashed"];
        assert_eq!(found, expected.map(|class| format!(r#"<g class="{class}">"#)));
    }
}
