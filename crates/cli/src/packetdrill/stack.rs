//! The stacks that scripts are run on: models, and kernels in virtual time.

use anyhow::{Context, Result, bail};
use tcplab_kernels::Kernel;
use tcplab_lab::{KernelChoice, kernel_image};
use tcplab_scenario::Profile;
use tcplab_stack::Config;

/// A stack under test.
pub(super) struct Stack {
    /// As the command line has it.
    pub(super) name: String,
    pub(super) kind: StackKind,
}

pub(super) enum StackKind {
    Model(Box<Config>),
    Kernel(Box<Kernel>),
}

impl Stack {
    /// As scenarios name them: `linux-VERSION` and `linux-newest` are kernels, `model:NAME` is a
    /// model. What is no Linux can only be a model, and needs no prefix.
    pub(super) fn named(given: &str) -> Result<Stack> {
        let named = || format!("--stack {given}");
        let kernel = |choice| -> Result<StackKind> {
            Ok(StackKind::Kernel(Box::new(kernel_image(&choice).with_context(named)?)))
        };
        let kind = match given.strip_prefix("linux") {
            Some("") => bail!(
                "`linux` is this machine's kernel, which scripts cannot run on in virtual time: use \
                 --stack linux-newest (a kernel that `tcplab kernel build` made) or \
                 model:linux-6.18; to test this machine's kernel, run packetdrill itself"
            ),
            Some("-newest") => kernel(KernelChoice::Newest)?,
            Some(version) if version.starts_with('-') => {
                kernel(KernelChoice::Named(version[1..].parse().with_context(named)?))?
            }
            _ => {
                let model = given.strip_prefix("model:").unwrap_or(given);
                StackKind::Model(Box::new(Profile::named(model).with_context(named)?.config))
            }
        };
        Ok(Stack { name: given.to_owned(), kind })
    }

    /// The system that it belongs to, as packetdrill has it for `#ifdef FreeBSD`.
    pub(super) fn system(&self) -> Option<&'static str> {
        let name = self.name.strip_prefix("model:").unwrap_or(&self.name);
        let is_of = |system: &&str| name.starts_with(&system.to_lowercase());
        ["Linux", "FreeBSD"].into_iter().find(is_of)
    }
}
