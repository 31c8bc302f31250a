//! The virtual world: two model stacks, a path between them, and no clock but the next event.

mod packets;
mod queue;
mod settings;

pub use settings::{KERNEL, SettingsError, set, settings};
