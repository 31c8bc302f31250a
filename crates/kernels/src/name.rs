//! The name of an image.

use std::fmt;
use std::str::FromStr;

use tcplab_units::visible_line;

use crate::cache_error::CacheError;
use crate::version::is_version;

/// What stands for another kernel, or for none.
const RESERVED: [&str; 2] = ["newest", "model"];
/// The longest name, characters.
const LONGEST: usize = 64;

/// A name such as `6.12` or `my-tree`: letters, digits, `.`, `_`, `+`, `-`; it begins with a letter
/// or a digit, so it is no path and no hidden file. It is not `newest` or
/// `model`, which mean others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelName(String);

impl KernelName {
    /// The nearest legal name to a text.
    ///
    /// # Errors
    /// If nothing of the text is legal.
    pub fn nearest(text: &str) -> Result<KernelName, CacheError> {
        let legal: String = text.chars().map(|c| if is_inner(c) { c } else { '-' }).collect();
        let begin = legal.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        begin.chars().take(LONGEST).collect::<String>().parse()
    }

    /// Whether it is a version whose source Debian may have, such as `6.12`.
    pub fn is_version(&self) -> bool {
        is_version(&self.0)
    }

    /// The name of an image of this version whose clock ticks `hz` times a second.
    ///
    /// # Errors
    /// If it is too long for a name.
    pub fn with_hz(&self, hz: u32) -> Result<KernelName, CacheError> {
        format!("{}-{hz}hz", self.0).parse()
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-')
}

impl FromStr for KernelName {
    type Err = CacheError;

    fn from_str(text: &str) -> Result<KernelName, CacheError> {
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins
            && !RESERVED.contains(&text)
            && text.len() <= LONGEST
            && text.chars().all(is_inner)
        {
            return Ok(KernelName(text.into()));
        }
        Err(CacheError::Name { given: visible_line(text).into_owned() })
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_paths_or_hidden_are_refused() {
        for text in ["", ".", "..", "../x", "a/b", "/a", "-6.12", ".work", "a b", "a\x1b[2J", "é"]
        {
            assert!(text.parse::<KernelName>().is_err(), "{text:?}");
        }
        assert!("x".repeat(LONGEST + 1).parse::<KernelName>().is_err());
        for text in ["6.12", "my-tree", "6.12.117-net_next+", "A"] {
            assert_eq!(text.parse::<KernelName>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn version_has_two_numbers() {
        for (text, is_version) in [
            ("6.12", true),
            ("7.2", true),
            ("5.10", true),
            ("6.12.1", false),
            ("6", false),
            ("6.", false),
            ("v6.12", false),
            ("6.12-rc1", false),
        ] {
            assert_eq!(text.parse::<KernelName>().unwrap().is_version(), is_version, "{text}");
        }
    }

    #[test]
    fn nearest_name_is_legal() {
        for (text, name) in [("7.2.0-rc1-net next", "7.2.0-rc1-net-next"), ("../é/x", "x")] {
            assert_eq!(KernelName::nearest(text).unwrap().as_str(), name);
        }
        assert!(KernelName::nearest("/../").is_err());
    }
}
