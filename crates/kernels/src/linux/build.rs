//! Builds an image.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::apt;
use crate::cache::{Cache, Kernel};
use crate::error::BuildError;
use crate::event::Event;
use crate::manifest::{DEFAULT_HZ, SourceOrigin};
use crate::name::KernelName;
use crate::patches;
use crate::process::Runner;
use crate::recipe::configuration_hash;
use crate::tools;
use crate::tree;
use crate::work::{Package, Work};

mod checkout;
mod commits;
mod make;
mod store;

pub use commits::CommitBuilds;
use make::Make;
pub use store::Built;

/// What to build, and where.
#[derive(Debug)]
pub struct Build<'a> {
    /// The name of the image.
    pub name: KernelName,
    /// Where its source comes from.
    pub source: BuildSource,
    /// How often its clock ticks a second: timers of TCP are rounded to a tick.
    pub hz: u32,
    /// How many files are compiled at once.
    pub jobs: usize,
    /// Where the image goes.
    pub cache: &'a Cache,
    /// Stops the build when it is set; the next one goes on.
    pub stop: &'a AtomicBool,
}

/// Where a source comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildSource {
    /// Debian's package for this version.
    Package(KernelName),
    /// A directory, which is only read.
    Tree(PathBuf),
}

impl BuildSource {
    /// The name of an image of this tree: its version and the directory's name.
    ///
    /// # Errors
    /// If the directory holds no Linux.
    pub fn name_of(directory: &Path) -> Result<KernelName, BuildError> {
        tree::check(directory)?;
        let directory = canonical(directory)?;
        let last = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(KernelName::nearest(&format!("{}-{last}", tree::version(&directory)?))?)
    }
}

impl Build<'_> {
    /// Builds the image, unless it is there. `tell` hears of each step.
    ///
    /// # Errors
    /// If the image cannot be built, or `stop` was set.
    pub fn run(&self, tell: &mut dyn FnMut(Event)) -> Result<Built, BuildError> {
        let given = self.given()?;
        if let Some(kernel) = self.existing(&given) {
            return Ok(Built::Existing(kernel));
        }
        if let Some(source) = self.replaced(&given) {
            tell(Event::Replaces { source });
        }
        let missing = tools::missing(match given {
            Given::Package(_) => &[&tools::ALWAYS, &tools::PACKAGES],
            Given::Tree { .. } => &[&tools::ALWAYS],
        });
        if !missing.is_empty() {
            return Err(BuildError::MissingTools { tools: missing });
        }
        let _lock = self.cache.lock(&self.name)?;
        let hash = configuration_hash();
        let mut key = match &given {
            Given::Package(_) => hash,
            Given::Tree { fingerprint, .. } => format!("{hash}-{fingerprint}"),
        };
        if self.hz != DEFAULT_HZ {
            key += &format!("-{}hz", self.hz);
        }
        let work = Work::open(self.cache.work(&self.name), &key)?;
        let runner = Runner::new(&work.log(), self.stop);
        let origin = self.prepare(&given, &work, &runner, tell)?;
        let make = Make::new(work.tree(), self.jobs, &runner);
        tell(Event::Configuring);
        make.configure()?;
        make.compile(tell)?;
        tell(Event::Storing);
        let kernel = store::store(self.cache, &self.name, origin, &make, &work)?;
        work.discard()?;
        Ok(Built::New(kernel))
    }

    fn given(&self) -> Result<Given, BuildError> {
        match &self.source {
            BuildSource::Package(version) if !version.is_version() => {
                Err(BuildError::NotVersion { name: version.to_string() })
            }
            BuildSource::Package(version) => Ok(Given::Package(version.clone())),
            BuildSource::Tree(directory) => {
                tree::check(directory)?;
                let directory = canonical(directory)?;
                let fingerprint = tree::fingerprint(&directory)?;
                Ok(Given::Tree { directory, fingerprint })
            }
        }
    }

    /// The image of this source, if it has the present configuration.
    fn existing(&self, given: &Given) -> Option<Kernel> {
        let kernel = self.cache.find(&self.name).ok().filter(Kernel::is_current)?;
        if kernel.manifest.hz != self.hz {
            return None;
        }
        let is_same = match (given, &kernel.manifest.source) {
            (Given::Package(_), SourceOrigin::Package { .. }) => true,
            (Given::Tree { fingerprint, .. }, SourceOrigin::Tree { fingerprint: of, .. }) => {
                fingerprint == of
            }
            _ => false,
        };
        is_same.then_some(kernel)
    }

    /// The source of the image that has the name so far, if it is another.
    fn replaced(&self, given: &Given) -> Option<String> {
        let source = self.cache.find(&self.name).ok()?.manifest.source;
        let is_same = match (given, &source) {
            (Given::Package(_), SourceOrigin::Package { .. }) => true,
            (Given::Tree { directory, .. }, SourceOrigin::Tree { directory: of, .. }) => {
                directory.to_string_lossy() == *of
            }
            _ => false,
        };
        (!is_same).then(|| source.in_words())
    }

    /// Makes the patched tree, or as much as is missing of it.
    fn prepare(
        &self,
        given: &Given,
        work: &Work,
        runner: &Runner<'_>,
        tell: &mut dyn FnMut(Event),
    ) -> Result<SourceOrigin, BuildError> {
        let (origin, package) = match given {
            Given::Tree { directory, fingerprint } => {
                let directory = directory.to_string_lossy().into_owned();
                (SourceOrigin::Tree { directory, fingerprint: fingerprint.clone() }, None)
            }
            Given::Package(version) => {
                let (package, path) = match work.package() {
                    Some(found) => found,
                    None => download(version, work, runner, tell)?,
                };
                (package.origin, Some(path))
            }
        };
        if work.has_tree() {
            return Ok(origin);
        }
        tell(Event::Unpacking);
        let partial = work.new_tree()?;
        let mut tick = || {};
        match (given, package) {
            (Given::Tree { directory, .. }, _) => {
                tree::copy(directory, &partial, runner, &mut tick)?;
            }
            (Given::Package(version), Some(path)) => {
                let name = format!("linux-source-{version}");
                tree::unpack(&path, &name, &partial, runner, &mut tick)?;
            }
            (Given::Package(_), None) => unreachable!("a package was just found or downloaded"),
        }
        tree::check(&partial)?;
        let names = patches::apply(&partial, self.hz, runner)?;
        store::note_patches(&partial, &names)?;
        tell(Event::Patched { names });
        fs::rename(&partial, work.tree()).map_err(BuildError::file("rename", &partial))?;
        Ok(origin)
    }
}

fn download(
    version: &KernelName,
    work: &Work,
    runner: &Runner<'_>,
    tell: &mut dyn FnMut(Event),
) -> Result<(Package, PathBuf), BuildError> {
    let packages = work.packages();
    let mut looking = |suite: &str| tell(Event::Looking { suite: suite.into() });
    let found = apt::find(version.as_str(), &packages, runner, &mut looking)?;
    let package = format!("{} {}", found.package, found.version);
    let mut progress = |done| {
        tell(Event::Downloading { package: package.clone(), done, total: found.bytes });
    };
    progress(0);
    let path = apt::download(&found, &packages, runner, &mut progress)?;
    let (package, version, suite) = (found.package, found.version, found.suite);
    let origin = SourceOrigin::Package { package, version, suite };
    let package = Package { origin, file: found.file };
    work.keep_package(&package)?;
    Ok((package, path))
}

fn canonical(directory: &Path) -> Result<PathBuf, BuildError> {
    directory.canonicalize().map_err(BuildError::file("open", directory))
}

/// The source, looked at.
#[derive(Debug, PartialEq, Eq)]
enum Given {
    Package(KernelName),
    Tree { directory: PathBuf, fingerprint: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(cache: &Cache, name: &str, source: BuildSource) -> Result<Built, BuildError> {
        let stop = AtomicBool::new(false);
        let name = name.parse().unwrap();
        Build { name, source, hz: DEFAULT_HZ, jobs: 1, cache, stop: &stop }.run(&mut |_| {})
    }

    #[test]
    fn name_that_is_no_version_needs_a_tree() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::at(home.path().join("kernels"));
        let source = BuildSource::Package("mine".parse().unwrap());
        let error = build(&cache, "mine", source).unwrap_err();
        assert!(matches!(error, BuildError::NotVersion { .. }), "{error}");
        assert!(!cache.root().exists(), "nothing is made for a mistake");
    }

    #[test]
    fn directory_without_linux_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::at(home.path().join("kernels"));
        let source = BuildSource::Tree(home.path().into());
        let error = build(&cache, "mine", source).unwrap_err();
        assert!(matches!(error, BuildError::NotLinux { .. }), "{error}");
        assert!(BuildSource::name_of(home.path()).is_err());
    }
}
