//! The images of this user.

use std::env;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{self, Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::Value;
use tcplab_quantities::KERNEL_DOCUMENT;
use tcplab_units::visible_line;

use crate::cache_error::CacheError;
use crate::manifest::{DEFAULT_HZ, Manifest};
use crate::name::KernelName;
use crate::recipe::configuration_hash;
use crate::user_cache::user_cache;

/// Below the cache: what is not finished, and locks.
const WORK: &str = ".work";
/// In the directory of an image.
pub(crate) const IMAGE: &str = "linux";
pub(crate) const CONFIG: &str = "config";
pub(crate) const MANIFEST: &str = "manifest.json";
/// The largest manifest that is read, bytes.
const LARGEST: u64 = 1 << 20;

/// Where images are kept: a directory for each.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// An image that can be used.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What it was made from.
    pub manifest: Manifest,
    directory: PathBuf,
}

impl Kernel {
    /// The program to run: user-mode Linux.
    pub fn image(&self) -> PathBuf {
        self.directory.join(IMAGE)
    }

    /// Its configuration, as the kernel's build wrote it.
    pub fn config(&self) -> PathBuf {
        self.directory.join(CONFIG)
    }

    /// Whether it can be a host in virtual time.
    ///
    /// # Errors
    /// When another version of tcplab built it, or its file has changed since it was built. The
    /// file is read whole.
    pub fn check_for_trials(&self) -> Result<(), CacheError> {
        let name = || self.manifest.name.clone();
        if !self.is_current() {
            return Err(CacheError::Outdated { name: name() });
        }
        let image = self.image();
        let content = fs::read(&image).map_err(CacheError::file("read", &image))?;
        if image_hash(&content) != self.manifest.image_hash {
            let problem = format!("its image `{IMAGE}` is damaged: it is not what was built");
            return Err(CacheError::Unusable { name: name(), problem });
        }
        Ok(())
    }

    /// The parts of its version, such as 6, 12 and 117.
    fn version(&self) -> Vec<u64> {
        let parts = self.manifest.release.split(|c: char| !c.is_ascii_digit());
        parts.map_while(|part| part.parse().ok()).collect()
    }

    /// Whether this version of tcplab would give it the same configuration and patches.
    pub fn is_current(&self) -> bool {
        self.manifest.configuration_hash == configuration_hash()
    }
}

/// Something in the cache that is no image, or not any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Its name, with control characters visible.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Cache {
    /// The user's: `$TCPLAB_KERNELS`, or `tcplab/kernels` in `$XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    /// If none of these is set, or the current directory is gone.
    pub fn of_user() -> Result<Cache, CacheError> {
        let set = env::var_os("TCPLAB_KERNELS").filter(|it| !it.is_empty()).map(PathBuf::from);
        let root = set.or_else(|| user_cache().map(|it| it.join("kernels")));
        let root = root.ok_or(CacheError::NoPlace)?;
        // Programs of a build run in other directories.
        let whole = path::absolute(&root).map_err(CacheError::file("find", &root))?;
        Ok(Cache::at(whole))
    }

    /// The images in this directory, which need not exist.
    pub fn at(root: PathBuf) -> Cache {
        Cache { root }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All images, by name, and what is there in the place of one.
    ///
    /// # Errors
    /// If the cache cannot be read. One that does not exist is empty.
    pub fn kernels(&self) -> Result<Vec<Result<Kernel, Unusable>>, CacheError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CacheError::file("read", &self.root)(error)),
        };
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let names = names.collect::<io::Result<Vec<_>>>();
        let mut names = names.map_err(CacheError::file("read", &self.root))?;
        names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
        names.sort();
        let load = |name: &std::ffi::OsString| {
            let text = name.to_string_lossy();
            let found = match text.parse::<KernelName>() {
                Ok(name) => self.load(&name),
                Err(error) => Err(error.to_string()),
            };
            found.map_err(|problem| Unusable { name: visible_line(&text).into_owned(), problem })
        };
        Ok(names.iter().map(load).collect())
    }

    /// The image of the newest Linux that can be a host in virtual time; none where none can.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn newest(&self) -> Result<Option<Kernel>, CacheError> {
        let all = self.kernels()?.into_iter().flatten();
        // Images of commits come and go while a bisection runs.
        let lasting = all.filter(|kernel| !kernel.manifest.source.is_commit());
        let usable = lasting.filter(Kernel::is_current);
        // Of one version, the one with the common ticks.
        let key = |kernel: &Kernel| {
            let manifest = &kernel.manifest;
            (kernel.version(), manifest.hz == DEFAULT_HZ, manifest.name.clone())
        };
        Ok(usable.max_by_key(key))
    }

    /// The image with this name.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn find(&self, name: &KernelName) -> Result<Kernel, CacheError> {
        if fs::symlink_metadata(self.directory(name)).is_ok() {
            let unusable = |problem| CacheError::Unusable { name: name.to_string(), problem };
            return self.load(name).map_err(unusable);
        }
        Err(self.unknown(name))
    }

    /// Removes an image, and what is left of an unfinished build of it. Returns whether there was
    /// an image.
    ///
    /// # Errors
    /// If there is neither, if another process builds it, or if it cannot be removed.
    pub fn remove(&self, name: &KernelName) -> Result<bool, CacheError> {
        let (directory, work) = (self.directory(name), self.work(name));
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        let has_image = is_there(&directory);
        if !has_image && !is_there(&work) {
            return Err(self.unknown(name));
        }
        let _lock = self.lock(name)?;
        if has_image {
            // In one step, so that half an image never looks whole.
            fs::create_dir_all(&work).map_err(CacheError::file("make", &work))?;
            let removed = work.join("removed");
            remove_all(&removed)?;
            fs::rename(&directory, &removed).map_err(CacheError::file("remove", &directory))?;
        }
        remove_all(&work)?;
        Ok(has_image)
    }

    /// The directory of an image.
    pub(crate) fn directory(&self, name: &KernelName) -> PathBuf {
        self.root.join(name.as_str())
    }

    /// The directory of an unfinished build.
    pub(crate) fn work(&self, name: &KernelName) -> PathBuf {
        self.root.join(WORK).join(name.as_str())
    }

    /// Makes this process the only one that changes an image, until the file is closed.
    pub(crate) fn lock(&self, name: &KernelName) -> Result<File, CacheError> {
        let folder = self.root.join(WORK);
        fs::create_dir_all(&folder).map_err(CacheError::file("make", &folder))?;
        let path = folder.join(format!(".{name}.lock"));
        let mut options = File::options();
        options.create(true).write(true).truncate(false);
        // A link or a pipe of that name, which somebody may have put there, is neither followed nor
        // waited for.
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let file = options.open(&path).map_err(CacheError::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(CacheError::Busy { name: name.to_string() }),
            Err(TryLockError::Error(error)) => Err(CacheError::file("lock", &path)(error)),
        }
    }

    fn unknown(&self, name: &KernelName) -> CacheError {
        let known = self.kernels().unwrap_or_default().into_iter().flatten();
        let known = known.map(|kernel| kernel.manifest.name).collect();
        CacheError::Unknown { name: name.to_string(), cache: self.root.clone(), known }
    }

    fn load(&self, name: &KernelName) -> Result<Kernel, String> {
        let directory = self.directory(name);
        let kind = fs::symlink_metadata(&directory).map_err(|error| error.to_string())?;
        if kind.is_symlink() {
            return Err("it is a link, not a directory".into());
        }
        if !kind.is_dir() {
            return Err("it is not a directory".into());
        }
        let manifest = read_manifest(&directory.join(MANIFEST))?;
        if manifest.name != name.as_str() {
            let other = visible_line(&manifest.name).into_owned();
            return Err(format!("its {MANIFEST} is of `{other}`"));
        }
        let image = fs::symlink_metadata(directory.join(IMAGE));
        let image = image.map_err(|error| format!("its image `{IMAGE}`: {error}"))?;
        if !image.is_file() {
            return Err(format!("its image `{IMAGE}` is not a file"));
        }
        let (found, stated) = (image.len(), manifest.image_bytes);
        if found != stated {
            return Err(format!("its image has {found} bytes, its {MANIFEST} says {stated}"));
        }
        Ok(Kernel { manifest, directory })
    }
}

/// The hash of an image's contents, as a manifest has it.
pub(crate) fn image_hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..16].to_owned()
}

/// Reads a manifest, which somebody may have written by hand.
fn read_manifest(path: &Path) -> Result<Manifest, String> {
    let said = |what: &dyn std::fmt::Display| {
        format!("its {MANIFEST}: {}", visible_line(&what.to_string()))
    };
    let mut options = File::options();
    options.read(true);
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let file = options.open(path).map_err(|error| said(&error))?;
    if !file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST) {
        return Err(said(&"not a regular file of at most 1 MiB"));
    }
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).map_err(|error| said(&error))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| said(&error))?;
    let (schema, version) = (&value["schema"], &value["version"]);
    if *schema != KERNEL_DOCUMENT.schema || *version != KERNEL_DOCUMENT.version {
        let wanted = format!("{} {}", KERNEL_DOCUMENT.schema, KERNEL_DOCUMENT.version);
        return Err(said(&format!("schema and version are not {wanted}")));
    }
    serde_json::from_slice(&text).map_err(|error| said(&error))
}

/// Removes a file, a link or a directory with all that is in it; nothing where nothing is.
pub(crate) fn remove_all(path: &Path) -> Result<(), CacheError> {
    let removed = match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(CacheError::file("remove", path))
}

#[cfg(test)]
mod tests;
