//! Errors of commands that know what to do about them.

use std::fmt;

use anyhow::Error;

/// What is wrong, and what to do.
#[derive(Debug)]
pub(crate) struct Remedied {
    said: String,
    remedy: String,
}

impl Remedied {
    /// An error whose remedy is printed below it.
    pub(crate) fn error(said: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(Remedied { said: said.into(), remedy: remedy.into() })
    }

    pub(crate) fn remedy(&self) -> String {
        self.remedy.clone()
    }
}

impl fmt::Display for Remedied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Remedied {}
