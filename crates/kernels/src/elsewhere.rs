//! On a system that is not Linux: there are no images.

use std::convert::Infallible;
use std::path::PathBuf;

use crate::{CacheError, KernelName, Manifest};

/// Where images would be kept: nowhere.
#[derive(Debug, Clone)]
pub enum Cache {}

/// An image that can be used: there is none.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What it was made from.
    pub manifest: Manifest,
    never: Infallible,
}

impl Cache {
    /// The user's.
    ///
    /// # Errors
    /// Always: an image is a program of Linux.
    pub fn of_user() -> Result<Cache, CacheError> {
        Err(CacheError::NotLinux)
    }

    /// The image of the newest Linux.
    ///
    /// # Errors
    /// Never: there is no cache to ask.
    pub fn newest(&self) -> Result<Option<Kernel>, CacheError> {
        match *self {}
    }

    /// The image with this name.
    ///
    /// # Errors
    /// Never: there is no cache to ask.
    pub fn find(&self, _: &KernelName) -> Result<Kernel, CacheError> {
        match *self {}
    }
}

impl Kernel {
    /// The program to run.
    pub fn image(&self) -> PathBuf {
        match self.never {}
    }

    /// Whether it can be a host in virtual time.
    ///
    /// # Errors
    /// Never: there is none to ask.
    pub fn check_for_trials(&self) -> Result<(), CacheError> {
        match self.never {}
    }
}
