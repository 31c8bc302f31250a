//! The TCP stacks of a case.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The TCP stack at one end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackUsed {
    /// `client` or `server`.
    pub end: String,
    /// The model's profile, such as `osx-10.7`, or the kernel, such as `Linux 6.18.44`; with its
    /// image where that is not simply the release: `Linux 6.18.44 (image mine, 1000 Hz)`.
    pub name: String,
    /// Whether it was a model, in virtual time.
    pub is_model: bool,
    /// Whether the stack's source is closed, so that the model follows descriptions of it.
    pub like: bool,
    /// Which stack the profile models, in a line; empty for a kernel.
    pub title: String,
    /// The source of its constants; empty for a kernel.
    pub source: String,
    /// Whether it replaces the kernel that the scenario names.
    pub for_kernel: bool,
}

/// Such as `windows-7-like model`, `Linux 6.18.44`.
impl fmt::Display for StackUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let like = if self.like { "-like" } else { "" };
        let model = if self.is_model { " model" } else { "" };
        write!(f, "{}{like}{model}", self.name)
    }
}
