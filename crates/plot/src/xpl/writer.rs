//! The text of a graph, written into a buffer: numbers by hand, since there are billions of them.
//! A time, number or word of several lines is formatted once. Pieces are copied
//! in sizes known beforehand, more than is needed, which is several times faster than copying just
//! as much.

use tcplab_units::Instant;

/// Bytes for a time or a number: 20 digits, a point, six decimals, two blanks.
const PIECE: usize = 32;
/// Bytes for a line: a command and two places in thousandths, rounded up for copying.
const LINE: usize = 192;

/// A colour or command: `dot`, `uarrow`, `htick` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    text: [u8; 8],
    len: u8,
}

impl Word {
    const fn new(word: &str) -> Word {
        let (mut text, mut len) = ([0; 8], 0);
        while len < word.len() {
            text[len] = word.as_bytes()[len];
            len += 1;
        }
        Word { text, len: len as u8 }
    }
}

pub(super) const WHITE: Word = Word::new("white");
pub(super) const GREEN: Word = Word::new("green");
pub(super) const RED: Word = Word::new("red");
pub(super) const BLUE: Word = Word::new("blue");
pub(super) const YELLOW: Word = Word::new("yellow");
pub(super) const PURPLE: Word = Word::new("purple");
pub(super) const ORANGE: Word = Word::new("orange");
pub(super) const PINK: Word = Word::new("pink");

pub(super) const DOT: Word = Word::new("dot");
pub(super) const BOX: Word = Word::new("box");
pub(super) const DIAMOND: Word = Word::new("diamond");
pub(super) const UARROW: Word = Word::new("uarrow");
pub(super) const DARROW: Word = Word::new("darrow");
pub(super) const UTICK: Word = Word::new("utick");
pub(super) const DTICK: Word = Word::new("dtick");
pub(super) const HTICK: Word = Word::new("htick");
/// Text above its place.
pub(super) const ATEXT: Word = Word::new("atext");
/// Text left of its place.
pub(super) const LTEXT: Word = Word::new("ltext");

/// A place across as in a line: seconds with six decimals, or a number, between blanks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    text: [u8; PIECE],
    len: u8,
}

impl Stamp {
    /// `at` plus `epoch`, in Unix nanoseconds.
    pub(super) fn new(at: Instant, epoch: u64) -> Stamp {
        let micros = at.as_nanos().saturating_add(epoch) / 1_000;
        let mut text = [b' '; PIECE];
        let point = write_digits(&mut text, 1, micros / 1_000_000);
        text[point] = b'.';
        let below = micros % 1_000_000;
        let pairs = [below / 10_000, below / 100 % 100, below % 100];
        for (place, of) in pairs.into_iter().enumerate() {
            text[point + 1 + 2 * place..point + 3 + 2 * place].copy_from_slice(pair(of));
        }
        Stamp { text, len: point as u8 + 8 }
    }

    pub(super) fn of_sequence(number: u64) -> Stamp {
        let mut text = [b' '; PIECE];
        let end = write_digits(&mut text, 1, number);
        Stamp { text, len: end as u8 + 1 }
    }
}

/// A number, with its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) value: u64,
    text: [u8; PIECE],
    len: u8,
}

impl Number {
    #[inline]
    pub(super) fn new(value: u64) -> Number {
        let mut text = [0; PIECE];
        let len = write_digits(&mut text, 0, value) as u8;
        Number { value, text, len }
    }
    /// The same; `last` may have the value, and then its text.
    #[inline]
    pub(super) fn like(value: u64, last: Option<&Number>) -> Number {
        last.filter(|last| last.value == value).copied().unwrap_or_else(|| Number::new(value))
    }
}

#[derive(Debug)]
struct Line<'a> {
    text: &'a mut [u8; LINE],
    len: usize,
}

impl Line<'_> {
    /// Appends the first `len` bytes of `piece`.
    #[inline]
    fn put<const N: usize>(&mut self, piece: &[u8; N], len: u8) {
        self.text[self.len..self.len + N].copy_from_slice(piece);
        self.len += usize::from(len);
    }
    #[inline]
    fn word(&mut self, word: Word) {
        self.put(&word.text, word.len);
    }
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.text[self.len] = byte;
        self.len += 1;
    }
    #[inline]
    fn place(&mut self, x: &Stamp, y: &Number) {
        self.put(&x.text, x.len);
        self.put(&y.text, y.len);
    }
    fn place_thousandths(&mut self, x: &Stamp, y: u64) {
        self.place(x, &Number::new(y / 1_000));
        let below = (y % 1_000) as u32;
        let digit = |of: u32| b'0' + (below / of % 10) as u8;
        self.put(&[b'.', digit(100), digit(10), digit(1)], 4);
    }
}

/// A graph's unwritten part.
#[derive(Debug)]
pub(super) struct Page {
    /// The text, and behind it room for a line or more.
    text: Vec<u8>,
    len: usize,
    /// Whether its file exists.
    pub(super) begun: bool,
    color: Option<Word>,
}

impl Page {
    pub(super) fn new(types: &str, x: &str, y: &str) -> Page {
        let text = format!("{types}\nxlabel\n{x}\nylabel\n{y}\n").into_bytes();
        let len = text.len();
        Page { text, len, begun: false, color: None }
    }

    /// The unwritten text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }
    /// Removes its first bytes.
    pub(super) fn remove(&mut self, bytes: usize) {
        self.text.copy_within(bytes..self.len, 0);
        self.len -= bytes;
    }

    /// Sets the colour of the following lines.
    #[inline]
    pub(super) fn color(&mut self, color: Word) {
        if self.color != Some(color) {
            self.color = Some(color);
            self.write(|line| line.word(color));
        }
    }

    #[inline]
    pub(super) fn mark(&mut self, command: Word, x: &Stamp, y: &Number) {
        self.write(|line| {
            line.word(command);
            line.place(x, y);
        });
    }

    /// In another colour, for this mark only.
    pub(super) fn mark_in(&mut self, command: Word, x: &Stamp, y: &Number, color: Word) {
        self.write(|line| {
            line.word(command);
            line.place(x, y);
            line.byte(b' ');
            line.word(color);
        });
    }

    pub(super) fn word(&mut self, command: Word, x: &Stamp, y: &Number, text: &str) {
        self.mark(command, x, y);
        self.add(text);
        self.add("\n");
    }

    #[inline]
    pub(super) fn line(&mut self, from: (&Stamp, &Number), to: (&Stamp, &Number)) {
        self.write(|line| {
            line.put(b"line", 4);
            line.place(from.0, from.1);
            line.place(to.0, to.1);
        });
    }

    /// A dot in thousandths, with a line from the previous one.
    pub(super) fn thousandths(&mut self, x: &Stamp, y: u64, before: Option<(Stamp, u64)>) {
        self.write(|line| {
            line.word(DOT);
            line.place_thousandths(x, y);
        });
        if let Some((stamp, value)) = before {
            self.write(|line| {
                line.put(b"line", 4);
                line.place_thousandths(x, y);
                line.place_thousandths(&stamp, value);
            });
        }
    }

    /// The title and the end mark.
    pub(super) fn end(&mut self, title: &str) {
        self.add("title\n");
        self.add(title);
        self.add("\ngo\n");
    }

    #[inline]
    fn write(&mut self, write: impl FnOnce(&mut Line<'_>)) {
        if self.text.len() < self.len + LINE {
            self.make_room(LINE);
        }
        let text = self.text[self.len..].first_chunk_mut().expect("there is room now");
        let mut line = Line { text, len: 0 };
        write(&mut line);
        line.byte(b'\n');
        self.len += line.len;
    }

    /// Doubles the room, and adds `more` bytes.
    #[cold]
    fn make_room(&mut self, more: usize) {
        self.text.resize(2 * (self.len + more), 0);
    }

    fn add(&mut self, text: &str) {
        let end = self.len + text.len();
        if self.text.len() < end {
            self.make_room(text.len());
        }
        self.text[self.len..end].copy_from_slice(text.as_bytes());
        self.len = end;
    }
}

/// Writes a number at `from`; returns its end.
#[inline]
fn write_digits(text: &mut [u8; PIECE], from: usize, mut value: u64) -> usize {
    let end = from + value.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut at = end;
    while value >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(pair(value % 100));
        value /= 100;
    }
    if value >= 10 {
        text[at - 2..at].copy_from_slice(pair(value));
    } else {
        text[at - 1] = b'0' + value as u8;
    }
    end
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
    fn numbers_equal_those_of_format() {
        let written = |text: &[u8], len: u8| {
            std::str::from_utf8(&text[..usize::from(len)]).unwrap().to_owned()
        };
        for value in [0, 9, 10, 99, 100, 101, 1_000, 65_535, 4_294_967_295, 4_294_967_296, u64::MAX]
        {
            let number = Number::new(value);
            assert_eq!(written(&number.text, number.len), value.to_string());
            let stamp = Stamp::new(Instant::from_nanos(value), 0);
            let micros = value / 1_000;
            let expected = format!(" {}.{:06} ", micros / 1_000_000, micros % 1_000_000);
            assert_eq!(written(&stamp.text, stamp.len), expected);
        }
    }

    #[test]
    fn longest_xpl_lines_are_written_whole() {
        let mut page = Page::new("", "", "");
        let before = page.text().len();
        let (stamp, number) = (Stamp::new(Instant::MAX, u64::MAX), Number::new(u64::MAX));
        page.line((&stamp, &number), (&stamp, &number));
        page.mark_in(DIAMOND, &stamp, &number, PURPLE);
        page.thousandths(&stamp, u64::MAX, Some((stamp, u64::MAX)));
        let written = std::str::from_utf8(&page.text()[before..]).unwrap();
        let words = |line: &str| line.split(' ').count();
        assert_eq!(written.lines().map(words).collect::<Vec<_>>(), [5, 4, 3, 5]);
    }
}
