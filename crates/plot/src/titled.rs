//! A title above a picture.

use crate::letters::fitted;
use crate::svg::escape;

/// Pixels that the title adds above.
const HEAD: f64 = 28.0;
/// How much larger its letters are than those of the pictures.
const LARGER: f64 = 1.3;

/// The `<svg>` with a line of text above it, cut if wider than the picture.
pub fn titled(svg: &str, title: &str) -> String {
    lowered(svg, HEAD, |[left, top, wide, _]| {
        let shown = fitted(title, wide / LARGER);
        let (x, y, text) = (left + wide / 2.0, top + 17.0, escape(&shown));
        format!("<text class=\"figure-title\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>")
    })
}

/// The `<svg>` so many pixels lower, with what `above` draws there, given the view box before. One
/// without a view box stays as it is.
pub(crate) fn lowered(svg: &str, head: f64, above: impl Fn([f64; 4]) -> String) -> String {
    const BOX: &str = " viewBox=\"";
    let parts = svg.split_once('>').and_then(|(tag, rest)| {
        let inside = rest.strip_suffix("</svg>")?;
        let (before, size) = tag.split_once(BOX)?;
        let (size, after) = size.split_once('"')?;
        let size: Vec<f64> = size.split(' ').filter_map(|it| it.parse().ok()).collect();
        let [left, top, wide, high] = size[..] else { return None };
        Some((before, [left, top, wide, high], after, inside))
    });
    let Some((before, [left, top, wide, high], after, inside)) = parts else {
        return svg.to_owned();
    };
    let drawn = above([left, top, wide, high]);
    format!(
        "{before}{BOX}{left} {top} {wide} {}\"{after}>{drawn}<g transform=\"translate(0 {head})\">\
         {inside}</g></svg>",
        high + head,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_above_and_escaped() {
        let svg = r#"<svg class="trend" viewBox="0 0 560 300" role="img"><path d="M0 0"/></svg>"#;
        assert_eq!(
            titled(svg, "a < b"),
            "<svg class=\"trend\" viewBox=\"0 0 560 328\" role=\"img\">\
             <text class=\"figure-title\" x=\"280.0\" y=\"17.0\">a &lt; b</text>\
             <g transform=\"translate(0 28)\"><path d=\"M0 0\"/></g></svg>"
        );
        assert!(titled(svg, &"long ".repeat(60)).contains("…</text>"));
        assert_eq!(titled("<svg></svg>", "x"), "<svg></svg>");
    }
}
