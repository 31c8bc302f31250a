//! What a run is to do, in which world, on which machine.

mod environment;
mod run_plan;
mod worlds;

pub use environment::environment;
pub(crate) use environment::{of_kernel, tcplab};
pub use run_plan::{Instead, Plan, plan};
pub(crate) use worlds::{KERNEL, SIM, is_virtual, of_case, stacks};
pub use worlds::{Refusal, World, kernel_refused};
