//! SVG path data in whole numbers and relative steps: a thousand segments in a few kilobytes.

use std::fmt::Write as _;

/// A path. Coordinates are plane units ([`crate::plane`]).
#[derive(Debug, Clone, Default)]
pub(crate) struct PathData {
    text: String,
    /// The current place; none before the first move.
    pen: Option<(i64, i64)>,
    /// The last command letter, which the next numbers can share.
    command: char,
}

impl PathData {
    pub(crate) fn move_to(&mut self, x: i64, y: i64) {
        match self.pen {
            None => self.write('M', &[x, y]),
            Some((px, py)) => {
                self.command = ' '; // numbers after `m` would be lines
                self.write('m', &[x - px, y - py]);
            }
        }
        self.pen = Some((x, y));
    }

    /// Draws a line; moves if nothing was drawn yet.
    pub(crate) fn line_to(&mut self, x: i64, y: i64) {
        let Some((px, py)) = self.pen else { return self.move_to(x, y) };
        match (x - px, y - py) {
            (0, 0) => {}
            (dx, 0) => self.write('h', &[dx]),
            (0, dy) => self.write('v', &[dy]),
            (dx, dy) => self.write('l', &[dx, dy]),
        }
        self.pen = Some((x, y));
    }

    /// A vertical stroke, at least one unit long so that every renderer shows it.
    pub(crate) fn stroke(&mut self, x: i64, from: i64, to: i64) {
        self.move_to(x, from);
        self.line_to(x, if from == to { to - 1 } else { to });
    }

    /// The text of a closed shape.
    fn close(mut self) -> String {
        self.text.push('Z');
        self.text
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn write(&mut self, command: char, numbers: &[i64]) {
        let mut first = self.command != command;
        if first {
            self.text.push(command);
            self.command = command;
        }
        for number in numbers {
            if !first && *number >= 0 {
                self.text.push(' ');
            }
            first = false;
            write!(self.text, "{number}").expect("a String takes what it is given");
        }
    }
}

/// A vertical stroke at `x` from `from` up to `to` (`to` ≤ `from`, since y grows downwards).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stroke {
    pub(crate) x: i64,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// The most strokes of a layer before columns widen: about 100 kB of path data.
pub(crate) const STROKES: usize = 10_000;

/// Draws `strokes` as one path, separately if there are at most `budget`. Otherwise joins those in
/// a column that touch, and widens columns until the budget suffices or a column is `widest`.
/// Strokes that do not touch are never joined, so a hole stays a hole.
pub(crate) fn strokes(mut strokes: Vec<Stroke>, budget: usize, widest: i64) -> String {
    strokes.sort_unstable();
    let mut column = 1;
    while strokes.len() > budget {
        // Strokes joined in narrow columns are joined in wider ones too.
        strokes = merge(&strokes, column);
        if strokes.len() <= budget || column >= widest {
            break;
        }
        column *= 2;
    }
    let mut path = PathData::default();
    for stroke in strokes {
        path.stroke(stroke.x, stroke.from, stroke.to);
    }
    path.finish()
}

/// Draws places as one path, each by itself if there are at most `budget`. Otherwise those in one
/// cell, so many units across and down, are one dot in its middle.
pub(crate) fn dots(
    mut places: Vec<(i64, i64)>,
    budget: usize,
    (across, down): (i64, i64),
) -> String {
    places.sort_unstable();
    places.dedup();
    if places.len() > budget {
        let middle = |at: i64, cell: i64| at.div_euclid(cell) * cell + cell / 2;
        for place in &mut places {
            *place = (middle(place.0, across), middle(place.1, down));
        }
        places.sort_unstable();
        places.dedup();
    }
    let mut path = PathData::default();
    for (x, y) in places {
        path.stroke(x, y, y);
    }
    path.finish()
}

fn merge(strokes: &[Stroke], column: i64) -> Vec<Stroke> {
    let mut by_column: Vec<Stroke> = strokes
        .iter()
        .map(|s| Stroke { x: s.x.div_euclid(column) * column + column / 2, ..*s })
        .collect();
    // Lowest first within a column, so that touching strokes are neighbours.
    by_column.sort_unstable_by_key(|s| (s.x, -s.from, s.to));
    let mut merged: Vec<Stroke> = Vec::with_capacity(by_column.len());
    for stroke in by_column {
        match merged.last_mut() {
            Some(last) if last.x == stroke.x && stroke.from >= last.to => {
                last.to = last.to.min(stroke.to);
            }
            _ => merged.push(stroke),
        }
    }
    merged
}

/// A line through `points`, interrupted at `None`. With `steps` a value holds until the next. Of
/// points closer than `column` the first, lowest, highest and last stay, so that peaks are kept.
pub(crate) fn polyline(points: &[(i64, Option<i64>)], steps: bool, column: i64) -> String {
    let mut path = PathData::default();
    let mut lifted = true;
    let mut held = None;
    for (x, y) in thin(points, column) {
        let before: Option<i64> = held;
        held = y;
        match (y, before) {
            (None, Some(before)) if steps => path.line_to(x, before),
            (None, _) => {}
            (Some(y), _) if lifted => path.move_to(x, y),
            (Some(y), before) => {
                if let Some(before) = before.filter(|_| steps) {
                    path.line_to(x, before);
                }
                path.line_to(x, y);
            }
        }
        lifted = y.is_none();
    }
    path.finish()
}

/// The area between two step lines, given by the beginning and value of each step; both end at
/// `end`.
pub(crate) fn area(low: &[(i64, i64)], high: &[(i64, i64)], end: i64) -> String {
    let mut path = PathData::default();
    let Some((first, _)) = high.first() else { return String::new() };
    let mut level = None;
    for (x, y) in high {
        if let Some(level) = level {
            path.line_to(*x, level);
        }
        path.line_to(*x, *y);
        level = Some(*y);
    }
    path.line_to(end, level.unwrap_or_default());
    let mut right = end;
    for (x, y) in low.iter().rev() {
        path.line_to(right, *y);
        path.line_to((*x).max(*first), *y);
        right = *x;
    }
    path.close()
}

fn thin(points: &[(i64, Option<i64>)], column: i64) -> Vec<(i64, Option<i64>)> {
    let mut kept = Vec::with_capacity(points.len());
    for group in points.chunk_by(|a, b| {
        a.0.div_euclid(column) == b.0.div_euclid(column) && a.1.is_some() == b.1.is_some()
    }) {
        let low = (0..group.len()).max_by_key(|i| group[*i].1);
        let high = (0..group.len()).min_by_key(|i| group[*i].1);
        let mut indices = vec![0, group.len() - 1];
        indices.extend(low);
        indices.extend(high);
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|i| group[i]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_relative_and_share_their_letter() {
        let mut path = PathData::default();
        path.stroke(10, 100, 90);
        path.stroke(14, 90, 85);
        path.line_to(20, 85);
        path.line_to(25, 85);
        path.line_to(26, 80);
        path.line_to(28, 79);
        path.line_to(28, 79);
        assert_eq!(path.finish(), "M10 100v-10m4 0v-5h6 5l1-5 2-1");
    }

    #[test]
    fn strokes_join_only_where_they_touch() {
        let stroke = |x, from, to| Stroke { x, from, to };
        let drawn = vec![
            stroke(1, 100, 90),
            stroke(1, 90, 80),
            stroke(1, 60, 50), // a hole between 80 and 60
            stroke(2, 50, 50), // nothing high, still seen
        ];
        assert_eq!(strokes(drawn.clone(), 10, 64), "M1 60v-10m0 40v-10m0 20v-10m1-40v-1");
        // Too many: those that touch are joined, then columns widen; the hole remains.
        assert_eq!(strokes(drawn.clone(), 3, 64), "M1 100v-20m0-20v-10m1 0v-1");
        assert_eq!(strokes(drawn.clone(), 2, 64), "M2 100v-20m0-20v-10");
        assert_eq!(strokes(drawn, 1, 4), "M2 100v-20m0-20v-10", "a hole is never filled");
    }

    #[test]
    fn dots_share_cells_only_where_there_are_too_many() {
        let places = vec![(1, 90), (0, 90), (9, 10), (1, 90), (2, 12)];
        assert_eq!(dots(places.clone(), 4, (8, 8)), "M0 90v-1m1 1v-1m1-77v-1m7-1v-1");
        assert_eq!(dots(places.clone(), 3, (2, 4)), "M1 90v-1m2-75v-1m6-3v-1");
        assert_eq!(dots(places, 3, (8, 8)), "M4 12v-1m0 81v-1m8-79v-1");
        assert_eq!(dots(vec![], 0, (1, 1)), "");
    }

    #[test]
    fn area_follows_both_step_lines() {
        assert_eq!(area(&[(0, 9)], &[(0, 5), (4, 2)], 10), "M0 5h4v-3h6v7h-10Z");
        assert_eq!(area(&[(0, 9), (6, 8)], &[(0, 5)], 10), "M0 5h10v3h-4v1h-6Z");
        assert_eq!(area(&[], &[], 10), "");
    }

    #[test]
    fn thinning_keeps_peaks() {
        let points: Vec<_> = [5, 9, 1, 7, 6].iter().map(|y| (3, Some(*y))).collect();
        assert_eq!(polyline(&points, false, 16), "M3 5v4-8 5");
        let held = [(0, Some(10)), (4, Some(6)), (9, None), (12, Some(2))];
        assert_eq!(polyline(&held, true, 1), "M0 10h4v-4h5m3-4");
    }
}
