//! Which world trials run in.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    /// Kernel for cases whose stacks are `linux`, virtual time for models; virtual time for all
    /// where this machine forbids namespaces
    Auto,
    /// This machine's kernel, in real time
    Kernel,
    /// Virtual time: models, and kernels that were built for it (`tcplab kernel build`); needs no
    /// privileges, same seed gives same bytes
    Sim,
}

impl World {
    /// The one that is asked for, if one is.
    pub(crate) fn chosen(self) -> Option<tcplab_results::World> {
        match self {
            World::Auto => None,
            World::Kernel => Some(tcplab_results::World::Kernel),
            World::Sim => Some(tcplab_results::World::Simulated),
        }
    }
}
