//! Builds images of the commits of one repository.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::checkout::Checkout;
use super::make::Make;
use super::store::{Built, store};
use crate::cache::{Cache, Kernel};
use crate::error::BuildError;
use crate::event::Event;
use crate::manifest::{DIGITS, SourceOrigin};
use crate::name::KernelName;
use crate::process::Runner;
use crate::recipe::configuration_hash;
use crate::tools;
use crate::work::Work;

/// The name of the unfinished build that all commits share, and the beginning of their images'.
const SHARED: &str = "bisect";

/// Builds images of the commits of one repository, one after another, in one tree: each build
/// compiles what differs from the one before. The repository is only read. There is one such tree
/// for each user; that of another repository takes its place.
pub struct CommitBuilds<'a> {
    repository: PathBuf,
    jobs: usize,
    cache: &'a Cache,
    stop: &'a AtomicBool,
    work: Work,
    _lock: File,
}

impl<'a> CommitBuilds<'a> {
    /// Builds of a repository's commits, given its topmost directory. `jobs` files are compiled at
    /// once; `stop` stops a build, and the next one goes on.
    ///
    /// # Errors
    /// If programs are missing, another process builds commits, or the disk is too full.
    pub fn open(
        repository: &Path,
        jobs: usize,
        cache: &'a Cache,
        stop: &'a AtomicBool,
    ) -> Result<CommitBuilds<'a>, BuildError> {
        let missing = tools::missing(&[&tools::ALWAYS, &tools::COMMITS]);
        if !missing.is_empty() {
            return Err(BuildError::MissingTools { tools: missing });
        }
        let repository = repository.canonicalize().map_err(BuildError::file("open", repository))?;
        let shared: KernelName = SHARED.parse()?;
        let lock = cache.lock(&shared)?;
        let place = blake3::hash(repository.as_os_str().as_encoded_bytes()).to_hex();
        let key = format!("{}-{}", configuration_hash(), &place[..16]);
        let work = Work::open(cache.work(&shared), &key)?;
        Ok(CommitBuilds { repository, jobs, cache, stop, work, _lock: lock })
    }

    /// The name of a commit's image, given its whole hash.
    ///
    /// # Errors
    /// If that is no hash.
    pub fn name_of(commit: &str) -> Result<KernelName, BuildError> {
        let digits = commit.get(..DIGITS).unwrap_or(commit);
        Ok(format!("{SHARED}-{digits}").parse()?)
    }

    /// The name by which `tcplab kernel remove` removes the tree.
    pub fn shared_name() -> &'static str {
        SHARED
    }

    /// Builds the image of a commit, given its whole hash, unless it is there. `tell` hears of each
    /// step.
    ///
    /// # Errors
    /// If the image cannot be built, or `stop` was set; [`BuildError::is_of_source`] tells whether
    /// another commit might do better.
    pub fn build(&self, commit: &str, tell: &mut dyn FnMut(Event)) -> Result<Built, BuildError> {
        let name = CommitBuilds::name_of(commit)?;
        if let Some(kernel) = self.existing(&name, commit) {
            return Ok(Built::Existing(kernel));
        }
        let _lock = self.cache.lock(&name)?;
        let built = self.make(&name, commit, tell);
        if built.as_ref().is_err_and(BuildError::is_of_source) {
            // A full disk is no fault of the commit.
            self.work.check_space()?;
        }
        built.map(Built::New)
    }

    fn existing(&self, name: &KernelName, commit: &str) -> Option<Kernel> {
        // One that is damaged is built again.
        let kernel = self.cache.find(name).ok()?;
        kernel.check_for_trials().ok()?;
        let is_same = matches!(&kernel.manifest.source,
            SourceOrigin::Commit { commit: of, .. } if of == commit);
        is_same.then_some(kernel)
    }

    fn make(
        &self,
        name: &KernelName,
        commit: &str,
        tell: &mut dyn FnMut(Event),
    ) -> Result<Kernel, BuildError> {
        let runner = Runner::new(&self.work.log(), self.stop);
        Checkout { repository: &self.repository, work: &self.work, runner: &runner }
            .move_to(commit, tell)?;
        let make = Make::new(self.work.tree(), self.jobs, &runner);
        tell(Event::Configuring);
        // Its commit may have other options than the one before.
        make.configure_anew()?;
        make.compile(tell)?;
        tell(Event::Storing);
        let origin = SourceOrigin::Commit {
            repository: self.repository.to_string_lossy().into_owned(),
            commit: commit.into(),
        };
        store(self.cache, name, origin, &make, &self.work)
    }

    /// Removes tree and objects.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub fn discard(self) -> Result<(), BuildError> {
        self.work.discard()
    }
}
