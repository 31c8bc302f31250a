//! Which world trials run in.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    /// Kernel for cases whose stacks are `linux`, virtual time for models; virtual time for all
    /// where this machine forbids namespaces
    Auto,
    /// This machine's kernel, in real time
    Kernel,
    /// Virtual time: models only; needs no privileges, same seed gives same bytes
    Sim,
}

impl From<World> for tcplab_lab::World {
    fn from(world: World) -> tcplab_lab::World {
        match world {
            World::Auto => tcplab_lab::World::Auto,
            World::Kernel => tcplab_lab::World::Kernel,
            World::Sim => tcplab_lab::World::Sim,
        }
    }
}
