//! What must hold of every level of any data.

use tcplab_units::Rng;

use super::*;

/// A tile as the page reads it: column, low, high.
fn read(tile: &Tile, is_line: bool) -> Vec<(u64, u64, u64)> {
    let mut numbers = Vec::new();
    let (mut value, mut shift) = (0u64, 0);
    for byte in &tile.bytes {
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            numbers.push(value);
            (value, shift) = (0, 0);
        }
    }
    let (mut place, mut end) = (0, 0u64);
    let strokes = numbers.chunks(if is_line { 2 } else { 3 }).map(|part| {
        place += part[0];
        let way = part[1] / 2;
        let low = if part[1] % 2 == 0 { end + way } else { end - way - 1 };
        end = low + part.get(2).copied().unwrap_or(0);
        (place, low, end)
    });
    let strokes: Vec<_> = strokes.collect();
    assert_eq!(strokes.len(), tile.count);
    assert_eq!(strokes.first().map(|it| it.0), Some(tile.columns.0));
    assert_eq!(strokes.last().map(|it| it.0), Some(tile.columns.1));
    strokes
}

/// A plausible transfer: mostly in order, with holes, retransmissions, silences and bursts.
fn made_up(seed: u64, count: u64) -> Vec<Mark> {
    let mut rng = Rng::new(seed, "pyramid");
    let (mut x, mut next) = (rng.below(1_000), 0);
    let spacing = 1 + rng.below(400);
    (0..count)
        .map(|_| {
            x += match rng.below(1_000) {
                0 => rng.below(2_000_000),
                1..400 => 0,
                _ => rng.below(spacing),
            };
            let size = 1 + rng.below(1_448);
            let low = match rng.below(100) {
                0..4 => next - rng.below(next.min(600_000) + 1),
                4 => {
                    next += rng.below(200_000);
                    next
                }
                _ => next,
            };
            next = next.max(low + size);
            Mark { x, low, high: low + size }
        })
        .collect()
}

#[test]
fn each_level_covers_exactly_the_strokes() {
    for seed in 0..5 {
        let marks = made_up(seed, 1_500);
        let until = marks.iter().map(|it| it.x).max().unwrap();
        let most = marks.iter().map(|it| it.high).max().unwrap();
        let layer = strokes("fast", marks.clone(), (until, most));
        assert!(layer.levels.len() > 2, "{} levels", layer.levels.len());
        for level in &layer.levels {
            let row = most / ROWS * level.column / until.div_ceil(COLUMNS);
            let all: Vec<_> = level.tiles.iter().flat_map(|tile| read(tile, false)).collect();
            assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in order of time");
            for mark in &marks {
                let column = mark.x / level.column;
                let first = all.partition_point(|it| it.0 < column);
                let own = all[first..].iter().take_while(|it| it.0 == column);
                let holds = own.clone().any(|it| it.1 <= mark.low && it.2 >= mark.high);
                assert!(holds, "{mark:?} is not drawn in columns of {}", level.column);
            }
            for (column, low, high) in &all {
                let mut own: Vec<&Mark> = marks
                    .iter()
                    .filter(|it| {
                        it.x / level.column == *column && it.low >= *low && it.high <= *high
                    })
                    .collect();
                own.sort_by_key(|it| it.low);
                assert_eq!(own.first().map(|it| it.low), Some(*low), "begins where data do");
                assert_eq!(own.iter().map(|it| it.high).max(), Some(*high), "ends where data do");
                let mut reached = *low;
                for mark in own {
                    assert!(mark.low <= reached + row, "a hole is filled: {mark:?}");
                    reached = reached.max(mark.high);
                }
            }
        }
    }
}

#[test]
fn coarsest_level_of_long_transfer_is_small() {
    let marks: Vec<Mark> =
        (0..400_000).map(|n| Mark { x: n * 12, low: n * 1_448, high: (n + 1) * 1_448 }).collect();
    let layer = strokes("data", marks, (400_000 * 12, 400_000 * 1_448));
    let counts: Vec<usize> =
        layer.levels.iter().map(|level| level.tiles.iter().map(|it| it.count).sum()).collect();
    assert_eq!(counts[0], 400_000);
    assert!(*counts.last().unwrap() <= 2_100, "{counts:?}");
    assert!(counts.windows(2).all(|pair| pair[1] < pair[0]), "{counts:?}");
    let bytes: usize = layer.levels[0].tiles.iter().map(|it| it.bytes.len()).sum();
    assert!(bytes <= 400_000 * 4 + 1_000, "{bytes} bytes");
}

#[test]
fn lines_keep_their_ends_and_their_extremes() {
    let points: Vec<(u64, u64)> = (0..50_000).map(|n| (n * 37, (n * 7_919) % 100_003)).collect();
    let layer = line("edge", &points, (50_000 * 37, 100_003));
    for level in &layer.levels {
        let all: Vec<_> = level.tiles.iter().flat_map(|tile| read(tile, true)).collect();
        for together in points.chunk_by(|a, b| a.0 / level.column == b.0 / level.column) {
            let column = together[0].0 / level.column;
            let first = all.partition_point(|it| it.0 < column);
            let own: Vec<u64> =
                all[first..].iter().take_while(|it| it.0 == column).map(|it| it.1).collect();
            let ys = || together.iter().map(|it| it.1);
            assert_eq!(own.first(), together.first().map(|it| &it.1));
            assert_eq!(own.last(), together.last().map(|it| &it.1));
            assert_eq!(own.iter().min().copied(), ys().min());
            assert_eq!(own.iter().max().copied(), ys().max());
        }
    }
    assert!(layer.levels.len() >= 2);
}

#[test]
fn few_or_no_strokes_have_levels() {
    for count in [0, 1] {
        let marks = vec![Mark { x: 7, low: 1, high: 2 }; count];
        let layer = strokes("data", marks, (1_000_000, 2));
        assert_eq!(layer.levels.len(), 1);
        assert_eq!(layer.levels[0].tiles.len(), count);
    }
}
