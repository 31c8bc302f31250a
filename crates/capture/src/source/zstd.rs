//! What zstd compressed (RFC 8878): frames, one behind the other.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that a frame may ask for: the default limit of `zstd`.
const LARGEST_WINDOW: u64 = 128 << 20;

/// The end of a frame, for one that has none: an empty block that is the last (RFC 8878 section
/// 3.1.1.2), and room for a checksum. The decoder holds back as much as it may have to repeat, up
/// to a whole window, until it has seen the end.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The content of all frames.
pub(super) struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    /// A frame was begun and is not over.
    inside: bool,
    /// The stream ended in the middle of a frame.
    cut_off: bool,
}

impl<R> std::fmt::Debug for Zstd<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zstd").field("inside", &self.inside).finish_non_exhaustive()
    }
}

impl<R: BufRead> Zstd<R> {
    pub(super) fn new(source: R) -> Zstd<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Zstd { source, decoder, inside: false, cut_off: false }
    }

    /// Begins the next frame; whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = (&mut self.source).take(u64::from(length));
                    if io::copy(&mut { skipped }, &mut io::sink())? < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(false)
    }

    /// Decodes the next block of a frame, or ends one that is cut off.
    fn decode(&mut self) -> io::Result<()> {
        let block = || BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.source, block()) else {
            return Ok(());
        };
        let error = self.failed(error);
        self.cut_off = error.kind() == io::ErrorKind::UnexpectedEof
            && self.decoder.decode_blocks(&END[..], block()).is_ok();
        if self.cut_off { Ok(()) } else { Err(error) }
    }

    /// The checksum after a frame must match its content.
    fn end(&mut self) -> io::Result<()> {
        self.inside = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"));
        }
        Ok(())
    }

    /// A frame that ends too early, or makes no sense.
    fn failed(&mut self, error: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            _ => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.cut_off {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.inside && self.decoder.is_finished() {
                self.end()?;
            }
            if self.inside {
                self.decode()?;
            } else if !self.begin()? {
                return Ok(0);
            }
        }
    }
}
