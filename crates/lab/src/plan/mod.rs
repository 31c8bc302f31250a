//! What a run is to do, in which world, on which machine.

mod environment;
mod kernels;
mod quick;
mod run_plan;
mod worlds;

pub use environment::environment;
pub(crate) use environment::{environment_of_run, of_kernel, sysctl, tcplab};
pub use kernels::{KernelChoice, KernelUsed, VirtualKernels, kernel_image};
pub use run_plan::{Overrides, Plan, plan};
pub use worlds::{Refusal, kernel_refused, kernel_substitute};
pub(crate) use worlds::{is_exact, is_simulated, stacks, world_of};
