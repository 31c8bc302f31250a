//! What bodies are compared with.

use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use blake3::{Hash, Hasher};

/// A body: its length, its digest, and its beginning, which is all of most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    length: u64,
    digest: Hash,
    beginning: Vec<u8>,
}

impl Reference {
    /// Bytes to compare as they arrive; longer bodies are compared by digest at the end.
    pub const KEPT: usize = 1 << 20;

    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Reference {
        let mut gathered = Gathered::default();
        gathered.add(bytes);
        gathered.end()
    }

    /// Of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Reference> {
        let mut file = std::fs::File::open(path)?;
        let (mut gathered, mut buffer) = (Gathered::default(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(gathered.end()),
                Ok(count) => gathered.add(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// BLAKE3, in hexadecimal.
    pub fn digest(&self) -> String {
        self.digest.to_hex().to_string()
    }

    fn is_kept_whole(&self) -> bool {
        self.length == self.beginning.len() as u64
    }
}

/// A body that is still coming, of which nothing is known.
#[derive(Debug, Default)]
struct Gathered {
    length: u64,
    hasher: Hasher,
    beginning: Vec<u8>,
}

impl Gathered {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
        let kept = bytes.len().min(Reference::KEPT - self.beginning.len());
        self.beginning.extend_from_slice(&bytes[..kept]);
    }

    fn end(self) -> Reference {
        let Gathered { length, hasher, beginning } = self;
        Reference { length, digest: hasher.finalize(), beginning }
    }
}

/// The body that all are compared with: given, or the first good one.
#[derive(Debug)]
pub(crate) enum Standard {
    Fixed(std::sync::Arc<Reference>),
    First(OnceLock<Reference>),
    None,
}

impl Standard {
    pub(crate) fn reference(&self) -> Option<&Reference> {
        match self {
            Standard::Fixed(reference) => Some(reference),
            Standard::First(first) => first.get(),
            Standard::None => None,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Comparing {
    /// It is not.
    Nothing,
    /// There is no standard yet, so this response may become it.
    Gathering(Box<Unknown>),
    /// As many bytes were as they should be.
    Matching { at: u64 },
    /// It is longer than what is kept, so it is digested, too.
    Digesting { at: u64, hasher: Box<Hasher> },
    /// It differs.
    Differs,
}

#[derive(Debug)]
pub(crate) struct Unknown(Gathered);

impl Comparing {
    pub(crate) fn begin(standard: &Standard) -> Comparing {
        match (standard, standard.reference()) {
            (Standard::None, _) => Comparing::Nothing,
            (_, None) => Comparing::Gathering(Box::new(Unknown(Gathered::default()))),
            (_, Some(reference)) if reference.is_kept_whole() => Comparing::Matching { at: 0 },
            (_, Some(_)) => Comparing::Digesting { at: 0, hasher: Box::default() },
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8], standard: &Standard) {
        let matches = |at: u64| {
            standard.reference().is_some_and(|reference| {
                let rest = reference.beginning.get(at as usize..).unwrap_or_default();
                if reference.is_kept_whole() {
                    rest.starts_with(bytes)
                } else {
                    let kept = rest.len().min(bytes.len());
                    rest[..kept] == bytes[..kept]
                }
            })
        };
        let is_same = match self {
            Comparing::Nothing | Comparing::Differs => return,
            Comparing::Gathering(unknown) => return unknown.0.add(bytes),
            Comparing::Matching { at } => {
                let is_same = matches(*at);
                *at += bytes.len() as u64;
                is_same
            }
            Comparing::Digesting { at, hasher } => {
                hasher.update(bytes);
                let is_same = matches(*at);
                *at += bytes.len() as u64;
                is_same
            }
        };
        if !is_same {
            *self = Comparing::Differs;
        }
    }

    /// It is whole; whether it is as it should be. The first one is.
    pub(crate) fn end(self, standard: &Standard) -> bool {
        match (self, standard) {
            (Comparing::Nothing, _) => true,
            (Comparing::Gathering(unknown), Standard::First(first)) => {
                let own = unknown.0.end();
                // Another one may have been the first meanwhile.
                first.get_or_init(|| own.clone()) == &own
            }
            (Comparing::Differs | Comparing::Gathering(_), _) => false,
            (Comparing::Matching { at }, _) => {
                standard.reference().is_some_and(|reference| reference.length == at)
            }
            (Comparing::Digesting { at, hasher }, _) => standard
                .reference()
                .is_some_and(|it| it.length == at && it.digest == hasher.finalize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_good(standard: &Standard, pieces: &[&[u8]]) -> bool {
        let mut comparing = Comparing::begin(standard);
        for piece in pieces {
            comparing.add(piece, standard);
        }
        comparing.end(standard)
    }

    #[test]
    fn bodies_compared_with_the_first() {
        let standard = Standard::First(OnceLock::new());
        assert!(is_good(&standard, &[b"ab", b"c"]));
        assert_eq!(standard.reference(), Some(&Reference::of(b"abc")));
        assert!(is_good(&standard, &[b"abc"]));
        assert!(is_good(&standard, &[b"a", b"b", b"", b"c"]));
        for wrong in [&b"ab"[..], b"abd", b"abcd", b"", b"xbc"] {
            assert!(!is_good(&standard, &[wrong]), "{wrong:?}");
        }
        assert!(is_good(&Standard::None, &[b"whatever"]));
    }

    #[test]
    fn long_bodies_compared_by_digest() {
        let long: Vec<u8> = (0..Reference::KEPT + 5000).map(|at| (at % 251) as u8).collect();
        let standard = Standard::Fixed(Reference::of(&long).into());
        assert!(is_good(&standard, &long.chunks(70_001).collect::<Vec<_>>()));
        assert!(!is_good(&standard, &[&long[..long.len() - 1]]));
        for at in [0, Reference::KEPT - 1, Reference::KEPT, long.len() - 1] {
            let mut wrong = long.clone();
            wrong[at] ^= 1;
            assert!(!is_good(&standard, &wrong.chunks(65_536).collect::<Vec<_>>()), "{at}");
        }
    }
}
