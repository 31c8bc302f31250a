//! What an image was made from.

use serde::{Deserialize, Serialize};

/// How often the clock of an image ticks a second unless it is built otherwise: as in Debian's
/// kernels.
pub const DEFAULT_HZ: u32 = 250;
/// The congestion control of an image where nothing sets another: as in Debian's kernels.
pub const DEFAULT_CONGESTION: &str = "cubic";
/// Digits of a commit's hash in names.
pub(crate) const DIGITS: usize = 12;

/// The manifest of an image: `manifest.json` beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name that it is found by.
    pub name: String,
    /// What `uname -r` prints in it.
    pub release: String,
    /// Where its source came from.
    pub source: SourceOrigin,
    /// The patches applied, by name.
    pub patches: Vec<String>,
    /// Hash of the configuration, the patches and the way to build (BLAKE3).
    pub configuration_hash: String,
    /// Options that this source does not know or refuses.
    pub missing_options: Vec<String>,
    /// Ticks a second; timers of TCP are rounded to a tick.
    pub hz: u32,
    /// Whether it can run its processes by seccomp (`seccomp=on`), twice as fast as by ptrace.
    pub seccomp: bool,
    /// Name and version of the compiler.
    pub compiler: String,
    /// Hash of the image (BLAKE3).
    pub image_hash: String,
    /// Size of the image.
    pub image_bytes: u64,
    /// When it was built.
    pub built_unix_ns: i64,
    /// How many files were compiled.
    pub compiled_files: u64,
}

/// Where a source came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SourceOrigin {
    /// A package of Debian.
    Package {
        /// Such as `linux-source-6.12`.
        package: String,
        /// Such as `6.12.117-1`.
        version: String,
        /// The suite it was taken from; none if the machine's own.
        suite: Option<String>,
    },
    /// A directory of the user's.
    Tree {
        /// Where.
        directory: String,
        /// Hash of the names, sizes and times of its files (BLAKE3).
        fingerprint: String,
    },
    /// A commit of a repository of the user's.
    Commit {
        /// The repository's topmost directory.
        repository: String,
        /// The commit's hash.
        commit: String,
    },
}

impl SourceOrigin {
    /// Whether it is a commit.
    pub fn is_commit(&self) -> bool {
        matches!(self, SourceOrigin::Commit { .. })
    }

    /// What tells it from a package: `commit f6a6cfc7205a`, `tree net-next`; nothing of a package.
    pub fn in_short(&self) -> Option<String> {
        match self {
            SourceOrigin::Package { .. } => None,
            SourceOrigin::Tree { directory, .. } => {
                let last = directory.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                Some(format!("tree {last}"))
            }
            SourceOrigin::Commit { commit, .. } => {
                Some(format!("commit {}", commit.get(..DIGITS).unwrap_or(commit)))
            }
        }
    }

    /// The source in a few words.
    pub fn in_words(&self) -> String {
        match self {
            SourceOrigin::Package { package, version, suite: None } => {
                format!("package {package} {version}")
            }
            SourceOrigin::Package { package, version, suite: Some(suite) } => {
                format!("package {package} {version} ({suite})")
            }
            SourceOrigin::Tree { directory, .. } => format!("tree {directory}"),
            SourceOrigin::Commit { repository, commit } => {
                format!("commit {commit} of {repository}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_survives_json() {
        let sources = [
            SourceOrigin::Package {
                package: "linux-source-6.12".into(),
                version: "6.12.117-1".into(),
                suite: Some("trixie".into()),
            },
            SourceOrigin::Tree { directory: "/src/linux".into(), fingerprint: "00ff".into() },
            SourceOrigin::Commit { repository: "/src/linux".into(), commit: "00ff".into() },
        ];
        for source in sources {
            let manifest = Manifest {
                name: "6.12".into(),
                release: "6.12.117".into(),
                source,
                patches: vec!["hz".into()],
                configuration_hash: "abc".into(),
                missing_options: vec!["CONFIG_RSEQ".into()],
                hz: 250,
                seccomp: false,
                compiler: "gcc 12".into(),
                image_hash: "def".into(),
                image_bytes: 6_000_000,
                built_unix_ns: 1_800_000_000_000_000_000,
                compiled_files: 900,
            };
            let text = serde_json::to_string(&manifest).unwrap();
            assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
        }
    }
}
