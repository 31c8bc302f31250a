//! Charts below one another in one picture, each with its title and its legend inside, for a file
//! without a page around it.

use crate::letters::width;
use crate::plane::Figure;
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 56.0;
const TITLE: f64 = 30.0;
const HEADING: f64 = 26.0;
const MARK: f64 = 24.0;
const GAP: f64 = 18.0;

/// One `<svg>` with these figures from top to bottom.
pub fn stacked(title: &str, figures: &[Figure]) -> String {
    let mut inside = String::new();
    let mut y = TITLE;
    for figure in figures {
        inside.push_str(&heading(figure, y + HEADING * 0.7));
        y += HEADING;
        let (height, content) = content(&figure.svg);
        let class = "graph chart";
        inside.push_str(&format!(
            r#"<g class="{class}" transform="translate(0 {y:.0})">{content}</g>"#
        ));
        y += height;
    }
    format!(
        concat!(
            r#"<svg class="graph stacked" viewBox="0 0 {width} {y:.0}" role="img" aria-label="{title}">"#,
            r#"<title>{title}</title><text class="unit" x="{left}" y="20">{title}</text>{inside}</svg>"#
        ),
        width = WIDTH,
        y = y,
        title = escape(title),
        left = LEFT,
        inside = inside,
    )
}

/// The title of a figure, and a stroke and a name for each of its layers.
fn heading(figure: &Figure, y: f64) -> String {
    let text = |x: f64, class: &str, text: &str| {
        format!(r#"<text class="{class}" x="{x:.0}" y="{y:.0}">{}</text>"#, escape(text))
    };
    let mut heading = text(LEFT, "unit", &figure.title);
    let mut x = LEFT + width(&figure.title) + GAP * 2.0;
    for key in &figure.legend {
        let line = y - 4.0;
        heading.push_str(&format!(
            r#"<g class="layers"><path class="{}" d="M{x:.0} {line:.0}h{MARK}"/></g>"#,
            key.class
        ));
        heading.push_str(&text(x + MARK + 5.0, "name", &key.label));
        x += MARK + 5.0 + width(&key.label) + GAP;
    }
    heading
}

/// The height of a picture whose view box begins at 0 0, and what is in it.
fn content(svg: &str) -> (f64, &str) {
    let (tag, inside) = svg.split_once('>').unwrap_or((svg, ""));
    let size = tag.split_once(r#"viewBox=""#).and_then(|(_, rest)| rest.split_once('"'));
    let height = size.and_then(|(size, _)| size.rsplit(' ').next()?.parse().ok());
    (height.unwrap_or_default(), inside.strip_suffix("</svg>").unwrap_or(inside))
}

#[cfg(test)]
mod tests {
    use tcplab_units::Instant;

    use super::*;
    use crate::{Chart, Series, View, chart};

    #[test]
    fn figures_are_below_one_another_with_their_names() {
        let at = |second: u64| Instant::from_nanos(second * 1_000_000_000);
        let series = |class: &'static str, label: &str| Series {
            class,
            label: label.into(),
            points: vec![(at(0), Some(1.0)), (at(1), None), (at(2), Some(3.0))],
            steps: false,
        };
        let view = View { from: at(0), until: at(2), bands: &[] };
        let draw = |title: &str, label: &str| {
            let series = [series("flow-1", label)];
            let chart_of = Chart { title, unit: "ms", right: None, series: &series, at_most: None };
            chart(&chart_of, &view)
        };
        let svg = stacked("all <b>", &[draw("first", "one & two"), draw("second", "three")]);
        assert!(svg.starts_with(r#"<svg class="graph stacked" viewBox="0 0 1000 442""#), "{svg}");
        for part in ["all &lt;b&gt;", "one &amp; two", "translate(0 56)", "translate(0 262)"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }
}
