//! What tells lines apart: colour, dashes and marks.

use crate::looks::Colour;

/// Lines with a colour each; others have the colours again, with other dashes.
pub(crate) const COLOURS: usize = 7;
/// Solid, and the dashes of `plot.css`.
const DASHES: usize = 6;
/// Forms of marks, each filled or open.
const FORMS: usize = 4;
/// The first of the marks that are open.
const OPEN_FROM: usize = 4;

/// The tag of the group that a line with its marks is in, not closed; `colour` replaces the line's
/// own. Of up to 336 lines no two have the same colour, dash and mark.
pub(crate) fn group(index: usize, colour: Option<Colour>) -> String {
    let dash = match index / COLOURS % DASHES {
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

/// The mark of a line at a place.
pub(crate) fn marker(index: usize, x: f64, y: f64) -> String {
    let round = index / (COLOURS * DASHES);
    let shape = match (index + round) % FORMS {
        0 => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        1 => "m-3.2-3.2h6.4v6.4h-6.4z",
        2 => "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
        _ => "m0-4.2l4.2 7.4h-8.4z",
    };
    let is_open = (index % COLOURS >= OPEN_FROM) != (round / FORMS % 2 == 1);
    let open = if is_open { " open" } else { "" };
    format!(r#"<path class="mark{open}" d="M{x:.1} {y:.1}{shape}"/>"#)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_of_many_lines_look_alike() {
        let all: BTreeSet<String> =
            (0..336).map(|it| group(it, None) + &marker(it, 0.0, 0.0)).collect();
        assert_eq!(all.len(), 336);
    }

    #[test]
    fn own_colour_replaces_that_of_the_line() {
        let own = Some(Colour::Own([0, 0x72, 0xb2]));
        assert_eq!(group(8, own), r##"<g class="own dashed" color="#0072b2">"##);
        assert_eq!(group(8, Some(Colour::Named(2))), r#"<g class="line-2 dashed">"#);
        assert_eq!(group(15, Some(Colour::Named(7))), r#"<g class="line-grey dash-2">"#);
    }
}
