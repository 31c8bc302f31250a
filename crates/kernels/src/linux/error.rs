//! What can go wrong with a build.

use std::io;
use std::path::{Path, PathBuf};

use tcplab_units::Bytes;
use tcplab_units::rounded::bytes;
use thiserror::Error;

use crate::cache_error::CacheError;
use crate::tools::{Tool, install};

/// Why an image was not built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// Of the cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Programs that a build needs are not installed.
    #[error("a kernel is built with programs that are missing here: {}", named(tools))]
    MissingTools {
        /// Each of them.
        tools: Vec<&'static Tool>,
    },
    /// The disk is too full.
    #[error(
        "a build needs {} of disk space for a while; {} has {}",
        bytes(*needed), path.display(), bytes(*free)
    )]
    Space {
        /// Where.
        path: PathBuf,
        /// What a build takes at most.
        needed: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// `make` takes some characters of a path for its own.
    #[error("Linux cannot be built in {}: the path has a space or a colon", path.display())]
    Place {
        /// Where.
        path: PathBuf,
    },
    /// Only a name that is a version names a package.
    #[error("`{name}` is no version such as 6.12, so no package has its source")]
    NotVersion {
        /// The name.
        name: String,
    },
    /// No suite of the configured mirrors has the package.
    #[error("package {package} is in none of: {}", looked.join(", "))]
    NoPackage {
        /// Its name.
        package: String,
        /// The suites, each with what was wrong with it, if anything.
        looked: Vec<String>,
    },
    /// The directory holds no Linux.
    #[error("{} holds no source of Linux with user-mode Linux: {lacks} is missing", path.display())]
    NotLinux {
        /// The directory.
        path: PathBuf,
        /// The file that it lacks.
        lacks: &'static str,
    },
    /// A patch does not fit the tree.
    #[error("patch `{patch}` does not fit this source: {said}")]
    Patch {
        /// Its name.
        patch: &'static str,
        /// What `patch` said.
        said: String,
    },
    /// git could not read the repository.
    #[error("git cannot read the commit: {said}")]
    Repository {
        /// What it said.
        said: String,
    },
    /// The kernel's configuration dropped an option that virtual time needs.
    #[error("this source does not accept {option}, which virtual time needs")]
    Option {
        /// The option.
        option: &'static str,
    },
    /// A program failed.
    #[error("{what} failed: {said}")]
    Failed {
        /// What it was to do.
        what: String,
        /// Its last lines.
        said: String,
        /// Its exit status; none if it did not come to one.
        code: Option<i32>,
    },
    /// A program failed by what this machine lacks, whatever the source.
    #[error("{what} failed on this machine: {said}")]
    Machine {
        /// What it was to do.
        what: String,
        /// Its last lines.
        said: String,
    },
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
}

impl BuildError {
    pub(crate) fn file(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let of_cache = CacheError::file(verb, path);
        move |source| BuildError::Cache(of_cache(source))
    }

    /// Whether the user stopped it.
    pub fn is_stop(&self) -> bool {
        matches!(self, BuildError::Stopped)
    }

    /// Whether it is about this source: another might build.
    pub fn is_of_source(&self) -> bool {
        matches!(
            self,
            BuildError::NotLinux { .. }
                | BuildError::Patch { .. }
                | BuildError::Option { .. }
                | BuildError::Failed { .. }
        )
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            BuildError::Cache(error) => error.remedy(),
            BuildError::MissingTools { tools } => Some(install(tools)),
            BuildError::Space { .. } => {
                Some("free some, or set TCPLAB_KERNELS to a directory on another disk".into())
            }
            BuildError::Place { .. } => {
                Some("set TCPLAB_KERNELS to a directory without spaces and colons".into())
            }
            BuildError::NotVersion { .. } => {
                Some("name a version such as 6.12, or a tree with --source DIR".into())
            }
            BuildError::NoPackage { .. } => {
                Some("name another version, or a tree of Linux with --source DIR".into())
            }
            BuildError::NotLinux { .. } => Some("use Linux 5.10 or later".into()),
            BuildError::Patch { .. } | BuildError::Option { .. } => Some(
                "use another version of Linux; 5.10, 6.1, 6.12 and 7.2 are known to work".into(),
            ),
            BuildError::Machine { .. } => Some(
                "make room on the disks of the cache (TCPLAB_KERNELS) and of TMPDIR, and in \
                 memory (`--jobs 1` needs less), then use the same command again"
                    .into(),
            ),
            BuildError::Failed { .. } | BuildError::Repository { .. } | BuildError::Stopped => None,
        }
    }
}

fn named(tools: &[&Tool]) -> String {
    tools.iter().map(|tool| tool.program).collect::<Vec<_>>().join(", ")
}
