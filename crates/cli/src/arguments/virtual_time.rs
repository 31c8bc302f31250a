//! The kernels of `tcplab shell` in virtual time.

use clap::{Args, ValueEnum};
use tcplab_kernels::KernelName;
use tcplab_lab::KernelChoice;

/// What time a shell's programs live in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellWorld {
    /// This machine's kernel, in real time
    Kernel,
    /// A kernel of its own at each end, in virtual time
    Sim,
}

#[derive(Debug, Args)]
pub(crate) struct VirtualArguments {
    /// Where CMD runs: `sim` is virtual time, with a kernel of its own at each end [default:
    /// kernel; sim with --near or --far]
    #[arg(long, value_name = "WORLD")]
    pub(crate) world: Option<ShellWorld>,
    /// Kernel of the near end in virtual time: `linux-VERSION` of `tcplab kernel list`, or
    /// `linux-newest` [default: linux-newest]
    #[arg(long, value_name = "STACK", value_parser = near)]
    pub(crate) near: Option<KernelChoice>,
    /// Kernel of the far end in virtual time, as --near; a program at the far end is --far-command
    #[arg(long, value_name = "STACK", value_parser = far)]
    pub(crate) far: Option<KernelChoice>,
}

impl VirtualArguments {
    /// Whether CMD runs in virtual time.
    pub(crate) fn is_virtual(&self) -> bool {
        self.world == Some(ShellWorld::Sim) || self.flag().is_some()
    }

    /// A flag that asks for virtual time, if there is one beside `--world`.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let near = self.near.as_ref().map(|_| "--near");
        near.or_else(|| self.far.as_ref().map(|_| "--far"))
    }
}

fn near(text: &str) -> Result<KernelChoice, String> {
    kernel(text)
}

fn far(text: &str) -> Result<KernelChoice, String> {
    kernel(text)
        .map_err(|said| format!("{said}; a program at the far end is `--far-command '{text}'`"))
}

fn kernel(text: &str) -> Result<KernelChoice, String> {
    let name = match text {
        "linux" | "linux-newest" => return Ok(KernelChoice::Newest),
        text if text.starts_with("model:") => {
            return Err("a model runs no programs: use `linux-VERSION` or `linux-newest`".into());
        }
        text => text.strip_prefix("linux-").map(str::parse::<KernelName>),
    };
    match name {
        Some(Ok(name)) => Ok(KernelChoice::Named(name)),
        _ if text.parse::<KernelName>().is_ok_and(|name| name.is_version()) => {
            Err(format!("use `linux-{text}`"))
        }
        _ => {
            Err("not a kernel: use `linux-VERSION`, such as `linux-7.2`, or `linux-newest`".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_read_and_commands_are_not() {
        assert_eq!(near("linux-newest"), Ok(KernelChoice::Newest));
        assert_eq!(far("linux-6.12"), Ok(KernelChoice::Named("6.12".parse().unwrap())));
        for (text, said) in [
            ("iperf3 -s", "`--far-command 'iperf3 -s'`"),
            ("nc", "`--far-command 'nc'`"),
            ("6.12", "use `linux-6.12`"),
            ("model:linux-6.18", "a model runs no programs"),
            ("linux-", "not a kernel"),
            ("linux-../x", "not a kernel"),
        ] {
            let error = far(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
