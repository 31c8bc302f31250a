//! How tcplab builds a kernel: its configuration, its patches, and what the build is told.

use crate::patches::PATCHES;

/// The configuration, over `tinyconfig`.
pub(crate) const FRAGMENT: &str = include_str!("../fragment.config");

/// Options without which an image is of no use.
pub(crate) const NEEDED: [&str; 5] = [
    "CONFIG_UML_TIME_TRAVEL_SUPPORT",
    "CONFIG_HOSTFS",
    "CONFIG_INET",
    "CONFIG_VIRTIO_UML",
    "CONFIG_VIRTIO_NET",
];

/// The name and time of a build are part of `uname`, which Linux mixes into its random numbers. So
/// that equal seeds give equal bytes, all images say the same.
pub(crate) const ENVIRONMENT: [(&str, &str); 6] = [
    ("ARCH", "um"),
    ("KBUILD_BUILD_USER", "tcplab"),
    ("KBUILD_BUILD_HOST", "tcplab"),
    ("KBUILD_BUILD_TIMESTAMP", "Thu Jan 1 00:00:00 UTC 1970"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("LOCALVERSION", ""),
];

/// Raised when images change by something else than configuration, patches and environment.
const FORMAT: &str = "1";

/// Hash of all that this version of tcplab puts into an image, apart from source and compiler.
pub fn configuration_hash() -> String {
    hash(FRAGMENT, PATCHES.iter().flat_map(|patch| patch.texts.iter().copied()))
}

fn hash<'a>(fragment: &'a str, patches: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    let environment = ENVIRONMENT.iter().flat_map(|(name, value)| [*name, *value]);
    for part in [FORMAT, fragment].into_iter().chain(environment).chain(patches) {
        // With its length: parts that are joined elsewhere must not look the same.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The options that the fragment sets, as `(CONFIG_NAME, value)`.
pub(crate) fn wanted_options() -> impl Iterator<Item = (&'static str, &'static str)> {
    FRAGMENT.lines().filter(|line| line.starts_with("CONFIG_")).filter_map(|it| it.split_once('='))
}

/// The value of an option in a `.config`.
pub(crate) fn option<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// Wanted options that this configuration does not have.
pub(crate) fn missing_options(config: &str) -> Vec<&'static str> {
    wanted_options()
        .filter(|(name, value)| option(config, name) != Some(value))
        .map(|(name, _)| name)
        .collect()
}

/// About how many files `make` compiles for a version, to say how long it still takes: as counted
/// with 6.12 and 7.2.
pub(crate) fn expected_files(version: (u32, u32)) -> u64 {
    if version >= (7, 0) { 840 } else { 810 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_changes_with_configuration_and_patches() {
        let base = hash("CONFIG_A=y\n", ["x", "y"].into_iter());
        assert_eq!(base, hash("CONFIG_A=y\n", ["x", "y"].into_iter()));
        for other in [
            hash("CONFIG_A=n\n", ["x", "y"].into_iter()),
            hash("CONFIG_A=y\n", ["xy"].into_iter()),
            hash("CONFIG_A=y\n", ["y", "x"].into_iter()),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(configuration_hash().len(), 16);
    }

    #[test]
    fn all_needed_options_are_wanted() {
        for needed in NEEDED {
            assert!(wanted_options().any(|(name, value)| (name, value) == (needed, "y")));
        }
    }

    #[test]
    fn default_congestion_control_is_the_one_that_is_told() {
        let option = format!("CONFIG_DEFAULT_{}", crate::DEFAULT_CONGESTION.to_uppercase());
        assert!(wanted_options().any(|(name, value)| (name, value) == (option.as_str(), "y")));
    }

    #[test]
    fn options_are_whole_names() {
        let config = "CONFIG_HZ=250\nCONFIG_HZ_PERIODIC=y\n# CONFIG_SMP is not set\n";
        assert_eq!(option(config, "CONFIG_HZ"), Some("250"));
        assert_eq!(option(config, "CONFIG_SMP"), None);
        assert!(missing_options(config).contains(&"CONFIG_INET"));
    }

    #[test]
    fn option_is_listed_once() {
        let mut names: Vec<_> = wanted_options().map(|(name, _)| name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
