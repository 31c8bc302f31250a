//! Distributions: the share of values that are no larger, a line for each of several ways.

use crate::axis::Axis;
use crate::drawn::{Drawn, csv, csv_number, opening, path, text};
use crate::letters::{fitted_apart, width};

/// Pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const KEY_ROW: f64 = 17.0;
const FOOT: f64 = 40.0;
/// Lines with a colour each; others share the last one and are dashed.
const COLOURS: usize = 7;
/// Longer names are cut.
const NAMES_MOST: f64 = 230.0;

/// A line: its name, and its values in any order; values that are not finite are left out.
pub type EcdfLine = (String, Vec<f64>);

/// Draws a step for each value, joined if closer than a quarter of a pixel. `values` is what was
/// measured, with its unit; lines are in the order of their colours.
pub fn ecdf(title: &str, values: &str, lines: &[EcdfLine]) -> Drawn {
    let sorted: Vec<Vec<f64>> = lines.iter().map(sorted).collect();
    let axis = Axis::over(sorted.iter().flatten().copied());
    let (keys, top) = keys(lines);
    let bottom = top + HEIGHT;
    let right = WIDTH - RIGHT;
    let x = |value: f64| LEFT + axis.share(value) * (right - LEFT);
    let y = |share: f64| bottom - share * HEIGHT;
    let summary = format!("{title}: share of values up to {values}");
    let mut svg = opening("ecdf", (WIDTH, bottom + FOOT), &summary);
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        path(&mut svg, "rule", &format!("M{LEFT} {:.1}H{right}", y(share)));
        text(&mut svg, "value", (LEFT - 7.0, y(share) + 4.0), &format!("{} %", quarter * 25));
    }
    for (value, label) in axis.marks(7) {
        path(&mut svg, "rule", &format!("M{:.1} {bottom:.1}v5", x(value)));
        text(&mut svg, "level", (x(value), bottom + 17.0), &label);
    }
    text(&mut svg, "over", (f64::midpoint(LEFT, right), bottom + 35.0), values);
    for (index, values) in sorted.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
        let d = steps(values, x, y, right);
        svg.push_str(&format!(r#"<g class="{}"><path class="line" d="{d}"/></g>"#, class(index)));
    }
    svg.push_str(&keys);
    svg.push_str("</svg>");
    let rows = sorted.iter().zip(lines).flat_map(|(values, (name, _))| {
        let share = |rank: usize| csv_number((rank + 1) as f64 / values.len() as f64);
        let row =
            move |(rank, value): (usize, &f64)| [name.clone(), csv_number(*value), share(rank)];
        values.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    Drawn { svg, csv: csv(&["name", values, "share"], rows) }
}

fn sorted((_, values): &EcdfLine) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn class(index: usize) -> String {
    let dashed = if index / COLOURS % 2 == 1 { " dashed" } else { "" };
    format!("line-{}{dashed}", index % COLOURS)
}

fn steps(values: &[f64], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64, right: f64) -> String {
    let mut d = format!("M{LEFT} {:.1}", y(0.0));
    let count = values.len() as f64;
    let mut index = 0;
    while index < values.len() {
        let at = x(values[index]);
        let together = values[index..].iter().take_while(|it| x(**it) - at < 0.25).count().max(1);
        index += together;
        d += &format!("H{at:.1}V{:.1}", y(index as f64 / count));
    }
    d += &format!("H{right:.1}");
    d
}

/// The names above the picture, and its upper edge.
fn keys(lines: &[EcdfLine]) -> (String, f64) {
    let mut svg = String::new();
    let (mut x, mut y) = (0.0, 12.0);
    if lines.len() > 1 {
        let names = fitted_apart(lines.iter().map(|(name, _)| name.as_str()), NAMES_MOST);
        for (index, name) in names.iter().enumerate() {
            let wide = width(name) + 36.0;
            if x > 0.0 && x + wide > WIDTH {
                (x, y) = (0.0, y + KEY_ROW);
            }
            svg.push_str(&format!(r#"<g class="{}">"#, class(index)));
            path(&mut svg, "line", &format!("M{x:.1} {:.1}h16", y - 4.0));
            text(&mut svg, "name", (x + 21.0, y), name);
            svg.push_str("</g>");
            x += wide;
        }
    }
    (svg, if lines.len() > 1 { y + 14.0 } else { 8.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecdf_rises_one_step_per_value() {
        let reno = ("reno".to_owned(), vec![3.0, 1.0, 2.0, f64::NAN]);
        let cubic = ("cubic".to_owned(), vec![2.0, 2.0]);
        let drawn = ecdf("goodput", "Mbit/s", &[reno, cubic]);
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        let csv = "name,Mbit/s,share\nreno,1,0.3333333333333333\nreno,2,0.6666666666666666\n\
                    reno,3,1\ncubic,2,0.5\ncubic,2,1\n";
        assert_eq!(drawn.csv, csv);
    }

    #[test]
    fn many_values_make_a_bounded_number_of_steps() {
        let values: Vec<f64> = (0..100_000).map(|n| f64::from(n) / 7.0).collect();
        assert!(ecdf("t", "ms", &[("all".into(), values)]).svg.len() < 60_000);
    }
}
