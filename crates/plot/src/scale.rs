//! From values to coordinates, and to the numbers beside an axis.

use tcplab_units::{Instant, Span, rounded};

/// The marks of an axis: multiples of a nice step inside the range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    /// Distance from one to the next: 1, 2 or 5 times a power of ten.
    pub(crate) step: f64,
    /// Decimals that distinguish neighbours.
    pub(crate) decimals: usize,
    /// Where they are, in rising order.
    pub(crate) at: Vec<f64>,
}

impl Ticks {
    /// At most `most` ticks between `low` and `high`; one at `low` for an empty range.
    pub(crate) fn between(low: f64, high: f64, most: usize) -> Ticks {
        let range = high - low;
        if !range.is_finite() || range <= 0.0 {
            return Ticks { step: 1.0, decimals: 0, at: vec![low] };
        }
        let rough = range / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * power)
            .find(|step| *step >= rough * 0.999_999)
            .unwrap_or(10.0 * power);
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let first = (low / step - 1e-6).ceil() as i64;
        let last = (high / step + 1e-6).floor() as i64;
        Ticks { step, decimals, at: (first..=last).map(|n| n as f64 * step).collect() }
    }

    /// The number beside a mark.
    pub(crate) fn label(&self, value: f64) -> String {
        rounded::decimal(value, self.decimals)
    }
}

/// The unit for ticks `step` bytes apart that needs at most one decimal: its bytes and its name.
pub(crate) fn byte_unit(step: f64) -> (f64, &'static str) {
    match step {
        v if v >= 1e8 => (1e9, "GB"),
        v if v >= 1e5 => (1e6, "MB"),
        v if v >= 1e2 => (1e3, "kB"),
        _ => (1.0, "B"),
    }
}

/// Planes have fewer columns and rows, because browsers draw with single precision.
pub(crate) const MOST_UNITS: i64 = 1 << 24;
/// The finest column of a plane.
const FINEST: Span = Span::from_micros(10);

/// What is to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Across {
    Time,
    /// Sequence numbers of a direction's bytes.
    Sequence,
}

/// The scales of a plane in whole units: time or sequence numbers to the right, values upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) across: Across,
    /// The left edge, in nanoseconds or bytes.
    from: u64,
    /// The right edge: a whole number of columns from `from`.
    until: u64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) columns: i64,
    pub(crate) rows: i64,
    /// Nanoseconds or bytes of a column.
    column: u64,
}

impl Scale {
    /// A plane from `from` to `until` or a little further, in columns of 10 µs or, for long times,
    /// of 2, 5 or 10 times as much; and of `rows` rows from `low` to `high`.
    pub(crate) fn new(from: Instant, until: Instant, low: f64, high: f64, rows: i64) -> Scale {
        let edges = (from.as_nanos(), until.as_nanos());
        Scale::wide(Across::Time, edges, FINEST.as_nanos(), (low, high), rows)
    }

    /// A plane over time of bytes from 0 to `high` or a little further.
    pub(crate) fn of_bytes(from: Instant, until: Instant, high: u64) -> Scale {
        let (rows, high) = rows_up_to(high);
        Scale::new(from, until, 0.0, high, rows)
    }

    /// A plane of the sequence numbers from 0 to `until`, in columns of a byte or, for very many,
    /// of 2, 5 or 10 times as much; and of milliseconds from 0 to `high`. Both may end a little
    /// further.
    pub(crate) fn of_sequence(until: u64, high: Span) -> Scale {
        let (rows, high) = rows_up_to(high.as_nanos() / 1_000);
        Scale::wide(Across::Sequence, (0, until), 1, (0.0, high / 1e3), rows)
    }

    /// A plane over time of milliseconds from 0 to `high` or a little further.
    pub(crate) fn of_round_trips(from: Instant, until: Instant, high: Span) -> Scale {
        let (rows, high) = rows_up_to(high.as_nanos() / 1_000);
        Scale::new(from, until, 0.0, high / 1e3, rows)
    }

    fn wide(
        across: Across,
        (from, until): (u64, u64),
        finest: u64,
        (low, high): (f64, f64),
        rows: i64,
    ) -> Scale {
        let range = until.saturating_sub(from).max(1);
        let column = (0..17)
            .flat_map(|power| [1, 2, 5].map(|n| n * 10u64.pow(power)))
            .find(|column| *column >= finest && range / column < MOST_UNITS as u64)
            .unwrap_or(u64::MAX);
        let columns = range.div_ceil(column);
        let until = from.saturating_add(columns.saturating_mul(column));
        Scale { across, from, until, low, high, columns: columns as i64, rows, column }
    }

    /// The left edge of a plane over time.
    pub(crate) fn from(&self) -> Instant {
        Instant::from_nanos(self.from)
    }

    /// The right edge of a plane over time.
    pub(crate) fn until(&self) -> Instant {
        Instant::from_nanos(self.until)
    }

    /// Both edges, in seconds or bytes.
    pub(crate) fn edges(&self) -> (f64, f64) {
        match self.across {
            Across::Time => (self.from().as_secs_f64(), self.until().as_secs_f64()),
            Across::Sequence => (self.from as f64, self.until as f64),
        }
    }

    /// Columns from the left edge; outside the plane for times outside the range.
    pub(crate) fn x(&self, at: Instant) -> i64 {
        self.column_of(at.as_nanos())
    }

    /// Columns from the left edge of a plane of sequence numbers.
    pub(crate) fn x_of_sequence(&self, number: u64) -> i64 {
        self.column_of(number)
    }

    fn column_of(&self, place: u64) -> i64 {
        ((place as f64 - self.from as f64) / self.column as f64).round() as i64
    }

    /// Rows from the top edge.
    pub(crate) fn y(&self, value: f64) -> i64 {
        let range = (self.high - self.low).max(f64::MIN_POSITIVE);
        ((self.high - value) / range * self.rows as f64).round() as i64
    }
}

/// A row for each number from 0, or for several where there are very many; and where they end.
fn rows_up_to(high: u64) -> (i64, f64) {
    let high = i64::try_from(high).unwrap_or(i64::MAX);
    let per_row = high / MOST_UNITS + 1;
    let rows = high / per_row + 1;
    (rows, rows as f64 * per_row as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_nice_and_inside() {
        for (low, high, most, labels) in [
            (0.0, 20.4, 10, "0 5 10 15 20"),
            (5.2, 5.31, 6, "5.20 5.22 5.24 5.26 5.28 5.30"),
            (0.0, 451.84, 5, "0 100 200 300 400"),
            (0.0, 12_000.0, 4, "0 5,000 10,000"),
            (-1.0, 1.0, 4, "-1.0 -0.5 0.0 0.5 1.0"),
            (3.0, 3.0, 4, "3"),
        ] {
            let ticks = Ticks::between(low, high, most);
            let texts: Vec<_> = ticks.at.iter().map(|t| ticks.label(*t)).collect();
            assert_eq!(texts.join(" "), labels, "{low} to {high}");
        }
    }

    #[test]
    fn planes_are_exact_until_they_grow_too_wide() {
        for (seconds, column) in [(0, 10_000), (17, 10_000), (167, 10_000), (168, 20_000)] {
            let until = Instant::from_nanos(seconds * 1_000_000_000 + 1);
            let scale = Scale::new(Instant::ZERO, until, 0.0, 10e6, 10_000_000);
            assert_eq!(scale.column, column, "{seconds} s");
            assert!(scale.columns <= MOST_UNITS && scale.until() >= until);
            assert_eq!(scale.x(scale.until()), scale.columns);
            assert_eq!(scale.y(1448.0), 10_000_000 - 1448);
        }
        for (bytes, column) in [(0, 1), (16_000_000, 1), (17_000_000, 2), (1 << 40, 100_000)] {
            let scale = Scale::of_sequence(bytes, Span::from_millis(20));
            assert_eq!(scale.column, column, "{bytes} bytes");
            assert!(scale.columns <= MOST_UNITS && scale.edges().1 >= bytes as f64);
            assert_eq!(scale.x_of_sequence(scale.until), scale.columns);
            assert_eq!(scale.y(8.5), 20_001 - 8_500, "a row is a microsecond");
        }
        for most in [u64::MAX, 1 << 63] {
            let scale = Scale::of_sequence(most, Span::from_nanos(most));
            assert!(scale.columns.max(scale.rows) <= MOST_UNITS, "{scale:?}");
            assert!(Scale::of_bytes(Instant::ZERO, Instant::ZERO, most).rows <= MOST_UNITS);
        }
    }

    #[test]
    fn marks_of_bytes_need_one_decimal_at_most() {
        for (high, unit) in [(10.4e6, "MB"), (0.7e6, "MB"), (70e3, "kB"), (1_448.0, "kB")] {
            let ticks = Ticks::between(0.0, high, 8);
            assert_eq!(byte_unit(ticks.step).1, unit, "{high}");
        }
        assert_eq!(byte_unit(50.0).1, "B");
    }
}
