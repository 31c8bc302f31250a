//! A body in chunks (RFC 9112, section 7.1).

use std::ops::Range;

/// Hexadecimal digits of a length that make sense.
const MOST_DIGITS: usize = 15;
/// Bytes of extensions and trailers that are read.
const MOST_ELSE: usize = 16 << 10;

/// Where in such a body its reader is.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    place: Place,
    /// Of the chunk: as far as its length was read, or as many bytes as are left.
    left: u64,
    digits: usize,
    /// Bytes that are neither lengths nor data.
    others: usize,
    /// Whether the line of a trailer has begun.
    is_in_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Length,
    Extension,
    Data,
    DataEnd,
    Trailer,
    Over,
}

/// It is no such body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Chunked {
    pub(super) fn is_over(&self) -> bool {
        self.place == Place::Over
    }

    /// Reads to the end of a piece of data at most: bytes taken, and which of them are data.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Result<(usize, Range<usize>), Broken> {
        for (at, byte) in bytes.iter().copied().enumerate() {
            match self.place {
                Place::Length => self.length(byte)?,
                Place::Extension => {
                    self.count_other()?;
                    if byte == b'\n' {
                        self.end_of_length();
                    }
                }
                Place::Data => {
                    let part = self.left.min((bytes.len() - at) as u64);
                    self.left -= part;
                    if self.left == 0 {
                        self.place = Place::DataEnd;
                    }
                    let end = at + part as usize;
                    return Ok((end, at..end));
                }
                Place::DataEnd => match byte {
                    b'\r' => self.count_other()?,
                    b'\n' => (self.place, self.digits) = (Place::Length, 0),
                    _ => return Err(Broken),
                },
                Place::Trailer => {
                    self.count_other()?;
                    match byte {
                        b'\r' => {}
                        b'\n' if self.is_in_line => self.is_in_line = false,
                        b'\n' => {
                            self.place = Place::Over;
                            return Ok((at + 1, 0..0));
                        }
                        _ => self.is_in_line = true,
                    }
                }
                Place::Over => return Ok((at, 0..0)),
            }
        }
        Ok((bytes.len(), 0..0))
    }

    fn length(&mut self, byte: u8) -> Result<(), Broken> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if self.digits >= MOST_DIGITS {
                return Err(Broken);
            }
            self.left = if self.digits == 0 { 0 } else { self.left * 16 } + u64::from(digit);
            self.digits += 1;
            return Ok(());
        }
        if self.digits == 0 {
            return Err(Broken);
        }
        match byte {
            b'\n' => self.end_of_length(),
            b';' | b' ' | b'\t' | b'\r' => self.place = Place::Extension,
            _ => return Err(Broken),
        }
        Ok(())
    }

    fn end_of_length(&mut self) {
        self.place = if self.left == 0 { Place::Trailer } else { Place::Data };
    }

    fn count_other(&mut self) -> Result<(), Broken> {
        self.others += 1;
        // What is read of a body without end is data, not this.
        if self.others > MOST_ELSE && self.place != Place::DataEnd { Err(Broken) } else { Ok(()) }
    }
}
