//! Puts an image into the cache.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tcplab_quantities::KERNEL_DOCUMENT;

use super::make::Make;
use crate::cache::{CONFIG, Cache, IMAGE, Kernel, MANIFEST, image_hash};
use crate::error::BuildError;
use crate::manifest::{Manifest, SourceOrigin};
use crate::name::KernelName;
use crate::recipe::{self, configuration_hash};
use crate::work::{Work, write_json};

/// What a build came to.
#[derive(Debug)]
pub enum Built {
    /// The image is new.
    New(Kernel),
    /// It was there already, from this source with this configuration.
    Existing(Kernel),
}

/// What `make` writes beside an image of Linux.
const MAP: &str = "System.map";

/// Which patches were applied, in a tree that is complete.
const PATCHED: &str = ".tcplab-patches.json";

/// Notes which patches a tree has.
pub(super) fn note_patches(tree: &Path, names: &[String]) -> Result<(), BuildError> {
    write_json(&tree.join(PATCHED), &names)
}

fn patches_of(tree: &Path) -> Vec<String> {
    let text = fs::read(tree.join(PATCHED)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Puts what was made, with its configuration and its manifest, into the cache, in one step.
pub(super) fn store(
    cache: &Cache,
    name: &KernelName,
    source: SourceOrigin,
    make: &Make<'_>,
    work: &Work,
) -> Result<Kernel, BuildError> {
    let partial = work.new_image()?;
    let image = partial.join(IMAGE);
    make.strip(&image)?;
    let config = make.config()?;
    fs::write(partial.join(CONFIG), &config)
        .map_err(BuildError::file("write", &partial.join(CONFIG)))?;
    keep_map(&work.tree(), &partial)?;
    let content = fs::read(&image).map_err(BuildError::file("read", &image))?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let manifest = Manifest {
        name: name.to_string(),
        release: make.release(&image)?,
        source,
        patches: patches_of(&work.tree()),
        configuration_hash: configuration_hash(),
        missing_options: missing(&config),
        hz: recipe::option(&config, "CONFIG_HZ").and_then(|hz| hz.parse().ok()).unwrap_or(100),
        seccomp: make.has_seccomp(),
        compiler: make.compiler()?,
        image_hash: image_hash(&content),
        image_bytes: content.len() as u64,
        built_unix_ns: i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX),
        compiled_files: make.compiled_files(),
    };
    write_json(&partial.join(MANIFEST), &KERNEL_DOCUMENT.of(&manifest))?;
    replace(&partial, &cache.directory(name))?;
    Ok(cache.find(name)?)
}

/// Keeps the addresses of functions, which a panic names by numbers alone; the image has none.
fn keep_map(tree: &Path, image: &Path) -> Result<(), BuildError> {
    match fs::copy(tree.join(MAP), image.join(MAP)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.map(drop).map_err(BuildError::file("write", &image.join(MAP))),
    }
}

fn missing(config: &str) -> Vec<String> {
    recipe::missing_options(config).into_iter().map(str::to_owned).collect()
}

/// Moves `new` to `place`; what was there is moved to where `new` was.
fn replace(new: &Path, place: &Path) -> Result<(), BuildError> {
    let moved = match renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE) {
        Err(error) if io::Error::from(error).kind() == io::ErrorKind::NotFound => {
            fs::rename(new, place)
        }
        moved => moved.map_err(io::Error::from),
    };
    moved.map_err(BuildError::file("write", place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_functions_are_kept_if_there_are_any() {
        let (tree, image) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        keep_map(tree.path(), image.path()).unwrap();
        assert!(!image.path().join(MAP).exists());
        fs::write(tree.path().join(MAP), "60000000 T _text\n").unwrap();
        keep_map(tree.path(), image.path()).unwrap();
        assert!(image.path().join(MAP).is_file());
    }

    #[test]
    fn new_image_replaces_the_old_one_in_one_step() {
        let home = tempfile::tempdir().unwrap();
        let (new, place) = (home.path().join("new"), home.path().join("place"));
        for content in ["first", "second"] {
            fs::create_dir_all(&new).unwrap();
            fs::write(new.join("image"), content).unwrap();
            replace(&new, &place).unwrap();
            assert_eq!(fs::read_to_string(place.join("image")).unwrap(), content);
        }
        assert_eq!(fs::read_to_string(new.join("image")).unwrap(), "first");
    }
}
