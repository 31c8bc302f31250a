//! Columns aligned for a fixed-width font, and the few colours there are.

use std::fmt::Write;

use tcplab_units::visible_line;

/// How a text is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it takes colours (ECMA-48, SGR).
    pub colours: bool,
}

impl Default for Look {
    fn default() -> Look {
        Look { width: 100, colours: false }
    }
}

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    Strong,
    /// Less important.
    Dim,
    /// Unusual.
    Odd,
    /// Bad.
    Bad,
    /// A colour that tells kinds apart: its SGR code.
    Colour(u8),
}

impl Look {
    /// Control characters are shown as such, so that no text can steer the terminal.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        let text = visible_line(text).into_owned();
        let code = match style {
            Style::Plain => return text,
            Style::Strong => 1,
            Style::Dim => 2,
            Style::Odd => 33,
            Style::Bad => 31,
            Style::Colour(code) => code,
        };
        if self.colours && !text.trim().is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text
        }
    }

    pub(crate) fn heading(self, out: &mut String, text: &str) {
        let _ = writeln!(out, "{}", self.paint(text, Style::Strong));
    }

    /// A paragraph, broken between words; `first` comes before its first line, equal indentation
    /// before the others.
    pub(crate) fn paragraph(self, out: &mut String, first: &str, text: &str) {
        let indent = first.chars().count();
        let width = self.width.saturating_sub(indent).max(20);
        for (number, line) in wrapped(text, width).iter().enumerate() {
            let before = if number == 0 { first.to_owned() } else { " ".repeat(indent) };
            let _ = writeln!(out, "{}", visible_line(&format!("{before}{line}")));
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Cell {
        Cell::styled(text, Style::Plain)
    }
    /// Made visible at once: columns are as wide as what is seen.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Cell {
        Cell { text: visible_line(&text.into()).into_owned(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::new(text)
    }
}

/// The side at which a column's text is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A table with columns as wide as needed.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

/// Between columns.
const GAP: &str = "  ";

impl Grid {
    pub(crate) fn new(sides: &[Side]) -> Grid {
        Grid { sides: sides.to_vec(), rows: Vec::new() }
    }
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }
    pub(crate) fn head(&mut self, names: &[&str]) {
        self.row(names.iter().map(|name| Cell::styled(*name, Style::Dim)));
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
        };
        (0..self.sides.len()).map(width).collect()
    }

    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * GAP.len()
    }

    pub(crate) fn drop_column(&mut self, column: usize) {
        self.sides.remove(column);
        for row in &mut self.rows {
            if column < row.len() {
                row.remove(column);
            }
        }
    }

    /// For any width, without colours.
    pub(crate) fn plain(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0, Look { width: usize::MAX, colours: false });
        text
    }

    /// Indents each line, and cuts the last column where it does not fit.
    pub(crate) fn write(&self, out: &mut String, indent: usize, look: Look) {
        let widths = self.widths();
        let last = widths.len().saturating_sub(1);
        let before: usize = widths[..last].iter().map(|width| width + GAP.len()).sum();
        let room = look.width.saturating_sub(indent + before).max(8);
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let text = if column == last { cut(&cell.text, room) } else { cell.text.clone() };
                let padding = " ".repeat(width.saturating_sub(text.chars().count()));
                let painted = look.paint(&text, cell.style);
                match self.sides[column] {
                    Side::Left => line += &format!("{painted}{padding}"),
                    Side::Right => line += &format!("{padding}{painted}"),
                }
                if column < last {
                    line += GAP;
                }
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

/// At most `room` columns of it.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Breaks between words; a longer word stays whole.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
