//! The flags of `tcplab kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tcplab_kernels::KernelName;

use super::JsonArguments;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KernelArguments {
    #[command(subcommand)]
    pub(crate) command: KernelCommand,
}

const EXAMPLES: &str = "\
Examples:
  tcplab kernel build 7.2                      build Linux 7.2 from Debian's source
  tcplab kernel build --source ~/net-next      build your own tree, a patch of TCP for one
  tcplab kernel build mine --source ~/linux    the same, with a name of yours
  tcplab kernel list                           list the images
  tcplab kernel show 7.2                       show what one was made from
  tcplab kernel remove 7.2                     remove one

Images are in ~/.cache/tcplab/kernels, or in $TCPLAB_KERNELS. An image is the Linux kernel as a
program (user-mode Linux), for virtual time; it runs without privileges.";

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Build an image of Linux for virtual time
    ///
    /// Downloads Debian's package linux-source-VERSION with apt, applies tcplab's patches, compiles
    /// it as user-mode Linux, and keeps the image. Looks into the machine's own suites, then into
    /// others of the same mirror; the system's lists stay as they are. Takes about five minutes
    /// on two processors and 1.2 GB of disk space for that time. A build that was interrupted goes
    /// on where it stopped.
    Build(BuildArguments),
    /// List the images
    List(ListArguments),
    /// Show what an image was made from
    Show(ShowKernelArguments),
    /// Remove an image, or what is left of an unfinished build
    Remove(RemoveArguments),
}

#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) struct BuildArguments {
    /// The version, such as 7.2, 6.12, 6.1 or 5.10; with --source, the image's name [default: the
    /// tree's version and the name of its directory]
    #[arg(value_name = "VERSION", value_parser = name)]
    pub(crate) name: Option<KernelName>,
    /// Build this tree of Linux, which is only read
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// Timer ticks per second [default: 250, as in Debian's kernels]
    ///
    /// Timers of TCP are rounded to a tick. Linux's packetdrill scripts are written for 1000. An
    /// image with other ticks than 250 is called VERSION-Nhz, such as 7.2-1000hz, unless --source
    /// and a name are given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(200..=1000))]
    pub(crate) hz: Option<u32>,
    /// Compile this many files at once [default: one per processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Suppress progress and the final summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const BUILD_EXAMPLES: &str = "\
Needs make, gcc, flex, bison, bc, perl, patch, xz and apt. What is missing is named, with the command
that installs it.

Linux is licensed under GPL-2.0, and so are tcplab's patches for it. The image is for your own use;
whoever passes it on must offer its source.

Exit codes: 0 the image is there, 2 it could not be built, 130 Ctrl-C stopped it.";

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShowKernelArguments {
    /// The image's name
    #[arg(value_name = "VERSION", value_parser = image)]
    pub(crate) name: KernelName,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// The image's name
    #[arg(value_name = "VERSION", value_parser = image)]
    pub(crate) name: KernelName,
}

fn name(text: &str) -> Result<KernelName, String> {
    text.parse().map_err(|error: tcplab_kernels::CacheError| error.to_string())
}

/// An image, also as scenarios name it: `linux-6.12`.
fn image(text: &str) -> Result<KernelName, String> {
    name(text.strip_prefix("linux-").unwrap_or(text))
}
