//! Where data is written: a file, a pipe or a terminal.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use tcplab_units::visible;

/// A file, or a terminal that is shown control characters as such: data (JSON, CSV, SVG, captures)
/// is altered there alone.
#[derive(Debug)]
pub(super) struct Destination {
    file: File,
    /// The begin of a character, on a terminal.
    begun: Option<Vec<u8>>,
}

impl Destination {
    pub(super) fn new(file: File) -> Destination {
        let begun = file.is_terminal().then(Vec::new);
        Destination { file, begun }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.begun.is_some()
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(begun) = &mut self.begun else { return self.file.write(bytes) };
        begun.extend_from_slice(bytes);
        let (text, rest) = decoded(begun);
        self.file.write_all(visible(&text).as_bytes())?;
        *begun = rest.to_vec();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let begun = self.begun.as_mut().map(std::mem::take).unwrap_or_default();
        self.file.write_all(escaped(&begun).as_bytes())?;
        self.file.flush()
    }
}

/// Bytes as text, those that are no UTF-8 as `\xff`; and the begin of a character at the end.
fn decoded(mut bytes: &[u8]) -> (String, &[u8]) {
    let mut text = String::new();
    while let Some(chunk) = bytes.utf8_chunks().next() {
        text.push_str(chunk.valid());
        bytes = &bytes[chunk.valid().len()..];
        let is_begun = str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if is_begun && chunk.invalid().len() == bytes.len() {
            break;
        }
        text.push_str(&escaped(chunk.invalid()));
        bytes = &bytes[chunk.invalid().len()..];
    }
    (text, bytes)
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("\\x{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_on_a_terminal_are_text_however_they_are_cut() {
        let bytes = b"caf\xc3\xa9 \x1b[2J \xff\xfe \xe2\x9c\x93 \xe2\x9c";
        let (text, rest) = decoded(bytes);
        assert_eq!((text.as_str(), rest), ("café \x1b[2J \\xff\\xfe ✓ ", &b"\xe2\x9c"[..]));
        for cut in 0..bytes.len() {
            let mut file = tempfile::tempfile().unwrap();
            let copy = file.try_clone().unwrap();
            let mut terminal = Destination { file: copy, begun: Some(Vec::new()) };
            for part in [&bytes[..cut], &bytes[cut..]] {
                terminal.write_all(part).unwrap();
            }
            terminal.flush().unwrap();
            let mut shown = String::new();
            io::Seek::rewind(&mut file).unwrap();
            io::Read::read_to_string(&mut file, &mut shown).unwrap();
            assert_eq!(shown, "café \\x1b[2J \\xff\\xfe ✓ \\xe2\\x9c", "cut at {cut}");
        }
    }
}
