//! Packed parts of a page, unpacked when opened: deflated, as text.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write as _;

/// Deflated (RFC 1951) and in Base64 (RFC 4648), as a browser's
/// `DecompressionStream("deflate-raw")` reads it.
pub(crate) fn pack(bytes: &[u8]) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    let deflated = encoder.write_all(bytes).and_then(|()| encoder.finish());
    base64(&deflated.expect("a Vec takes what it is given"))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for letter in 0..4 {
            if letter > three.len() {
                text.push('=');
            } else {
                let six = bits >> (18 - 6 * letter) & 63;
                text.push(char::from(LETTERS[six as usize]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;

    use super::*;

    /// The test vectors of RFC 4648 section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn packed_text_is_small_and_complete() {
        let text = "<p>a part of a page</p>".repeat(1_000);
        let packed = pack(text.as_bytes());
        assert!(packed.len() < text.len() / 20);
        let value = |c: u8| LETTERS.iter().position(|it| *it == c).unwrap_or(0) as u32;
        let bytes: Vec<u8> = packed
            .as_bytes()
            .chunks(4)
            .flat_map(|four| {
                let bits = four.iter().fold(0, |bits, c| bits << 6 | value(*c));
                [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
            })
            .collect();
        let mut unpacked = String::new();
        DeflateDecoder::new(&bytes[..]).read_to_string(&mut unpacked).unwrap();
        assert!(unpacked == text);
    }
}
