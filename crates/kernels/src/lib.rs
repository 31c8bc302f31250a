//! Images of user-mode Linux (`ARCH=um`) for virtual time: built, kept, listed and removed.
//!
//! An image is Linux as an ordinary program. tcplab contains no kernel: it takes a source
//! package of Debian or a tree of the user's, applies a few small patches (`patches/`, GPL-2.0 as
//! the kernel), and keeps the image in the user's cache ([`Cache`]) with a [`Manifest`] of what it
//! was made from. [`Build`] makes one.

mod apt;
mod build;
mod cache;
mod error;
mod event;
mod manifest;
mod name;
mod patches;
mod process;
mod recipe;
mod tools;
mod tree;
mod work;

pub use build::{Build, BuildSource, Built};
pub use cache::{Cache, Kernel, Unusable};
pub use error::{BuildError, CacheError};
pub use event::Event;
pub use manifest::{Manifest, SourceOrigin};
pub use name::KernelName;
pub use recipe::configuration_hash;
