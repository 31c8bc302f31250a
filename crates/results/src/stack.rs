//! Whose TCP spoke in a case.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whose TCP spoke at one end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackUsed {
    /// `client` or `server`.
    pub end: String,
    /// The model's profile, such as `osx-10.7`, or the kernel, such as `Linux 6.18.44`.
    pub name: String,
    /// Whether it was a model, in virtual time.
    pub is_model: bool,
    /// Whether the stack's source is closed, so that the model is like what is told of it.
    pub like: bool,
    /// What the profile is of, in a line; empty of a kernel.
    pub title: String,
    /// From where its constants are known; empty of a kernel.
    pub source: String,
    /// Whether it stands for the kernel that the scenario names.
    pub for_kernel: bool,
}

/// Such as `model windows-7-like`, `model linux-6.18 for the kernel`, `Linux 6.18.44`.
impl fmt::Display for StackUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = if self.is_model { "model " } else { "" };
        let like = if self.like { "-like" } else { "" };
        let stands = if self.for_kernel { " for the kernel" } else { "" };
        write!(f, "{model}{}{like}{stands}", self.name)
    }
}
