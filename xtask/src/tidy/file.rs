//! A file as the rules read it.

/// A file as the rules see it.
pub(crate) struct File {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What follows the last dot of `path`, or nothing.
pub(super) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}
