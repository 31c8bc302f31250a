//! A picture and the numbers in it.

use crate::letters::width;
use crate::svg::escape;
use crate::table::Table;

/// A picture with its numbers as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// One `<svg>` element that needs the style sheet only.
    pub svg: String,
    /// The numbers in it.
    pub table: Table,
}

/// The first tag of a scene: kind, size in pixels, label.
pub(crate) fn opening(kind: &str, (width, height): (f64, f64), label: &str) -> String {
    format!(
        r#"<svg class="scene {kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(label)
    )
}

/// Text of a class at a place.
pub(crate) fn text(svg: &mut String, class: &str, (x, y): (f64, f64), text: &str) {
    svg.push_str(&format!(
        r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#,
        escape(text)
    ));
}

/// Between the labels of marks.
const LABELS_APART: f64 = 6.0;

/// The labels of marks below an axis, each in the middle below its mark, in a picture `wide` pixels
/// wide: moved where they would leave it, left out where they would overlap.
pub(crate) fn below_marks(svg: &mut String, marks: &[(f64, String)], y: f64, wide: f64) {
    let mut free_from = f64::NEG_INFINITY;
    for (x, label) in marks {
        let x = inside(*x, label, wide);
        let half = width(label) / 2.0;
        if x - half >= free_from {
            free_from = x + half + LABELS_APART;
            text(svg, "level", (x, y), label);
        }
    }
}

/// How much wider letters are in DejaVu Sans, which browsers of Linux use.
const WIDER: f64 = 1.1;

/// Where the middle of a label is: at `x`, or as near as it stays in a picture `wide` pixels wide.
pub(crate) fn inside(x: f64, label: &str, wide: f64) -> f64 {
    let half = WIDER * width(label) / 2.0;
    x.min(wide - half).max(half)
}

/// Text of a class that stands upright and ends below a place.
pub(crate) fn upright(svg: &mut String, class: &str, (x, y): (f64, f64), text: &str) {
    svg.push_str(&format!(
        r#"<text class="{class} upright" transform="translate({x:.1} {y}) rotate(-90)">{}</text>"#,
        escape(text)
    ));
}

/// A path of a class.
pub(crate) fn path(svg: &mut String, class: &str, d: &str) {
    svg.push_str(&format!(r#"<path class="{class}" d="{d}"/>"#));
}
