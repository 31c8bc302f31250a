//! Bars over time, in named rows.

use tcplab_units::Instant;

use crate::path_data::PathData;
use crate::plane::{CHART_ROWS, Figure, Graph, Layer};
use crate::scale::Scale;
use crate::view::{Unit, View};

/// Pixels of a row: its name, and below that its bars.
const ROW: i64 = 30;
/// Height of a bar's middle in its row.
const MIDDLE: f64 = 0.74;

/// What to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bars<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The names of the rows, from the top.
    pub rows: &'a [String],
    /// Each layer's CSS class, label and bars; the lowermost first.
    pub layers: &'a [(&'static str, &'static str, Vec<Bar>)],
}

/// One stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Index of its row.
    pub row: usize,
    /// Its beginning.
    pub from: Instant,
    /// Its end; a bar without length is visible too.
    pub until: Instant,
}

/// Draws the bars.
pub fn bars(bars: &Bars<'_>, view: &View<'_>) -> Figure {
    let count = bars.rows.len().max(1);
    let scale = Scale::new(view.from, view.until, 0.0, count as f64, CHART_ROWS);
    let layers = bars.layers.iter().map(|(class, label, drawn)| {
        let mut path = PathData::default();
        for bar in drawn {
            let y = scale.y(count as f64 - bar.row as f64 - MIDDLE);
            let from = scale.x(bar.from);
            path.move_to(from, y);
            path.line_to(scale.x(bar.until).max(from + 1), y);
        }
        Layer { class, label: (*label).into(), path: path.finish(), is_off: false }
    });
    Graph {
        kind: "bars",
        id: "",
        title: bars.title,
        summary: summary(bars),
        bands: view.bands,
        scale,
        unit: Unit::Rows(bars.rows.to_vec()),
        right: None,
        height: ROW * count as i64,
        layers: layers.collect(),
    }
    .figure()
}

fn summary(bars: &Bars<'_>) -> String {
    let rows = bars.rows.iter().enumerate().filter_map(|(index, name)| {
        let of_row = || bars.layers.iter().flat_map(|it| &it.2).filter(|bar| bar.row == index);
        let (from, until) =
            (of_row().map(|bar| bar.from).min()?, of_row().map(|bar| bar.until).max()?);
        let (from, until) = (from.as_secs_f64(), until.as_secs_f64());
        Some(format!("{name} from {from:.3} s to {until:.3} s"))
    });
    format!("{}: {}.", bars.title, rows.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_their_rows_even_without_length() {
        let ms = |n| Instant::ZERO + tcplab_units::Span::from_millis(n);
        let rows = ["client read".to_string(), "server <close>".to_string()];
        let bar = |row, from, until| Bar { row, from: ms(from), until: ms(until) };
        let layers =
            [("call", "a call", vec![bar(0, 10, 30), bar(1, 40, 40)]), ("failed", "", vec![])];
        let view = View { from: Instant::ZERO, until: ms(100), bands: &[] };
        let figure = bars(&Bars { title: "Calls", rows: &rows, layers: &layers }, &view);
        // 10 µs to a column; rows of 16384, bars at 74 % of each.
        assert!(figure.svg.contains(r#"class="call" d="M1000 12124h2000m1000 16384h1""#));
        assert!(figure.svg.contains(r#"data-rows="client read|server &lt;close&gt;""#));
        assert!(figure.svg.contains(">server &lt;close&gt;</text>"), "{}", figure.svg);
        assert!(figure.svg.contains("client read from 0.010 s to 0.030 s; "), "{}", figure.svg);
        // An empty layer needs no legend.
        assert_eq!(figure.legend.len(), 1);
    }
}
