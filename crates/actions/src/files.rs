//! Files that are read whole: regular ones of bounded size.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tcplab_units::Bytes;

/// The largest scenario, path file or script: a hundred times the largest of the catalogue. Reading
/// one takes some ten times its size in memory.
pub const TEXT_MAX: Bytes = Bytes::new(1_000_000);
/// The largest file that a scenario names: a trace of ten minutes at 40 Mbit/s has 14 MB.
pub const NAMED_MAX: Bytes = Bytes::new(20_000_000);

/// Reads a regular file. A pipe or a device could give bytes without end, or none for ever.
///
/// # Errors
/// Why it cannot be read, with the remedy; without its name.
pub fn read_regular(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    // Asked before it is opened: opening a pipe waits for its writer.
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let what = format!("{}, not a regular file: name a copy in a file", name(kind));
        return Err(io::Error::other(what));
    }
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most.as_u64() + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most.as_u64() {
        let found = fs::metadata(path).map_or(bytes.len() as u64, |it| it.len());
        let what = format!("it has {}: at most {most} are read", Bytes::new(found));
        return Err(io::Error::other(what));
    }
    Ok(bytes)
}

/// The file `name` that another in `directory` refers to: inside that directory or the current one,
/// once symbolic links are followed. So a scenario from elsewhere does not read other files.
///
/// # Errors
/// If it does not exist, or lies elsewhere.
pub fn beside(directory: &Path, name: &str) -> Result<PathBuf, String> {
    let place = directory.join(name);
    let said = |error: io::Error| format!("cannot read {}: {error}", place.display());
    let file = place.canonicalize().map_err(said)?;
    let own = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let is_inside =
        |allowed: &Path| allowed.canonicalize().is_ok_and(|allowed| file.starts_with(allowed));
    if is_inside(own) || is_inside(Path::new(".")) {
        return Ok(file);
    }
    Err(format!(
        "{} lies outside the directory of the file that names it, and outside the current \
         directory: copy it there",
        place.display()
    ))
}

fn name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    use std::os::unix::fs::FileTypeExt;
    match kind {
        _ if kind.is_dir() => "a directory",
        #[cfg(unix)]
        _ if kind.is_fifo() => "a named pipe",
        #[cfg(unix)]
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, Bytes::new(5)).unwrap(), b"12345");
        let long = read_regular(&file, Bytes::new(4)).unwrap_err().to_string();
        assert_eq!(long, "it has 5 B: at most 4 B are read");
        let none = home.path().join("none");
        for (path, said) in [
            (Path::new("/dev/zero"), "a device, not a regular file"),
            (home.path(), "a directory, not a regular file"),
            (none.as_path(), "No such file"),
        ] {
            let error = read_regular(path, TEXT_MAX).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn named_file_lies_beside_the_one_that_names_it() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        fs::create_dir_all(own.join("traces")).unwrap();
        fs::write(own.join("traces/a"), "1").unwrap();
        fs::write(home.path().join("b"), "1").unwrap();
        symlink(home.path().join("b"), own.join("c")).unwrap();
        assert!(beside(&own, "traces/a").is_ok());
        assert!(beside(&own, "../own/traces/a").is_ok());
        for name in ["../b", "c", "/etc/passwd"] {
            let error = beside(&own, name).unwrap_err();
            assert!(error.contains("lies outside"), "{name}: {error}");
        }
        assert!(beside(&own, "none").unwrap_err().starts_with("cannot read"));
    }
}
