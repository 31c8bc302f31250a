//! Text files that a program carries: packed by a build script, unpacked when one is asked for.
//!
//! As they are, scenarios, pages and schemas would be a twentieth of the program; packed they take
//! a quarter of that.

use std::collections::BTreeMap;
use std::io::{self, Error, Read as _, Write as _};
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// What a build script leaves for [`embedded!`], in the directory that cargo gives it.
const FILE: &str = "embedded";
/// Ends each name and each text.
const END: char = '\0';

/// Text files of a repository, for a build script.
#[derive(Debug, Default)]
pub struct Collected {
    files: BTreeMap<String, String>,
    /// What cargo is to watch.
    orders: String,
}

impl Collected {
    /// Adds a file, which is called `name`.
    ///
    /// # Errors
    /// When it cannot be read, or is no text.
    pub fn add(&mut self, name: String, file: &Path) -> io::Result<()> {
        let named = |error: Error| Error::new(error.kind(), format!("{}: {error}", file.display()));
        let text = fs::read_to_string(file).map_err(named)?;
        if text.contains(END) {
            return Err(named(Error::other("has a zero byte")));
        }
        self.files.insert(name, text);
        self.watch(file);
        Ok(())
    }

    /// Adds all files below `folder` whose names end with `ending`, as `place/NAME`.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn add_all(&mut self, place: &str, folder: &Path, ending: &str) -> io::Result<()> {
        // A file more changes the folder.
        self.watch(folder);
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                self.add_all(&format!("{place}/{name}"), &entry.path(), ending)?;
            } else if name.ends_with(ending) {
                self.add(format!("{place}/{name}"), &entry.path())?;
            }
        }
        Ok(())
    }

    fn watch(&mut self, place: &Path) {
        self.orders += &format!("cargo::rerun-if-changed={}\n", place.display());
    }

    /// Packs them for [`embedded!`]: the same bytes for the same files. Returns what the build
    /// script is to print, so that cargo runs it again when a file changes or is new.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn pack(self) -> io::Result<String> {
        let place = env::var_os("OUT_DIR").ok_or_else(|| Error::other("not a build script"))?;
        fs::write(Path::new(&place).join(FILE), packed(&self.files)?)?;
        Ok(self.orders)
    }
}

fn packed(files: &BTreeMap<String, String>) -> io::Result<Vec<u8>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for part in files.iter().flat_map(|(name, text)| [name, text]) {
        write!(packed, "{part}{END}")?;
    }
    packed.finish()
}

/// What the build script of this crate has packed: [`Files`] in a static, unpacked at first use.
#[macro_export]
macro_rules! embedded {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        static $name: std::sync::LazyLock<$crate::Files> = std::sync::LazyLock::new(|| {
            $crate::Files::unpack(include_bytes!(concat!(env!("OUT_DIR"), "/embedded")))
        });
    };
}

/// Files and their texts.
#[derive(Debug)]
pub struct Files(BTreeMap<&'static str, &'static str>);

impl Files {
    /// Unpacks what [`Collected::pack`] made, for as long as the program runs.
    ///
    /// # Panics
    /// When it is something else.
    pub fn unpack(packed: &[u8]) -> Files {
        let mut all = String::new();
        ZlibDecoder::new(packed).read_to_string(&mut all).expect("a build script packed it");
        let mut parts = all.leak().split_terminator(END);
        Files(std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect())
    }

    /// The text of a file.
    pub fn get(&self, name: &str) -> Option<&'static str> {
        self.0.get(name).copied()
    }

    /// The files in a folder and below it whose names end with `ending`: names without folder and
    /// ending, in order, and texts.
    pub fn below(&self, folder: &str, ending: &str) -> Vec<(&'static str, &'static str)> {
        let inside = self.0.iter().filter_map(|(name, text)| {
            let name = name.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(ending)?;
            Some((name, *text))
        });
        let mut inside: Vec<_> = inside.collect();
        inside.sort_unstable();
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(of: &[(&str, &str)]) -> Files {
        let files = of.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        Files::unpack(&packed(&files).unwrap())
    }

    #[test]
    fn files_are_found_by_name_and_by_folder() {
        let files = files(&[
            ("a/z.toml", "Zürich\n"),
            ("a/b/c.toml", ""),
            ("a/z-more.toml", "z"),
            ("ab.toml", "x"),
        ]);
        assert_eq!(files.get("ab.toml"), Some("x"));
        assert_eq!(files.get("a/b/c.toml"), Some(""));
        assert_eq!(files.get("ab"), None);
        assert_eq!(files.below("a", ".toml"), [("b/c", ""), ("z", "Zürich\n"), ("z-more", "z")]);
        assert_eq!(files.below("a", ".json"), []);
    }

    #[test]
    fn nothing_is_packed_as_nothing() {
        assert_eq!(files(&[]).below("", ""), []);
    }

    #[test]
    fn folders_are_gathered_with_those_in_them() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| fs::write(place.path().join(name), text).unwrap();
        fs::create_dir(place.path().join("in")).unwrap();
        write("one.toml", b"1");
        write("in/two.toml", b"2");
        write("three.md", b"3");
        let mut collected = Collected::default();
        collected.add_all("all", place.path(), ".toml").unwrap();
        let names: Vec<&String> = collected.files.keys().collect();
        assert_eq!(names, ["all/in/two.toml", "all/one.toml"]);
        // Both folders, as a file may be new, and both files.
        assert_eq!(collected.orders.matches("cargo::rerun-if-changed=").count(), 4);
        for (name, text, why) in [("zero.toml", "a\0b", "zero byte"), ("bytes.toml", "", "UTF-8")] {
            let text = if text.is_empty() { &[0xff][..] } else { text.as_bytes() };
            write(name, text);
            let error = collected.add(name.into(), &place.path().join(name)).unwrap_err();
            assert!(error.to_string().contains(why) && error.to_string().contains(name), "{error}");
        }
    }
}
