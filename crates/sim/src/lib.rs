//! The virtual world: two model stacks, a path between them, and no clock but the next event.

mod calls;
mod datagrams;
mod flows;
mod host;
mod lane;
mod machine;
mod options;
mod packets;
mod queue;
mod reassembly;
mod settings;
#[cfg(test)]
mod smoltcp;
mod trial;
mod world;

pub use settings::{SettingsError, set, settings};
pub use trial::{ADDRESSES, Measured, SimError, TrialRequest, measure, run_trial};
