//! The kernel's own build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::remove_all;
use crate::error::BuildError;
use crate::event::Event;
use crate::process::Runner;
use crate::{recipe, tree};

/// Written once the configuration is complete.
const CONFIGURED: &str = ".tcplab-configured";

/// Variables of the user's that would change the build.
const FOREIGN: [&str; 24] = [
    "MAKEFLAGS",
    "MAKEFILES",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "KBUILD_OUTPUT",
    "KBUILD_EXTMOD",
    "KBUILD_EXTRA_SYMBOLS",
    "KBUILD_VERBOSE",
    "KBUILD_DEFCONFIG",
    "KCONFIG_CONFIG",
    "KCONFIG_ALLCONFIG",
    "KCONFIG_OVERWRITECONFIG",
    "KCFLAGS",
    "KCPPFLAGS",
    "KAFLAGS",
    "HOSTCFLAGS",
    "HOSTLDFLAGS",
    "LLVM",
    "LLVM_IAS",
    "CROSS_COMPILE",
    "SUBARCH",
    "INSTALL_PATH",
    "V",
    "O",
];

/// `make` in a patched tree.
pub(super) struct Make<'a> {
    tree: PathBuf,
    jobs: usize,
    runner: &'a Runner<'a>,
}

impl<'a> Make<'a> {
    pub(super) fn new(tree: PathBuf, jobs: usize, runner: &'a Runner<'a>) -> Make<'a> {
        Make { tree, jobs, runner }
    }

    fn command(&self, target: &str) -> Command {
        let mut make = Command::new("make");
        make.arg(format!("-j{}", self.jobs)).arg("-C").arg(&self.tree).arg(target);
        for name in FOREIGN {
            make.env_remove(name);
        }
        make.envs(recipe::ENVIRONMENT);
        make
    }

    /// Makes the configuration, also where there is one of another source.
    pub(super) fn configure_anew(&self) -> Result<(), BuildError> {
        let done = self.tree.join(CONFIGURED);
        remove_all(&done)?;
        self.configure()
    }

    /// Makes the configuration, unless it is there.
    pub(super) fn configure(&self) -> Result<(), BuildError> {
        let (config, done) = (self.tree.join(".config"), self.tree.join(CONFIGURED));
        if !done.exists() {
            self.runner.output(self.command("tinyconfig"), "configuring")?;
            // Of two lines for an option, the later one counts.
            let text = self.config()? + recipe::FRAGMENT;
            fs::write(&config, text).map_err(BuildError::file("write", &config))?;
            self.runner.output(self.command("olddefconfig"), "configuring")?;
            fs::write(&done, "").map_err(BuildError::file("write", &done))?;
        }
        let text = self.config()?;
        let lacks = |name: &&str| recipe::option(&text, name) != Some("y");
        match recipe::NEEDED.into_iter().find(lacks) {
            Some(option) => Err(BuildError::Option { option }),
            None => Ok(()),
        }
    }

    /// The configuration.
    pub(super) fn config(&self) -> Result<String, BuildError> {
        let path = self.tree.join(".config");
        fs::read_to_string(&path).map_err(BuildError::file("read", &path))
    }

    /// Compiles what is not compiled yet.
    pub(super) fn compile(&self, tell: &mut dyn FnMut(Event)) -> Result<(), BuildError> {
        let version = tree::version(&self.tree)?;
        let expected = recipe::expected_files(tree::major_minor(&version));
        let before = self.compiled_files();
        let mut done = before;
        tell(Event::Compiling { done, before, expected });
        self.runner.run(vec![self.command("linux")], "compiling", &mut |line| {
            if line.is_some_and(is_compiling) {
                done += 1;
                tell(Event::Compiling { done, before, expected });
            }
        })
    }

    /// How many files are compiled.
    pub(super) fn compiled_files(&self) -> u64 {
        objects(&self.tree)
    }

    /// Writes the image without its symbols, which take twice its size.
    pub(super) fn strip(&self, image: &Path) -> Result<(), BuildError> {
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(image).arg(self.tree.join("linux"));
        self.runner.output(strip, "stripping the image").map(drop)
    }

    /// What `uname -r` prints in an image; it has to run for this.
    pub(super) fn release(&self, image: &Path) -> Result<String, BuildError> {
        let mut command = Command::new(image);
        command.arg("--version");
        Ok(self.runner.output(command, "starting the image")?.trim().to_owned())
    }

    /// Name and version of the compiler.
    pub(super) fn compiler(&self) -> Result<String, BuildError> {
        let mut gcc = Command::new("gcc");
        gcc.arg("--version");
        let text = self.runner.output(gcc, "asking for the compiler's version")?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Whether the image knows `seccomp=on`: from Linux 6.16.
    pub(super) fn has_seccomp(&self) -> bool {
        let source = self.tree.join("arch/um/os-Linux/start_up.c");
        fs::read_to_string(source).is_ok_and(|text| text.contains("__uml_setup(\"seccomp=\""))
    }
}

/// Whether a line of `make` names a file of the kernel that is compiled, such as
/// `  CC      net/ipv4/tcp.o`.
fn is_compiling(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("CC" | "AS")) && words.next().is_some_and(is_object)
}

fn is_object(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|kind| kind == "o") && !name.ends_with("vmlinux.o")
}

/// Objects below a folder; those of the build's own programs, in `scripts` and `tools`, do not
/// count.
fn objects(folder: &Path) -> u64 {
    let mut count = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, kind) = (entry.file_name(), entry.file_type());
        let name = name.to_string_lossy();
        if kind.is_ok_and(|kind| kind.is_dir()) {
            if name != "scripts" && name != "tools" {
                count += objects(&entry.path());
            }
        } else if is_object(&name) {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_files_are_counted_from_what_make_prints() {
        let printed = "  HOSTCC  scripts/basic/fixdep\n  CC      net/ipv4/tcp.o\n  \
                       AS      arch/x86/um/checksum_64.o\n  AR      net/built-in.a\n  \
                       LD      vmlinux.o\n  CC [M]  a.o\n  CC      scripts/mod/empty.s\n";
        assert_eq!(printed.lines().filter(|line| is_compiling(line)).count(), 2);
    }

    #[test]
    fn objects_of_an_earlier_build_are_counted() {
        let tree = tempfile::tempdir().unwrap();
        for name in ["net/ipv4/tcp.o", "net/ipv4/tcp.c", "kernel/a.o", "scripts/x.o", "vmlinux.o"] {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(objects(tree.path()), 2);
    }
}
