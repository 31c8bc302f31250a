//! The names of many lines, in columns below a picture.

use crate::drawn::{path, text};
use crate::letters::{fitted_apart, width};
use crate::line_style::{DIFFERENT, groups, marker};
use crate::looks::Looks;

/// Pixels.
const ROW: f64 = 16.0;
const SAMPLE: f64 = 26.0;
const GAP: f64 = 14.0;
/// Longer names are cut.
const NAMES_MOST: f64 = 230.0;

/// Draws a sample of each line with its name, down the columns in the order of the lines, from
/// `top` on over the `wide` of a picture; says how high that is. Lines without a name are left
/// out, and all names where there are more than can be told apart.
pub(crate) fn legend(
    svg: &mut String,
    names: &[&str],
    looks: &Looks,
    (top, wide): (f64, f64),
) -> f64 {
    if names.len() > DIFFERENT {
        return 0.0;
    }
    let cut = fitted_apart(names.iter().copied(), NAMES_MOST);
    let widest = cut.iter().map(|name| width(name)).fold(0.0, f64::max);
    let column = SAMPLE + 6.0 + widest + GAP;
    let shown: Vec<usize> = (0..names.len()).filter(|index| !names[*index].is_empty()).collect();
    let columns = ((wide + GAP) / column).floor().max(1.0) as usize;
    let rows = shown.len().div_ceil(columns);
    let groups = groups(names.iter().copied(), looks);
    for (place, index) in shown.into_iter().enumerate() {
        let x = (place / rows) as f64 * column;
        let y = top + ((place % rows) as f64 + 0.5) * ROW;
        svg.push_str(&groups[index]);
        path(svg, "line", &format!("M{x:.1} {y:.1}h{SAMPLE}"));
        svg.push_str(&marker(index, x + SAMPLE / 2.0, y));
        text(svg, "name", (x + SAMPLE + 6.0, y + 4.0), &cut[index]);
        svg.push_str("</g>");
    }
    rows as f64 * ROW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_columns_inside_the_picture() {
        for (count, long) in [(17, 3), (60, 20), (200, 80)] {
            let names: Vec<String> = (0..count).map(|it| format!("{it:0long$}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut svg = String::new();
            let high = legend(&mut svg, &names, &Looks::default(), (300.0, 560.0));
            assert_eq!(svg.matches(r#"class="name""#).count(), count);
            let places = svg.split(r#"class="name" x=""#).skip(1).map(|rest| {
                let (x, rest) = rest.split_once(r#"" y=""#).unwrap();
                let (y, rest) = rest.split_once("\">").unwrap();
                let name = rest.split_once('<').unwrap().0;
                (x.parse::<f64>().unwrap() + width(name), y.parse::<f64>().unwrap())
            });
            for (right, y) in places {
                assert!(right <= 560.0 && (300.0..=300.0 + high).contains(&y), "{right} {y}");
            }
        }
    }
}
