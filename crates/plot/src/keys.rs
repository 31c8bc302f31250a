//! The key to the layers of a graph, drawn above it for a file; a page has it in HTML.

use crate::drawn::text;
use crate::letters::width;
use crate::plane::{Figure, Key};
use crate::titled::lowered;

/// Pixels.
const ROW: f64 = 18.0;
const SAMPLE: f64 = 24.0;
/// Between a sample and its label, and from there to the next sample.
const GAPS: (f64, f64) = (7.0, 18.0);
const WIDE: f64 = 1000.0;

impl Figure {
    /// The `<svg>` with the key to its layers above it, but for those that are hidden.
    pub fn svg_with_keys(&self) -> String {
        with_keys(&self.svg, &self.legend)
    }
}

fn with_keys(svg: &str, legend: &[Key]) -> String {
    let is_points = svg.split('>').next().is_some_and(|tag| tag.contains(" points"));
    let mut layers = String::new();
    let mut labels = String::new();
    let (mut x, mut row) = (0.0, 0.0);
    for key in legend.iter().filter(|key| !key.is_off) {
        let wide = SAMPLE + GAPS.0 + width(&key.label);
        if x > 0.0 && x + wide > WIDE {
            (x, row) = (0.0, row + 1.0);
        }
        let middle = (row + 0.5) * ROW;
        let d = sample(key.class, is_points, x, middle);
        layers += &format!(r#"<path class="{}" d="{d}"/>"#, key.class);
        text(&mut labels, "key", (x + SAMPLE + GAPS.0, middle + 4.0), &key.label);
        x += wide + GAPS.1;
    }
    if labels.is_empty() {
        return svg.to_owned();
    }
    let above = format!(r#"<g class="layers">{layers}</g>{labels}"#);
    lowered(svg, (row + 1.0) * ROW + 4.0, |_| above.clone())
}

/// A stroke as those of the layer: segments stand upright, points have no length.
fn sample(class: &str, is_points: bool, x: f64, y: f64) -> String {
    let middle = x + SAMPLE / 2.0;
    match class {
        "band" => format!("M{x:.1} {:.1}h{SAMPLE}v12h-{SAMPLE}z", y - 6.0),
        _ if is_points => format!("M{middle:.1} {y:.1}h0"),
        "timeout" | "dsack" | "triple" | "drop-full" | "drop-aqm" | "drop-loss" | "drop-outage"
        | "drop-other" => format!("M{middle:.1} {y:.1}h0"),
        "data" | "drop" | "fast" | "fills" | "other" | "sack" => {
            format!("M{middle:.1} {:.1}v10", y - 5.0)
        }
        // As thick as they are, with round ends.
        "call" | "calls" | "failed" => format!("M{:.1} {y:.1}h{}", x + 6.0, SAMPLE - 12.0),
        _ => format!("M{x:.1} {y:.1}h{SAMPLE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_that_are_shown_have_a_key_above_the_picture() {
        let key = |class, label: &str, is_off| Key { class, label: label.to_owned(), is_off };
        let long = "a rather long name of a layer ".repeat(4);
        let legend = [
            key("cwnd", "a < b", false),
            key("ssthresh", &long, false),
            key("rto", "hidden", true),
            key("band", &long, false),
        ];
        let svg = r#"<svg class="graph" viewBox="0 0 1000 300" role="img"><path d="M0 0"/></svg>"#;
        let drawn = with_keys(svg, &legend);
        assert!(drawn.contains(r#"viewBox="0 0 1000 340""#), "two rows: {drawn}");
        assert!(drawn.contains(r#"<path class="cwnd" d="M0.0 9.0h24"/>"#), "{drawn}");
        assert!(drawn.contains(">a &lt; b</text>") && !drawn.contains("hidden"), "{drawn}");
        assert!(
            drawn.contains(r#"<g transform="translate(0 40)"><path d="M0 0"/></g>"#),
            "{drawn}"
        );
        assert_eq!(drawn.matches(r#"class="key""#).count(), 3);
        assert_eq!(with_keys(svg, &legend[2..3]), svg);
    }
}
