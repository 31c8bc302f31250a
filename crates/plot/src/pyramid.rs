//! Levels of detail: the strokes of a layer at several finenesses, each a quarter of the columns of
//! the one before, in tiles. Who draws takes the level whose columns are about a pixel wide and the
//! tiles that are seen, so it takes as long for millions of packets as for thousands.
//!
//! Nothing vanishes: at each level each stroke of the data is inside one that is drawn, in its
//! column. Nothing is made up: what is drawn begins and ends where data do, and spans no hole
//! higher than the level's row.

use tcplab_units::Instant;

/// Strokes or points of a tile, the unit of unpacking.
const TILE: usize = 8_192;
/// The coarsest level has at most this many columns and at least a quarter; its rows make a hole of
/// half a pixel visible.
const COLUMNS: u64 = 2_048;
const ROWS: u64 = 1_024;
/// Between levels.
const FACTOR: u64 = 4;
/// A level with hardly fewer strokes than the one below is left out.
const WORTH: f64 = 0.7;

/// A layer at all its levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerLevels {
    /// The layer's CSS class.
    pub class: &'static str,
    /// Whether it is a line whose value holds until the next point, else strokes.
    pub is_line: bool,
    /// The finest first.
    pub levels: Vec<Level>,
}

/// A layer at one fineness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Microseconds of a column.
    pub column: u64,
    /// In order of time.
    pub tiles: Vec<Tile>,
}

/// A part of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Its first and its last column.
    pub columns: (u64, u64),
    /// Strokes, or points.
    pub count: usize,
    /// Three numbers for each stroke, two for each point, as LEB128: columns since the previous
    /// one, bytes from its end to this one's beginning (zigzag), bytes to the end; both start at 0.
    pub bytes: Vec<u8>,
}

/// A stroke: microseconds from the left edge, and the sequence numbers it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) x: u64,
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl Mark {
    pub(crate) fn new(from: Instant, at: Instant, low: u64, high: u64) -> Mark {
        Mark { x: at.since(from).as_nanos() / 1_000, low, high }
    }
}

/// The strokes of a layer at all levels; `until` is the right edge and `most` the upper one.
pub(crate) fn strokes(class: &'static str, mut marks: Vec<Mark>, edges: (u64, u64)) -> LayerLevels {
    marks.sort_unstable();
    marks.dedup();
    let levels = levels(edges, marks, merged);
    let levels = levels.into_iter().map(|(column, marks)| Level {
        column,
        tiles: marks.chunks(TILE).map(|marks| stroke_tile(marks, column)).collect(),
    });
    LayerLevels { class, is_line: false, levels: levels.collect() }
}

/// A line at all levels, of points in order of time.
pub(crate) fn line(class: &'static str, points: &[(u64, u64)], edges: (u64, u64)) -> LayerLevels {
    let marks = points.iter().map(|(x, y)| Mark { x: *x, low: *y, high: *y }).collect();
    let levels = levels(edges, marks, |marks, column, _| thinned(marks, column));
    let levels = levels.into_iter().map(|(column, marks)| Level {
        column,
        tiles: marks.chunks(TILE).map(|marks| point_tile(marks, column)).collect(),
    });
    LayerLevels { class, is_line: true, levels: levels.collect() }
}

/// The finest level, by microseconds, and those above it.
fn levels(
    (until, most): (u64, u64),
    marks: Vec<Mark>,
    coarser: impl Fn(&[Mark], u64, u64) -> Vec<Mark>,
) -> Vec<(u64, Vec<Mark>)> {
    // Columns of a level are whole columns of the one below.
    let widest = until.div_ceil(COLUMNS);
    let columns = (1..).map(|level| FACTOR.saturating_pow(level));
    let columns = columns.take_while(|column| *column < widest * FACTOR);
    let mut levels = vec![(1, marks)];
    for column in columns {
        let row = most / ROWS * column / widest.max(1);
        let (_, below) = levels.last().expect("the finest level is there");
        let here = coarser(below, column, row);
        if (here.len() as f64) < below.len() as f64 * WORTH {
            levels.push((column, here));
        }
    }
    levels
}

/// The strokes in columns of `column` microseconds, joined if at most `row` apart.
fn merged(marks: &[Mark], column: u64, row: u64) -> Vec<Mark> {
    let mut merged: Vec<Mark> = Vec::with_capacity(marks.len() / 2);
    let mut own: Vec<Mark> = Vec::new();
    for together in marks.chunk_by(|a, b| a.x / column == b.x / column) {
        own.clear();
        own.extend_from_slice(together);
        own.sort_unstable_by_key(|mark| (mark.low, mark.high));
        let begin = merged.len();
        for mark in &own {
            match merged[begin..].last_mut() {
                Some(last) if mark.low <= last.high + row => last.high = last.high.max(mark.high),
                _ => merged.push(Mark { x: together[0].x, ..*mark }),
            }
        }
    }
    merged
}

/// The first, lowest, highest and last point of each column.
fn thinned(points: &[Mark], column: u64) -> Vec<Mark> {
    let mut kept = Vec::new();
    for together in points.chunk_by(|a, b| a.x / column == b.x / column) {
        let low = (0..together.len()).min_by_key(|i| together[*i].low).unwrap_or(0);
        let high = (0..together.len()).max_by_key(|i| together[*i].low).unwrap_or(0);
        let mut indices = [0, low, high, together.len() - 1];
        indices.sort_unstable();
        let mut before = None;
        for index in indices {
            if before != Some(index) {
                kept.push(together[index]);
            }
            before = Some(index);
        }
    }
    kept
}

fn stroke_tile(marks: &[Mark], column: u64) -> Tile {
    tile(marks, column, |bytes, mark, end| {
        number(bytes, zigzag(mark.low, end));
        number(bytes, mark.high - mark.low);
    })
}

fn point_tile(marks: &[Mark], column: u64) -> Tile {
    tile(marks, column, |bytes, mark, before| number(bytes, zigzag(mark.low, before)))
}

fn tile(marks: &[Mark], column: u64, rest: impl Fn(&mut Vec<u8>, &Mark, u64)) -> Tile {
    let mut bytes = Vec::with_capacity(marks.len() * 5);
    let (mut place, mut end) = (0, 0);
    for mark in marks {
        number(&mut bytes, mark.x / column - place);
        rest(&mut bytes, mark, end);
        (place, end) = (mark.x / column, mark.high);
    }
    let at = |mark: Option<&Mark>| mark.map_or(0, |mark| mark.x / column);
    Tile { columns: (at(marks.first()), at(marks.last())), count: marks.len(), bytes }
}

/// The difference of two numbers: even if positive, odd if negative.
fn zigzag(to: u64, from: u64) -> u64 {
    if to >= from { (to - from) * 2 } else { (from - to) * 2 - 1 }
}

fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests;
