//! The text of a graph, written into a buffer: numbers by hand, since there are billions of them.

use tcplab_units::Instant;

/// As long as any number of 64 bits.
const DIGITS: usize = 20;
/// Room for seconds, a point and six decimals.
const STAMP: usize = 32;

/// A time as it stands in the file: seconds and six decimals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    text: [u8; STAMP],
    len: u8,
}

impl Stamp {
    /// `at` after a zero that lies `epoch` nanoseconds after the beginning of 1970.
    pub(super) fn new(at: Instant, epoch: u64) -> Stamp {
        let micros = at.as_nanos().saturating_add(epoch) / 1_000;
        let mut line = Line::default();
        line.number(micros / 1_000_000);
        line.byte(b'.');
        let below = micros % 1_000_000;
        for pair_of in [below / 10_000, below / 100 % 100, below % 100] {
            line.fixed(pair(pair_of), 2);
        }
        let mut text = [0; STAMP];
        text.copy_from_slice(&line.text[..STAMP]);
        Stamp { text, len: line.len as u8 }
    }
}

/// A line being written. Pieces are copied in sizes known beforehand, more than is needed, which is
/// several times faster than copying just as much.
#[derive(Debug)]
struct Line {
    text: [u8; 192],
    len: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { text: [0; 192], len: 0 }
    }
}

impl Line {
    fn new(command: &str) -> Line {
        let mut line = Line::default();
        line.word(command);
        line
    }
    /// The first `len` bytes of `text`.
    fn fixed<const N: usize>(&mut self, text: &[u8; N], len: usize) {
        self.text[self.len..self.len + N].copy_from_slice(text);
        self.len += len;
    }
    fn word(&mut self, text: &str) {
        self.text[self.len..self.len + text.len()].copy_from_slice(text.as_bytes());
        self.len += text.len();
    }
    fn byte(&mut self, byte: u8) {
        self.text[self.len] = byte;
        self.len += 1;
    }
    fn number(&mut self, value: u64) {
        // Written towards the front from the middle, so that as many bytes follow as are copied.
        let mut text = [0; 2 * DIGITS];
        let from = digits(&mut text, DIGITS, value);
        let number: &[u8; DIGITS] = text[from..].first_chunk().expect("the rest is longer");
        self.fixed(number, DIGITS - from);
    }
    fn place(&mut self, x: &Stamp, y: u64) {
        self.byte(b' ');
        self.fixed(&x.text, usize::from(x.len));
        self.byte(b' ');
        self.number(y);
    }
    fn place_thousandths(&mut self, x: &Stamp, y: u64) {
        self.place(x, y / 1_000);
        let below = (y % 1_000) as u32;
        let digit = |of: u32| b'0' + (below / of % 10) as u8;
        self.fixed(&[b'.', digit(100), digit(10), digit(1)], 4);
    }
}

/// A graph in the making: what is not yet in its file.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: Vec<u8>,
    /// Whether its file has begun.
    pub(super) begun: bool,
    color: &'static str,
}

impl Page {
    /// A graph with these axes.
    pub(super) fn new(types: &str, x: &str, y: &str) -> Page {
        let text = format!("{types}\nxlabel\n{x}\nylabel\n{y}\n").into_bytes();
        Page { text, begun: false, color: "" }
    }

    /// What follows is of this colour.
    pub(super) fn color(&mut self, name: &'static str) {
        if self.color != name {
            self.color = name;
            self.text.extend_from_slice(name.as_bytes());
            self.text.push(b'\n');
        }
    }

    /// A mark: `dot`, `uarrow`, `htick` and so on.
    pub(super) fn mark(&mut self, command: &str, x: &Stamp, y: u64) {
        let mut line = Line::new(command);
        line.place(x, y);
        self.put(line);
    }

    /// A mark of another colour.
    pub(super) fn mark_in(&mut self, command: &str, x: &Stamp, y: u64, color: &str) {
        let mut line = Line::new(command);
        line.place(x, y);
        line.byte(b' ');
        line.word(color);
        self.put(line);
    }

    /// A word at a place: `atext` above it, `rtext` right of it.
    pub(super) fn word(&mut self, command: &str, x: &Stamp, y: u64, text: &str) {
        self.mark(command, x, y);
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
    }

    /// A line from one place to another.
    pub(super) fn line(&mut self, from: (&Stamp, u64), to: (&Stamp, u64)) {
        let mut line = Line::new("line");
        line.place(from.0, from.1);
        line.place(to.0, to.1);
        self.put(line);
    }

    /// A dot in thousandths, and a line to it from the one before.
    pub(super) fn thousandths(&mut self, x: &Stamp, y: u64, before: Option<(Stamp, u64)>) {
        let mut line = Line::new("dot");
        line.place_thousandths(x, y);
        self.put(line);
        if let Some((stamp, value)) = before {
            let mut line = Line::new("line");
            line.place_thousandths(x, y);
            line.place_thousandths(&stamp, value);
            self.put(line);
        }
    }

    fn put(&mut self, mut line: Line) {
        line.byte(b'\n');
        self.text.extend_from_slice(&line.text[..line.len]);
    }

    /// The title and the mark of the end.
    pub(super) fn end(&mut self, title: &str) {
        self.text.extend_from_slice(b"title\n");
        self.text.extend_from_slice(title.as_bytes());
        self.text.extend_from_slice(b"\ngo\n");
    }
}

/// Writes a number so that it ends before `end`; where it begins.
fn digits(text: &mut [u8], end: usize, mut value: u64) -> usize {
    let mut from = end;
    while value >= 100 {
        from -= 2;
        text[from..from + 2].copy_from_slice(pair(value % 100));
        value /= 100;
    }
    if value >= 10 {
        from -= 2;
        text[from..from + 2].copy_from_slice(pair(value));
    } else {
        from -= 1;
        text[from] = b'0' + value as u8;
    }
    from
}

/// The two digits of a number below 100.
fn pair(value: u64) -> &'static [u8; 2] {
    const PAIRS: [[u8; 2]; 100] = {
        let mut pairs = [[0; 2]; 100];
        let mut n = 0;
        while n < 100 {
            pairs[n] = [b'0' + n as u8 / 10, b'0' + n as u8 % 10];
            n += 1;
        }
        pairs
    };
    &PAIRS[value as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_others_write_them() {
        for value in [0, 9, 10, 99, 100, 101, 1_000, 65_535, 4_294_967_295, 4_294_967_296, u64::MAX]
        {
            let mut line = Line::default();
            line.number(value);
            assert_eq!(std::str::from_utf8(&line.text[..line.len]).unwrap(), value.to_string());
            let stamp = Stamp::new(Instant::from_nanos(value), 0);
            let micros = value / 1_000;
            let expected = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            assert_eq!(
                std::str::from_utf8(&stamp.text[..usize::from(stamp.len)]).unwrap(),
                expected
            );
        }
    }
}
