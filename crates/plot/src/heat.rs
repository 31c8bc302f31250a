//! Heat maps: a cell with the value for each pair of levels of two factors.

use tcplab_units::rounded::{decimal, decimals_of};

use crate::axis::Axis;
use crate::drawn::{Drawn, opening, text, upright};
use crate::letters::{fitted, fitted_apart, width};
use crate::table::{Table, number_cell};

/// Pixels.
const WIDTH: f64 = 560.0;
const TOP: f64 = 24.0;
const ROW: f64 = 30.0;
const FOOT: f64 = 78.0;
const NAMES_MOST: f64 = 150.0;
/// Below the cells there is room for so much of an upright name.
const NAMES_ROOM: f64 = 12.0;
const SCALE: (f64, f64) = (150.0, 9.0);
/// Steps of the colour bar.
const STEPS: usize = 30;

/// One picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The factors of columns and rows.
    pub factors: (&'a str, &'a str),
    /// The levels from the left.
    pub columns: &'a [String],
    /// The levels from the top.
    pub rows: &'a [String],
    /// What was measured, with its unit.
    pub values: &'a str,
    /// Row by row; none where nothing was run or measured.
    pub cells: &'a [Vec<Option<f64>>],
}

/// Draws a cell for each pair of levels.
pub fn heat(scene: &Heat<'_>) -> Drawn {
    let widest = scene.rows.iter().map(|row| width(row)).fold(0.0, f64::max);
    let left = widest.min(NAMES_MOST) + 12.0;
    let across = (WIDTH - left) / scene.columns.len().max(1) as f64;
    let bottom = TOP + ROW * scene.rows.len() as f64;
    let names = fitted_apart(scene.columns.iter().map(String::as_str), NAMES_MOST);
    let widest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
    // Names stand upright where they do not fit side by side.
    let is_upright = widest > across - 4.0;
    let foot = if is_upright { widest - NAMES_ROOM } else { 0.0 };
    let shades = Shades::over(scene);
    let mut svg = opening("heat", (WIDTH, bottom + foot + FOOT), &summary(scene));
    text(&mut svg, "unit", (0.0, 12.0), &fitted(scene.factors.1, WIDTH));
    for (y, row) in scene.rows.iter().enumerate() {
        let top = TOP + ROW * y as f64;
        text(&mut svg, "name", (0.0, top + ROW / 2.0 + 4.0), &fitted(row, NAMES_MOST));
        for (x, value) in scene.cells.get(y).into_iter().flatten().enumerate() {
            let corner = (left + across * x as f64, top);
            cell(&mut svg, corner, (across, ROW), *value, &shades);
        }
    }
    for (x, name) in names.iter().enumerate() {
        let middle = left + across * (x as f64 + 0.5);
        if is_upright {
            upright(&mut svg, "level", (middle + 4.0, bottom + 6.0), name);
        } else {
            text(&mut svg, "level", (middle, bottom + 16.0), name);
        }
    }
    let middle = f64::midpoint(left, WIDTH);
    text(&mut svg, "over", (middle, bottom + foot + 34.0), scene.factors.0);
    legend(&mut svg, scene.values, bottom + foot + 50.0, &shades);
    svg.push_str("</svg>");
    Drawn { svg, table: numbers(scene) }
}

fn cell(
    svg: &mut String,
    (x, y): (f64, f64),
    (wide, high): (f64, f64),
    value: Option<f64>,
    shades: &Shades,
) {
    let middle = (x + wide / 2.0, y + high / 2.0 + 4.0);
    let Some(value) = value.filter(|it| it.is_finite()) else {
        text(svg, "nothing", middle, "–");
        return;
    };
    let (colour, ink) = shades.of(value);
    let (wide, high) = (wide - 1.0, high - 1.0);
    svg.push_str(&format!(
        concat!(
            r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="{}"/>"#,
            r#"<text class="cell" x="{:.1}" y="{:.1}" fill="{}">{}</text>"#,
        ),
        x,
        y,
        wide,
        high,
        colour,
        middle.0,
        middle.1,
        ink,
        shades.number(value),
    ));
}

fn legend(svg: &mut String, values: &str, y: f64, shades: &Shades) {
    let Axis { low, high, .. } = shades.axis;
    let (low, high) = (shades.number(low), shades.number(high));
    let from = width(&low) + 8.0;
    text(svg, "value left", (0.0, y + 8.0), &low);
    for step in 0..STEPS {
        let share = step as f64 / (STEPS - 1) as f64;
        let wide = SCALE.0 / STEPS as f64;
        let (x, colour) = (from + wide * step as f64, rgb(cividis(share)));
        let (w, h) = (wide + 0.3, SCALE.1);
        svg.push_str(&format!(
            r#"<rect x="{x:.1}" y="{y}" width="{w:.1}" height="{h}" fill="{colour}"/>"#
        ));
    }
    let end = from + SCALE.0 + 6.0;
    text(svg, "value left", (end, y + 8.0), &high);
    let unit_x = end + width(&high) + 12.0;
    text(svg, "unit", (unit_x, y + 8.0), &fitted(values, WIDTH - unit_x));
}

/// Colours for values.
struct Shades {
    axis: Axis,
    /// Of all numbers; those of several decades have three figures each.
    decimals: Option<usize>,
}

impl Shades {
    fn over(scene: &Heat<'_>) -> Shades {
        let all = || scene.cells.iter().flatten().flatten().copied().filter(|it| it.is_finite());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::MIN, f64::max));
        // The whole range of colours: each cell has its number.
        let axis = match Axis::over(all()) {
            axis if low < high => Axis { low, high, ..axis },
            axis => axis,
        };
        let most = axis.high.abs().max(axis.low.abs());
        Shades { axis, decimals: (!axis.is_log).then(|| decimals_of(most, 3.0)) }
    }

    fn number(&self, value: f64) -> String {
        decimal(value, self.decimals.unwrap_or_else(|| decimals_of(value, 3.0)))
    }

    /// The colour of a cell and of its number.
    fn of(&self, value: f64) -> (String, &'static str) {
        let colour = cividis(self.axis.share(value).clamp(0.0, 1.0));
        (rgb(colour), if luminance(colour) > 0.22 { "#000" } else { "#fff" })
    }
}

fn rgb([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The colour map cividis: lightness grows evenly with the value, also for colour-blind readers
/// (Nuñez, Anderton and Renslow, PLOS ONE 13(7), 2018). The polynomials are those of
/// d3-scale-chromatic.
fn cividis(t: f64) -> [u8; 3] {
    let level = |value: f64| value.round().clamp(0.0, 255.0) as u8;
    [
        level(-4.54 - t * (35.34 - t * (2381.73 - t * (6402.7 - t * (7024.72 - t * 2710.57))))),
        level(32.49 + t * (170.73 + t * (52.82 - t * (131.46 - t * (176.58 - t * 67.37))))),
        level(81.24 + t * (442.36 - t * (2482.43 - t * (6167.24 - t * (6614.94 - t * 2475.67))))),
    ]
}

/// Relative luminance, 0 to 1, as WCAG 2.2 defines it.
fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(|level| {
        let share = f64::from(level) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn summary(scene: &Heat<'_>) -> String {
    let (across, down) = scene.factors;
    format!("{}: {} over {across} and {down}", scene.title, scene.values)
}

fn numbers(scene: &Heat<'_>) -> Table {
    let rows = scene.rows.iter().zip(scene.cells).flat_map(|(row, cells)| {
        let cell = |(column, value): (&String, &Option<f64>)| {
            [row.clone(), column.clone(), value.map(number_cell).unwrap_or_default()]
        };
        scene.columns.iter().zip(cells).map(cell).collect::<Vec<_>>()
    });
    Table::new(&[scene.factors.1, scene.factors.0, scene.values], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_its_number_and_a_missing_one_a_dash() {
        let names = |all: &[&str]| all.iter().map(|it| (*it).to_string()).collect::<Vec<_>>();
        let (columns, rows) = (names(&["5", "10"]), names(&["LAN", "<lossy>"]));
        let cells = [vec![Some(1.0), Some(94.5)], vec![None, Some(40.25)]];
        let drawn = heat(&Heat {
            title: "goodput",
            factors: ("buffers", "path"),
            columns: &columns,
            rows: &rows,
            values: "goodput, Mbit/s",
            cells: &cells,
        });
        insta::assert_snapshot!(drawn.svg.replace("><", ">\n<"));
        assert_eq!(drawn.table.csv().lines().count(), 5);
        assert!(drawn.table.csv().contains("<lossy>,5,\n"), "{}", drawn.table.csv());
    }

    #[test]
    fn small_numbers_keep_their_figures() {
        let numbers = |cells: [f64; 2]| {
            let names = ["a", "b"].map(str::to_owned);
            let scene = Heat {
                title: "t",
                factors: ("x", "y"),
                columns: &names,
                rows: &names[..1],
                values: "t, s",
                cells: &[cells.map(Some).to_vec()],
            };
            let svg = heat(&scene).svg;
            let of_cell =
                |it: &str| it.split_once('>')?.1.split_once('<').map(|it| it.0.to_owned());
            svg.split(r#"class="cell""#).skip(1).filter_map(of_cell).collect::<Vec<_>>()
        };
        assert_eq!(numbers([0.000_086_123, 0.000_2]), ["0.000086", "0.000200"]);
        assert_eq!(numbers([0.000_086_123, 1234.5]), ["0.0000861", "1,234"]);
    }

    #[test]
    fn names_of_columns_are_whole_and_stand_upright_where_they_are_long() {
        let columns: Vec<String> = (0..9).map(|nth| format!("queue of {nth}0 packets")).collect();
        let draw = |columns: &[String]| {
            let cells = [vec![Some(1.0); columns.len()]];
            let rows = ["1 ms".to_string()];
            let values = "goodput, Mbit/s";
            let factors = ("queue", "delay");
            heat(&Heat { title: "goodput", factors, columns, rows: &rows, values, cells: &cells })
                .svg
        };
        let svg = draw(&columns);
        assert!(
            columns.iter().all(|name| svg.contains(&format!("rotate(-90)\">{name}<"))),
            "{svg}"
        );
        assert!(!draw(&columns[..3]).contains("upright"));
    }

    /// Approximately: lightness rises evenly, and numbers are readable on every colour.
    #[test]
    fn colours_lighten_evenly_with_readable_numbers() {
        let lightness = |t: f64| {
            let y = luminance(cividis(t));
            if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
        };
        for step in 1..=20 {
            let (here, before) = (f64::from(step) / 20.0, f64::from(step - 1) / 20.0);
            let rise = lightness(here) - lightness(before);
            assert!((2.0..6.5).contains(&rise), "{rise} at {here}");
            let y = luminance(cividis(here));
            let contrast = if y > 0.22 { (y + 0.05) / 0.05 } else { 1.05 / (y + 0.05) };
            assert!(contrast >= 3.9, "{contrast} at {here}");
        }
    }
}
