//! The style sheets and scripts of all pages.

use tcplab_wire::FieldLayer;

/// The style sheets, for another page that is to look like a report.
pub const STYLES: [&str; 6] = [
    tcplab_plot::STYLE,
    include_str!("../../assets/page.css"),
    include_str!("../../assets/tables.css"),
    include_str!("../../assets/graphs.css"),
    include_str!("../../assets/verdicts.css"),
    include_str!("../../assets/packets.css"),
];
/// Shows a packet as coloured bytes.
const DUMP: &str = include_str!("../../assets/dump.js");
/// Runs before the first paint.
pub(crate) const THEME: &str = include_str!("../../assets/theme.js");
pub(crate) const SCRIPTS: [&str; 8] = [
    include_str!("../../assets/levels.js"),
    include_str!("../../assets/graph.js"),
    include_str!("../../assets/group.js"),
    include_str!("../../assets/average.js"),
    include_str!("../../assets/export.js"),
    DUMP,
    include_str!("../../assets/packets.js"),
    include_str!("../../assets/page.js"),
];

/// What shows a packet as coloured bytes, as a module for another page: `ByteView`, and `TITLES`,
/// the titles of layers by name.
pub fn dump_module() -> String {
    let titles = FieldLayer::ALL.map(|layer| [layer.name(), layer.title()]);
    // As Rust writes texts without quotes and backslashes, so does JavaScript.
    format!("{DUMP}\nexport {{ ByteView }};\nexport const TITLES = new Map({titles:?});\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::STYLES;

    /// Text has these colours, or lines that text explains.
    const INKS: [&str; 14] = [
        "ink",
        "muted",
        "accent",
        "good",
        "bad",
        "data",
        "retransmission",
        "timeout",
        "acks",
        "sack",
        "edge",
        "lost",
        "plot-ink",
        "plot-muted",
    ];
    const PAPERS: [&str; 4] = ["page", "surface", "raised", "plot-surface"];

    /// The colour that a variable has in the light (0) or dark (1) theme.
    fn colour(name: &str, theme: usize) -> [f64; 3] {
        let marked = format!("  --{name}: ");
        let value = STYLES.iter().find_map(|sheet| sheet.split(&marked).nth(1));
        let value = value.unwrap_or_else(|| panic!("there is no --{name}"));
        let value = value.split(';').next().unwrap();
        if let Some(other) = value.strip_prefix("var(--") {
            return colour(other.trim_end_matches(')'), theme);
        }
        let pair = value.trim_start_matches("light-dark(").trim_end_matches(')');
        let digits = pair.split(", ").nth(theme).unwrap().trim_start_matches('#');
        let wide = digits.len() / 3;
        [0, 1, 2].map(|part| {
            let text = &digits[part * wide..(part + 1) * wide];
            let text = if wide == 1 { text.repeat(2) } else { text.to_owned() };
            f64::from(u8::from_str_radix(&text, 16).unwrap()) / 255.0
        })
    }

    /// WCAG 2.2: relative luminance.
    fn luminance(colour: [f64; 3]) -> f64 {
        let [red, green, blue] = colour
            .map(|it| if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
        let green = [0.0, 158.0 / 255.0, 115.0 / 255.0];
        assert!((contrast(green, [1.0; 3]) - 3.42).abs() < 0.01);
    }

    /// Other tables are `.summary`, too, and have other columns.
    #[test]
    fn narrow_screens_rearrange_the_table_of_metrics_alone() {
        let narrow =
            include_str!("../../assets/tables.css").split_once("@media (max-width").unwrap();
        assert!(narrow.1.contains(".metrics td:nth-child(3)"));
        assert!(!narrow.1.contains(".summary"));
        assert_eq!(
            include_str!("../../templates/head.html").matches("summary metrics\"").count(),
            2
        );
    }

    /// Shares of a layer's colour behind bytes and fields: the light and the deep shade.
    fn shades() -> [f64; 2] {
        let sheet = STYLES[5];
        ["--light", "--deep"].map(|name| {
            let marked = format!("{name}: color-mix(in srgb, var(--layer) ");
            let share = sheet.split(&marked).nth(1).and_then(|rest| rest.split('%').next());
            share.unwrap().parse::<f64>().unwrap() / 100.0
        })
    }

    #[test]
    fn coloured_bytes_have_contrast_and_their_shades_differ() {
        let layers: BTreeSet<&str> = STYLES[0]
            .split("--layer: var(--")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap())
            .collect();
        assert!(layers.len() > 5, "{layers:?}");
        for (theme, layer) in [0, 1].into_iter().flat_map(|it| layers.iter().map(move |l| (it, l)))
        {
            for paper in ["page", "surface"].map(|paper| colour(paper, theme)) {
                let mixed = shades().map(|share| {
                    let own = colour(layer, theme);
                    [0, 1, 2].map(|part| own[part] * share + paper[part] * (1.0 - share))
                });
                for ground in mixed {
                    let found = contrast(colour("ink", theme), ground);
                    assert!(found >= 4.5, "--{layer}, theme {theme}: {found:.2}");
                }
                // Of what has no fields there is one shade.
                let apart = contrast(mixed[0], mixed[1]);
                let is_apart = apart >= 1.15 || *layer == "plot-grid";
                assert!(is_apart, "--{layer}, theme {theme}: {apart:.2}");
            }
            // Marked bytes are of the page's colour on that of their layer.
            let found = contrast(colour("surface", theme), colour(layer, theme));
            assert!(found >= 4.5 || *layer == "plot-grid", "--{layer}, theme {theme}: {found:.2}");
        }
    }

    /// WCAG 2.2 asks for 4.5 (AA).
    #[test]
    fn every_colour_of_text_has_contrast_in_both_themes() {
        for theme in [0, 1] {
            for (ink, paper) in INKS.iter().flat_map(|ink| PAPERS.map(|paper| (ink, paper))) {
                let found = contrast(colour(ink, theme), colour(paper, theme));
                assert!(found >= 4.5, "--{ink} on --{paper}, theme {theme}: {found:.2}");
            }
        }
    }
}
