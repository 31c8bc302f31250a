//! The checksums of all files, as `sha256sum --check` reads them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::command::said;

pub(super) const NAME: &str = "SHA256SUMS";

/// Writes the checksums of a directory's files into it.
pub(super) fn write(directory: &Path) -> anyhow::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name());
    }
    names.retain(|name| name != NAME);
    names.sort();
    let sums = said(Command::new("sha256sum").current_dir(directory).arg("--").args(&names))?;
    fs::write(directory.join(NAME), sums)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_and_names_files_with_the_known_digest() {
        let directory = std::env::temp_dir().join(format!("xtask-sums-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("b"), "").unwrap();
        fs::write(directory.join("a"), "abc").unwrap();
        write(&directory).unwrap();
        let sums = fs::read_to_string(directory.join(NAME)).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        // FIPS 180-4's example, and the digest of nothing.
        assert_eq!(
            sums,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n"
        );
    }
}
