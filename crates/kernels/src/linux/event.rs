//! What a build tells while it runs.

/// A step of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The image of another source has the name, and will be replaced.
    Replaces {
        /// That source, in words.
        source: String,
    },
    /// Looking for the package in these suites.
    Looking {
        /// Their name.
        suite: String,
    },
    /// Downloading the package.
    Downloading {
        /// Such as `linux-source-6.12 6.12.117-1`.
        package: String,
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Unpacking or copying the source.
    Unpacking,
    /// Replacing what differs from the commit built before.
    Updating {
        /// How many files.
        files: u64,
    },
    /// These patches were applied.
    Patched {
        /// Their names.
        names: Vec<String>,
    },
    /// Making the configuration.
    Configuring,
    /// Compiling.
    Compiling {
        /// Files so far, those of an earlier build that was stopped among them.
        done: u64,
        /// Files that this build began with.
        before: u64,
        /// About how many there are.
        expected: u64,
    },
    /// Moving the image into the cache.
    Storing,
}
