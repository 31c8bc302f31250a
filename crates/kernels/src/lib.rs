//! Images of user-mode Linux (`ARCH=um`) for virtual time: built, kept, listed and removed.
//!
//! An image is Linux as an ordinary program. tcplab contains no kernel: it takes a source
//! package of Debian or a tree of the user's, applies a few small patches (`patches/`, GPL-2.0 as
//! the kernel), and keeps the image in the user's cache ([`Cache`]) with a [`Manifest`] of what it
//! was made from. [`Build`] makes one.
//!
//! All of it needs Linux, and is in `linux`. Elsewhere there are names and manifests, and a cache
//! that refuses (`elsewhere`).
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "what the errors have for `linux` alone")
)]

mod cache_error;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod git;
mod manifest;
mod name;
mod user_cache;
mod version;

#[cfg(target_os = "linux")]
mod linux {
    pub(crate) mod apt;
    pub(crate) mod build;
    pub(crate) mod cache;
    pub(crate) mod error;
    pub(crate) mod event;
    pub(crate) mod patches;
    pub(crate) mod process;
    pub(crate) mod recipe;
    pub(crate) mod tools;
    pub(crate) mod tree;
    pub(crate) mod work;

    pub use build::{Build, BuildSource, Built, CommitBuilds};
    pub use cache::{Cache, Kernel, Unusable};
    pub use error::BuildError;
    pub use event::Event;
    pub use recipe::configuration_hash;
}

pub use cache_error::CacheError;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
pub use git::git;
#[cfg(target_os = "linux")]
pub use linux::*;
pub use manifest::{DEFAULT_CONGESTION, DEFAULT_HZ, Manifest, SourceOrigin};
pub use name::KernelName;
pub use user_cache::user_cache;
