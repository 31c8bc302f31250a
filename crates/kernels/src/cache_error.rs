//! What can go wrong with the cache.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::version::is_version;

/// Why the cache cannot give what it is asked for.
#[derive(Debug, Error)]
pub enum CacheError {
    /// No image may have this name.
    #[error(
        "`{given}` is no name of a kernel: use letters, digits, `.`, `_`, `+`, `-`, begin with a \
         letter or digit; `newest` and `model` mean others"
    )]
    Name {
        /// The name, with control characters visible.
        given: String,
    },
    /// Nothing says where the cache is.
    #[error("no place for kernels: none of TCPLAB_KERNELS, XDG_CACHE_HOME and HOME is set")]
    NoPlace,
    /// There is no such image.
    #[error("there is no kernel {name} in {}", cache.display())]
    Unknown {
        /// The name asked for.
        name: String,
        /// Where it was looked for.
        cache: PathBuf,
        /// Those that are there.
        known: Vec<String>,
    },
    /// The image is there, but cannot be used.
    #[error("kernel {name} cannot be used: {problem}")]
    Unusable {
        /// Its name.
        name: String,
        /// Why.
        problem: String,
    },
    /// The image was made by another version of tcplab.
    #[error("kernel {name} was built by another version of tcplab")]
    Outdated {
        /// Its name.
        name: String,
    },
    /// An image is a program of Linux.
    #[error("kernels in virtual time are programs of Linux, and this is another system")]
    NotLinux,
    /// Another process builds or removes it.
    #[error("another tcplab builds or removes kernel {name}")]
    Busy {
        /// Its name.
        name: String,
    },
    /// A file of the cache.
    #[error("cannot {verb} {}: {source}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl CacheError {
    pub(crate) fn file(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CacheError {
        let path = path.to_owned();
        move |source| CacheError::File { verb, path, source }
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            CacheError::NoPlace => Some("set TCPLAB_KERNELS to a directory".into()),
            CacheError::Unknown { name, known, .. } if known.is_empty() => {
                Some(format!("build it with `{}`", how_to_build(name)))
            }
            CacheError::Unknown { name, known, .. } => Some(format!(
                "use one of {}, or build it with `{}`",
                known.join(", "),
                how_to_build(name)
            )),
            CacheError::Outdated { name } => {
                Some(format!("build it again with `tcplab kernel build {name}`"))
            }
            CacheError::Unusable { name, .. } => {
                Some(format!("remove it with `tcplab kernel remove {name}`, then build it again"))
            }
            CacheError::NotLinux => Some(
                "use a model, such as `stack = \"model:linux-6.18\"`, or a Linux machine".into(),
            ),
            CacheError::Busy { .. } => Some("wait until it has finished".into()),
            CacheError::Name { .. } | CacheError::File { .. } => None,
        }
    }
}

/// The command that builds an image of this name: of a version from Debian's source, else from a
/// tree.
fn how_to_build(name: &str) -> String {
    let source = if is_version(name) { "" } else { " --source DIR" };
    format!("tcplab kernel build {name}{source}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_builds_what_was_asked_for() {
        for (name, command) in [
            ("7.2", "`tcplab kernel build 7.2`"),
            ("nosuch", "`tcplab kernel build nosuch --source DIR`"),
        ] {
            let (name, cache) = (name.to_owned(), PathBuf::new());
            let remedy = CacheError::Unknown { name, cache, known: Vec::new() }.remedy();
            assert!(remedy.unwrap().ends_with(command), "{command}");
        }
    }
}
