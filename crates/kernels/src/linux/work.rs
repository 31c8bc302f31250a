//! The directory of a build that has not finished: what it holds lets the next one go on.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_units::Bytes;

use crate::cache::remove_all;
use crate::error::BuildError;
use crate::manifest::SourceOrigin;

/// Disk space of a whole build: package 165 MB, source 390 MB, objects 250 MB.
const WHOLE: Bytes = Bytes::new(1_200_000_000);
/// When the source is there.
const REST: Bytes = Bytes::new(500_000_000);

/// The directory of a build.
#[derive(Debug)]
pub(crate) struct Work {
    root: PathBuf,
    key: String,
}

/// A downloaded package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    pub(crate) origin: SourceOrigin,
    /// The name of its file.
    pub(crate) file: String,
}

impl Work {
    /// Opens the directory for a build of this key, and removes trees of other keys: they cannot be
    /// used any more.
    pub(crate) fn open(root: PathBuf, key: &str) -> Result<Work, BuildError> {
        let is_odd = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
        if root.as_os_str().as_encoded_bytes().iter().any(is_odd) {
            return Err(BuildError::Place { path: root });
        }
        let work = Work { root, key: key.into() };
        let packages = work.packages();
        fs::create_dir_all(&packages).map_err(BuildError::file("make", &packages))?;
        let entries = fs::read_dir(&work.root).map_err(BuildError::file("read", &work.root))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("tree-") && path != work.tree() {
                remove_all(&path)?;
            }
        }
        work.check_space()?;
        Ok(work)
    }

    /// Whether there is room for what is left of the build.
    pub(crate) fn check_space(&self) -> Result<(), BuildError> {
        let needed = if self.has_tree() { REST } else { WHOLE };
        // Where the system does not tell, the build will.
        let Ok(found) = rustix::fs::statvfs(&self.root) else { return Ok(()) };
        let free = Bytes::new(found.f_bavail.saturating_mul(found.f_frsize));
        if free < needed {
            return Err(BuildError::Space { path: self.root.clone(), needed, free });
        }
        Ok(())
    }

    /// Where lists and packages go.
    pub(crate) fn packages(&self) -> PathBuf {
        self.root.join("packages")
    }

    /// What programs print as errors.
    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    /// The source, complete and patched if it is there.
    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join(format!("tree-{}", self.key))
    }

    pub(crate) fn has_tree(&self) -> bool {
        self.tree().is_dir()
    }

    /// An empty directory for a source that is not complete yet.
    pub(crate) fn new_tree(&self) -> Result<PathBuf, BuildError> {
        self.empty("tree-partial")
    }

    /// An empty directory for an image that is not complete yet.
    pub(crate) fn new_image(&self) -> Result<PathBuf, BuildError> {
        self.empty("image-partial")
    }

    /// An empty directory for files on their way into the tree.
    pub(crate) fn new_staging(&self) -> Result<PathBuf, BuildError> {
        self.empty("staging")
    }

    fn empty(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.root.join(name);
        remove_all(&path)?;
        fs::create_dir(&path).map_err(BuildError::file("make", &path))?;
        Ok(path)
    }

    /// The package that an earlier build has downloaded.
    pub(crate) fn package(&self) -> Option<(Package, PathBuf)> {
        let text = fs::read(self.packages().join(DOWNLOADED)).ok()?;
        let package: Package = serde_json::from_slice(&text).ok()?;
        let name = Path::new(&package.file).file_name()?;
        let path = self.packages().join(name);
        path.is_file().then_some((package, path))
    }

    /// Records a complete download.
    pub(crate) fn keep_package(&self, package: &Package) -> Result<(), BuildError> {
        write_json(&self.packages().join(DOWNLOADED), package)
    }

    /// Removes everything.
    pub(crate) fn discard(self) -> Result<(), BuildError> {
        Ok(remove_all(&self.root)?)
    }
}

/// Names the package that is complete.
const DOWNLOADED: &str = "downloaded.json";

/// Writes a file that is whole or not there.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), BuildError> {
    let text = serde_json::to_string_pretty(value).expect("it has a JSON form") + "\n";
    let beside = path.with_extension("partial");
    fs::write(&beside, text).map_err(BuildError::file("write", &beside))?;
    fs::rename(&beside, path).map_err(BuildError::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_that_make_cannot_use_is_refused_before_anything_is_made() {
        let home = tempfile::tempdir().unwrap();
        for name in ["my kernels", "a:b"] {
            let root = home.path().join(name);
            let error = Work::open(root.clone(), "aa").unwrap_err();
            assert!(error.remedy().unwrap().contains("without spaces"), "{error}");
            assert!(!root.exists());
        }
    }

    #[test]
    fn next_build_finds_package_and_tree_of_its_key() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("6.12");
        let work = Work::open(root.clone(), "aa").unwrap();
        assert!(work.package().is_none() && !work.has_tree());
        let origin = SourceOrigin::Package {
            package: "linux-source-6.12".into(),
            version: "6.12.1-1".into(),
            suite: None,
        };
        let package = Package { origin, file: "linux-source-6.12_6.12.1-1_all.deb".into() };
        work.keep_package(&package).unwrap();
        assert!(work.package().is_none(), "its file is missing");
        fs::write(work.packages().join(&package.file), "").unwrap();
        fs::create_dir(work.tree()).unwrap();
        fs::create_dir(work.new_tree().unwrap().join("half")).unwrap();
        let again = Work::open(root.clone(), "aa").unwrap();
        assert_eq!(again.package().unwrap().0, package);
        assert!(again.has_tree());
        let other = Work::open(root.clone(), "bb").unwrap();
        assert!(!other.has_tree() && other.package().is_some());
        assert!(!root.join("tree-aa").exists() && !root.join("tree-partial").exists());
        other.discard().unwrap();
        assert!(!root.exists());
    }
}
