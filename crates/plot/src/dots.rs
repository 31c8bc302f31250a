//! Dots: a ratio for each of many cases, around 1.

use tcplab_units::rounded::decimal;

use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 900.0;
const NAMES: f64 = 380.0;
const ROW: f64 = 16.0;
const HEAD: f64 = 22.0;
const MARGIN: f64 = 14.0;
/// The ratios at both edges; values beyond are arrowheads at the edge.
const EDGES: (f64, f64) = (0.5, 2.0);
/// Ticks of the axis.
const MARKS: [f64; 7] = [0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0];

/// A row of dots.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What it is about.
    pub name: String,
    /// CSS class and ratio of each dot.
    pub values: Vec<(&'static str, f64)>,
    /// The distance from 1 that chance explains; drawn as a bar around 1.
    pub noise: Option<f64>,
}

/// Rows of dots on one logarithmic axis, with a band from `1 - within` to `1 + within`.
pub fn dots(label: &str, rows: &[Dots], within: f64) -> String {
    let height = HEAD + rows.len() as f64 * ROW + MARGIN;
    let mut svg = format!(
        r#"<svg class="strip dots" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(label)
    );
    let bar = |class: &str, apart: f64, top: f64, tall: f64| {
        let (from, until) = (x(1.0 / (1.0 + apart)), x(1.0 + apart));
        let wide = until - from;
        format!(
            r#"<rect class="{class}" x="{from:.1}" y="{top:.1}" width="{wide:.1}" height="{tall:.1}"/>"#
        )
    };
    svg.push_str(&bar("within", within, HEAD, height - HEAD - MARGIN));
    for mark in MARKS {
        let (x, until) = (x(mark), height - MARGIN);
        let text = decimal(mark, 2);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        svg.push_str(&format!(r#"<path class="rule" d="M{x:.1} {HEAD}V{until}"/>"#));
        svg.push_str(&format!(r#"<text x="{x:.1}" y="14">{text}</text>"#));
    }
    for (index, row) in rows.iter().enumerate() {
        let middle = HEAD + (index as f64 + 0.5) * ROW;
        let (name, baseline) = (escape(&row.name), middle + 4.0);
        svg.push_str(&format!(r#"<text class="name" x="0" y="{baseline}">{name}</text>"#));
        if let Some(noise) = row.noise {
            svg.push_str(&bar("interval", noise, middle - 4.0, 8.0));
        }
        for (class, ratio) in row.values.iter().filter(|(_, ratio)| *ratio >= 0.0) {
            svg.push_str(&dot(class, *ratio, middle));
        }
    }
    svg.push_str("</svg>");
    svg
}

fn dot(class: &str, ratio: f64, y: f64) -> String {
    let at = x(ratio);
    if ratio < EDGES.0 {
        return format!(r#"<path class="{class}" d="M{at:.1} {y}l7-4v8z"/>"#);
    }
    if ratio > EDGES.1 {
        return format!(r#"<path class="{class}" d="M{at:.1} {y}l-7-4v8z"/>"#);
    }
    format!(r#"<circle class="{class}" cx="{at:.1}" cy="{y}" r="3.5"/>"#)
}

fn x(ratio: f64) -> f64 {
    let share = |ratio: f64| (ratio / EDGES.0).ln() / (EDGES.1 / EDGES.0).ln();
    NAMES + share(ratio.clamp(EDGES.0, EDGES.1)) * (WIDTH - NAMES - MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_have_equal_distances_from_one() {
        let [half, one, two] = [0.5, 1.0, 2.0].map(x);
        assert!((two - one - (one - half)).abs() < 1e-9);
        assert!((x(7.0) - two).abs() < 1e-9, "what is beyond the edge stays on the picture");
    }

    #[test]
    fn rows_are_drawn_with_partial_values() {
        let row = |name: &str, ratio, noise| Dots {
            name: name.into(),
            values: vec![("transfer", ratio)],
            noise,
        };
        let drawn = dots("all", &[row("a < b", 1.02, Some(0.03)), row("far", 9.0, None)], 0.05);
        assert_eq!(drawn.matches("<circle").count(), 1);
        assert_eq!(drawn.matches("class=\"interval\"").count(), 1);
        assert!(drawn.contains("a &lt; b") && drawn.contains("l-7-4v8z"));
    }
}
