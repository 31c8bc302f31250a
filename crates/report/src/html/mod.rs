//! What all pages are made with: style sheets, scripts, figures, packed parts.

pub(crate) mod anchor;
pub(crate) mod assets;
pub(crate) mod error;
pub(crate) mod figure;
pub(crate) mod levels;
pub(crate) mod pack;
pub(crate) mod packets;
pub(crate) mod rendered;
pub(crate) mod unbroken;
