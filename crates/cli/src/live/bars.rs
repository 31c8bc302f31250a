//! A series as a row of bars: a title with the latest value, and one column for each step.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Sparkline};

/// A series over the steps of an overview.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) title: String,
    /// The oldest first; none where nothing is known.
    pub(super) values: Vec<Option<u64>>,
    pub(super) colour: Color,
}

impl Series {
    /// Draws it: the title on the first line, below it the latest values, from zero.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let [first, rest] = split_first_line(area);
        frame.render_widget(Paragraph::new(Line::styled(self.title.as_str(), self.colour)), first);
        let from = self.values.len().saturating_sub(rest.width.into());
        let bars = Sparkline::default().style(self.colour);
        frame.render_widget(bars.data(self.values[from..].iter().copied()), rest);
    }
}

/// The first line of an area, and what is below it.
pub(super) fn split_first_line(area: Rect) -> [Rect; 2] {
    let height = area.height.min(1);
    let first = Rect { height, ..area };
    [first, Rect { y: area.y + height, height: area.height - height, ..area }]
}
