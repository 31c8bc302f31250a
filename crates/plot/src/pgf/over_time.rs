//! A chart of lines and marks over time.

use super::{Axis, Colour, Tex, escape};
use crate::chart::{Chart, Marks, high};
use crate::looks::AxisLooks;
use crate::view::View;

/// Parts of the axis of time: of the points in one the first, the lowest, the highest and the last
/// stay. TeX's memory holds some ten thousand.
const PARTS: f64 = 1_000.0;

/// How the layers of charts look: colour by name, dashes, and mark of those that are dots.
const LOOKS: [(&str, usize, &str, &str); 7] = [
    ("waiting", 0, "", ""),
    ("limit", 7, "on 5pt off 3pt", ""),
    ("drop-full", 6, "", "square*, mark size=1.6pt"),
    ("drop-aqm", 3, "", "*, mark size=2pt"),
    ("drop-loss", 1, "", "square*, mark size=1.1pt"),
    ("drop-outage", 5, "", "*, mark size=1.4pt"),
    ("drop-other", 4, "", "square*, mark size=0.8pt"),
];

/// The text of a `tikzpicture` that shows what [`crate::marked_chart`] shows.
pub fn chart_pgf(chart: &Chart<'_>, marks: &[Marks], view: &View<'_>) -> String {
    let (from, until) = (view.from.as_secs_f64(), view.until.as_secs_f64());
    let up = Axis { low: 0.0, high: high(chart), is_log: false };
    let mut tex = Tex::default();
    tex.option(&format!("title={{{}}}", escape(chart.title)));
    tex.axis('x', Axis { low: from, high: until, is_log: false });
    tex.axis('y', up);
    tex.label('x', &AxisLooks::default(), "time, s");
    tex.label('y', &AxisLooks::default(), chart.unit);
    tex.lines_room();
    for series in chart.series {
        let style = tex.stroke(series.class);
        tex.legend(&style, &series.label);
        let kind = if series.steps { "const plot, " } else { "" };
        let points = series.points.iter().map(|(at, value)| (at.as_secs_f64(), *value));
        let points: Vec<(f64, Option<f64>)> = points.collect();
        for piece in points.split(|(_, value)| value.is_none()) {
            let places: Vec<(f64, f64)> =
                piece.iter().filter_map(|(x, value)| Some((*x, (*value)?.min(up.high)))).collect();
            let places = thinned(&places, (until - from) / PARTS);
            tex.plot(&format!("{kind}{style}, mark=none"), &places);
        }
    }
    for marks in marks.iter().filter(|marks| !marks.points.is_empty()) {
        let style = tex.stroke(marks.class);
        tex.legend(&style, &marks.label);
        let mut places: Vec<(f64, f64)> =
            marks.points.iter().map(|(at, value)| (at.as_secs_f64(), *value)).collect();
        places.dedup();
        tex.plot(&style, &thinned(&places, (until - from) / PARTS));
    }
    tex.whole()
}

impl Tex {
    /// The options of a layer.
    fn stroke(&mut self, class: &str) -> String {
        let known = LOOKS.iter().find(|(name, ..)| *name == class);
        let (_, colour, dashes, mark) = known.copied().unwrap_or(("", 7, "", ""));
        let colour = self.colour(Colour::Named(colour));
        match (dashes, mark) {
            ("", "") => format!("color={colour}, thick"),
            (dashes, "") => format!("color={colour}, thick, dash pattern={dashes}"),
            (_, mark) => format!("only marks, mark={mark}, color={colour}"),
        }
    }
}

/// Of the points in each part of the time the first, the lowest, the highest and the last.
fn thinned(points: &[(f64, f64)], part: f64) -> Vec<(f64, f64)> {
    let of = |x: f64| if part > 0.0 { (x / part).floor() } else { x };
    let mut kept = Vec::new();
    for group in points.chunk_by(|one, next| of(one.0).total_cmp(&of(next.0)).is_eq()) {
        let by_value = |one: &usize, next: &usize| group[*one].1.total_cmp(&group[*next].1);
        let low = (0..group.len()).min_by(by_value).unwrap_or(0);
        let high = (0..group.len()).max_by(by_value).unwrap_or(0);
        let mut chosen = vec![0, low, high, group.len() - 1];
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|index| group[index]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use tcplab_units::Instant;

    use super::*;
    use crate::series::Series;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn lines_are_steps_and_marks_are_of_their_kind() {
        let points = vec![(ms(0), Some(0.0)), (ms(500), Some(3.0)), (ms(1_000), Some(1.0))];
        let line = |class, points| Series { class, label: class.into(), points, steps: true };
        let limit = vec![(ms(0), Some(3.0)), (ms(2_000), Some(3.0))];
        let series = [line("limit", limit), line("waiting", points)];
        let (title, unit) = ("Queue, 100 %", "packets");
        let chart = Chart { title, unit, right: None, series: &series, at_most: None };
        let points = vec![(ms(750), 3.0), (ms(750), 3.0)];
        let marks = [Marks { class: "drop-full", label: "queue full (2)".into(), points }];
        let view = View { from: ms(0), until: ms(2_000), bands: &[] };
        let text = chart_pgf(&chart, &marks, &view);
        assert!(text.contains("title={Queue, 100 \\%}"), "{text}");
        assert!(
            text.contains("  xmin=0, xmax=2,") && text.contains("  ymin=0, ymax=3.18,"),
            "{text}"
        );
        assert!(text.contains("{\n(0,0)\n(0.5,3)\n(1,1)\n};"), "{text}");
        assert_eq!(text.matches("\\addplot[const plot, ").count(), 2, "{text}");
        let dots =
            "\\addplot[only marks, mark=square*, mark size=1.6pt, color=tcplab30363d, forget plot]";
        assert!(text.contains(&format!("{dots} coordinates {{\n(0.75,3)\n}};")), "{text}");
        assert_eq!(text.matches("\\addlegendentry").count(), 3, "{text}");
    }

    #[test]
    fn thinning_keeps_peaks() {
        let points: Vec<(f64, f64)> = [5.0, 9.0, 1.0, 7.0, 6.0].map(|y| (0.5, y)).to_vec();
        assert_eq!(thinned(&points, 1.0), [(0.5, 5.0), (0.5, 9.0), (0.5, 1.0), (0.5, 6.0)]);
    }
}
