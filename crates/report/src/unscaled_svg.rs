//! Graphs for programs that know no strokes whose width is not scaled (`vector-effect` of SVG 2),
//! as librsvg: what is drawn in the units of its data is drawn in those of the figure.

use std::fmt::Write;

use crate::plain_svg::attribute;

const END: &str = "</svg>";

/// The `<svg>`, whose planes scale nothing any more: their view boxes are gone, and their paths
/// have other numbers, with two decimals.
pub(crate) fn unscaled(svg: &str) -> String {
    const PLANE: &str = r#"<svg class="plane""#;
    let mut text = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, plane)) = rest.split_once(PLANE) {
        text.push_str(before);
        text.push_str(PLANE);
        let (inside, after) = plane.split_once(END).unwrap_or((plane, ""));
        let (tag, drawn) = inside.split_once('>').unwrap_or((inside, ""));
        let drawn = Plane::read(tag).map_or_else(|| drawn.to_owned(), |it| it.paths(drawn));
        text.push_str(&format!("{}>{drawn}{END}", without_scale(tag)));
        rest = after;
    }
    text + rest
}

/// The attributes of a plane but those of its scale.
fn without_scale(tag: &str) -> String {
    ["viewBox", "data-units", "preserveAspectRatio"].into_iter().fold(
        tag.to_owned(),
        |tag, name| match attribute(&tag, name) {
            Some(value) => tag.replacen(&format!(" {name}=\"{value}\""), "", 1),
            None => tag,
        },
    )
}

/// How a plane is scaled, across and down.
struct Plane {
    /// Where it begins, in its own units.
    begin: [f64; 2],
    /// Units of the figure for each of its own.
    scale: [f64; 2],
}

impl Plane {
    fn read(tag: &str) -> Option<Plane> {
        let number = |text: &str| text.parse::<f64>().ok();
        let size = [number(attribute(tag, "width")?)?, number(attribute(tag, "height")?)?];
        let own: Option<Vec<f64>> = attribute(tag, "viewBox")?.split(' ').map(number).collect();
        let [left, top, across, down] = own?[..] else { return None };
        Some(Plane { begin: [left, top], scale: [size[0] / across, size[1] / down] })
    }

    /// Elements with the data of their paths scaled.
    fn paths(&self, elements: &str) -> String {
        let mut parts = elements.split(r#" d=""#);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let (path, after) = part.split_once('"').unwrap_or((part, ""));
            text + &format!(r#" d="{}"{after}"#, self.path(path))
        })
    }

    /// A path of straight lines. Each place is rounded by itself, so that a long path ends where it
    /// did.
    fn path(&self, path: &str) -> String {
        let mut text = String::with_capacity(path.len());
        let mut at = Place { own: self.begin, hundredths: [0; 2] };
        let mut start = at;
        let is_command = |c: char| c.is_ascii_alphabetic();
        let mut rest = path;
        while let Some(command) = rest.chars().next() {
            let end = rest[1..].find(is_command).map_or(rest.len(), |it| it + 1);
            let numbers = numbers(&rest[1..end]);
            rest = &rest[end..];
            text.push(command);
            let axes: &[usize] = match command.to_ascii_lowercase() {
                'm' | 'l' => &[0, 1],
                'h' => &[0],
                'v' => &[1],
                'z' => {
                    at = start;
                    continue;
                }
                other => unreachable!("planes have straight lines, not `{other}`"),
            };
            for (&axis, number) in axes.iter().cycle().zip(&numbers) {
                let is_relative = command.is_ascii_lowercase();
                let own = if is_relative { at.own[axis] + number } else { *number };
                let hundredths = (own - self.begin[axis]) * self.scale[axis] * 100.0;
                let hundredths = hundredths.round() as i64;
                let from = if is_relative { at.hundredths[axis] } else { 0 };
                at.own[axis] = own;
                at.hundredths[axis] = hundredths;
                push(&mut text, hundredths - from);
            }
            if command.eq_ignore_ascii_case(&'m') {
                start = at;
            }
        }
        text
    }
}

/// Where a path has come to.
#[derive(Clone, Copy)]
struct Place {
    /// In units of the plane.
    own: [f64; 2],
    /// In hundredths of those of the figure, from the plane's corner.
    hundredths: [i64; 2],
}

/// The numbers behind a command: between them are spaces, commas or signs.
fn numbers(text: &str) -> Vec<f64> {
    let apart = text.replace('-', " -");
    let words = apart.split([' ', ',']).filter(|word| !word.is_empty());
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Adds a number, with a space where the one before would go on.
fn push(text: &mut String, hundredths: i64) {
    if hundredths >= 0 && text.ends_with(|c: char| c.is_ascii_digit()) {
        text.push(' ');
    }
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let _ = match (part, part % 10) {
        (0, _) => write!(text, "{sign}{whole}"),
        (_, 0) => write!(text, "{sign}{whole}.{}", part / 10),
        _ => write!(text, "{sign}{whole}.{part:02}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_drawn_in_units_of_the_figure() {
        let svg = "<svg viewBox='0 0 90 60'><path d='M1 2h3'/><svg class='plane' x='5' width='80' \
                   height='50' viewBox='0 0 8000 100000' data-units='8000 100000' \
                   preserveAspectRatio='none'><g><path class='data' d='M100 2000h50v-1000m0 0l10 \
                   -10 390 3010z'/><path d='M0 0v5'/></g></svg><text>d</text></svg>";
        let expected = "<svg viewBox='0 0 90 60'><path d='M1 2h3'/><svg class='plane' x='5' \
                        width='80' height='50'><g><path class='data' d='M1 1h0.5v-0.5m0 0l0.1 0 \
                        3.9 1.5z'/><path d='M0 0v0'/></g></svg><text>d</text></svg>";
        let quoted = |text: &str| text.replace('\'', "\"");
        assert_eq!(unscaled(&quoted(svg)), quoted(expected));
        assert_eq!(unscaled("<svg class=\"plane\""), "<svg class=\"plane\"></svg>");
    }

    #[test]
    fn rounding_does_not_add_up() {
        let plane = Plane { begin: [0.0, 7.0], scale: [0.003, 1.0] };
        let path = format!("M0 7{}", "h1".repeat(1000));
        let drawn = plane.path(&path);
        let across: f64 = drawn.split('h').skip(1).map(|it| it.parse::<f64>().unwrap()).sum();
        assert!((across - 3.0).abs() < 1e-9, "{across}");
        assert!(drawn.starts_with("M0 0h0h0.01h0h0h0.01"), "{drawn}");
    }

    #[test]
    fn path_goes_on_from_its_start_when_it_is_closed() {
        let plane = Plane { begin: [0.0; 2], scale: [0.1, 0.1] };
        assert_eq!(plane.path("M10,20h10v-10zm1 1V30H-5"), "M1 2h1v-1zm0.1 0.1V3H-0.5");
    }
}
