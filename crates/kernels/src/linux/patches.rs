//! What tcplab changes in a source of Linux. The patches are in `patches/`, under GPL-2.0.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::BuildError;
use crate::process::Runner;

/// A change, in one or more forms for different versions.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) name: &'static str,
    /// The first form that fits is applied.
    pub(crate) texts: &'static [&'static str],
    need: Need,
}

/// When a source needs a patch.
#[derive(Debug)]
enum Need {
    /// This file has this text.
    Has(&'static str, &'static str),
    /// This file lacks this text.
    Lacks(&'static str, &'static str),
}

/// All changes, in order.
pub(crate) const PATCHES: [Patch; 13] = [
    Patch {
        name: "register-area",
        texts: &[include_str!("../../patches/register-area.patch")],
        need: Need::Has("arch/x86/um/user-offsets.c", "HOST_FP_SIZE, 2696"),
    },
    Patch {
        name: HZ,
        texts: &[include_str!("../../patches/hz.patch")],
        need: Need::Has("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n"),
    },
    Patch {
        name: "random-seed",
        texts: &[
            include_str!("../../patches/random-seed.patch"),
            include_str!("../../patches/random-seed-5.10.patch"),
        ],
        need: Need::Lacks("arch/um/os-Linux/util.c", "rng_seed="),
    },
    Patch {
        name: "vdso-getcpu",
        texts: &[include_str!("../../patches/vdso-getcpu.patch")],
        need: Need::Lacks("arch/x86/um/vdso/um_vdso.c", "__vdso_getcpu"),
    },
    Patch {
        name: "socket-buffers",
        texts: &[include_str!("../../patches/socket-buffers.patch")],
        need: Need::Has("net/ipv4/tcp.c", "limit = nr_free_buffer_pages() << (PAGE_SHIFT - 7);"),
    },
    Patch {
        name: "root",
        texts: &[include_str!("../../patches/root.patch")],
        need: Need::Has("init/do_mounts.c", "#ifdef CONFIG_BLOCK\n\t{\n\t\tint err = create_dev("),
    },
    Patch {
        name: "exit-kill",
        texts: &[include_str!("../../patches/exit-kill.patch")],
        need: Need::Has("arch/um/os-Linux/skas/process.c", "PTRACE_OLDSETOPTIONS"),
    },
    Patch {
        name: "program-kill",
        texts: &[
            include_str!("../../patches/program-kill.patch"),
            include_str!("../../patches/program-kill-6.12.patch"),
        ],
        need: Need::Lacks("arch/um/os-Linux/skas/process.c", "getppid()"),
    },
    Patch {
        name: "check-kill",
        texts: &[include_str!("../../patches/check-kill.patch")],
        need: Need::Has("arch/um/os-Linux/start_up.c", "fflush(stdout);\n\n\tpid = fork();"),
    },
    Patch {
        name: "shared-clock",
        texts: &[
            include_str!("../../patches/shared-clock-6.1.patch"),
            include_str!("../../patches/shared-clock-5.10.patch"),
        ],
        // Linux has it from 6.11 on.
        need: Need::Lacks("arch/um/kernel/time.c", "time_travel_shm_client"),
    },
    Patch {
        name: "bbr-phases",
        texts: &[
            include_str!("../../patches/bbr-phases.patch"),
            include_str!("../../patches/bbr-phases-6.1.patch"),
        ],
        need: Need::Has("net/ipv4/tcp_bbr.c", "(bbr_cycle_rand);\n\tbbr_advance"),
    },
    Patch {
        name: "link",
        texts: &[include_str!("../../patches/link.patch")],
        need: Need::Lacks("arch/um/kernel/time.c", "time_travel_resumed"),
    },
    Patch {
        name: "fine-clock",
        texts: &[
            include_str!("../../patches/fine-clock.patch"),
            include_str!("../../patches/fine-clock-5.10.patch"),
        ],
        need: Need::Has("arch/um/include/linux/time-internal.h", "TIMER_MULTIPLIER 256"),
    },
];

/// The exit status of `patch` for a patch that does not fit; of trouble it is 2.
const MISFIT: i32 = 1;

/// The patch that says how often a kernel ticks, and its line that does.
const HZ: &str = "hz";
const HZ_LINE: &str = "+\tdefault 250\n";

/// Applies all that this tree needs, for a kernel that ticks `hz` times a second; returns their
/// names.
pub(crate) fn apply(tree: &Path, hz: u32, runner: &Runner<'_>) -> Result<Vec<String>, BuildError> {
    let mut applied = Vec::new();
    for patch in PATCHES.iter().filter(|patch| patch.need.is_there(tree)) {
        patch.apply(tree, hz, runner)?;
        applied.push(patch.name.to_owned());
    }
    Ok(applied)
}

/// The files that any patch changes, adds or is chosen by.
pub(crate) fn files() -> impl Iterator<Item = &'static str> {
    let changed = PATCHES.iter().flat_map(|patch| patch.texts).flat_map(|text| text.lines());
    let looked_at = PATCHES.iter().map(|patch| match patch.need {
        Need::Has(file, _) | Need::Lacks(file, _) => file,
    });
    changed.filter_map(|line| line.strip_prefix("+++ b/")).chain(looked_at)
}

impl Need {
    fn is_there(&self, tree: &Path) -> bool {
        let read = |file: &str| fs::read_to_string(tree.join(file)).unwrap_or_default();
        match self {
            Need::Has(file, text) => read(file).contains(text),
            Need::Lacks(file, text) => !read(file).contains(text),
        }
    }
}

impl Patch {
    fn apply(&self, tree: &Path, hz: u32, runner: &Runner<'_>) -> Result<(), BuildError> {
        let file = tree.join(".tcplab.patch");
        let command = |dry: bool| {
            let mut command = Command::new("patch");
            command.args(["-p1", "--forward", "--batch", "--no-backup-if-mismatch", "-d"]);
            command.arg(tree).arg("-i").arg(&file).args(dry.then_some("--dry-run"));
            command
        };
        let mut said = String::new();
        for text in self.texts {
            let text = match self.name {
                HZ => text.replace(HZ_LINE, &format!("+\tdefault {hz}\n")),
                _ => (*text).to_owned(),
            };
            fs::write(&file, text).map_err(BuildError::file("write", &file))?;
            match runner.output(command(true), "patch") {
                Ok(_) => {
                    runner.output(command(false), "patch")?;
                    return fs::remove_file(&file).map_err(BuildError::file("remove", &file));
                }
                Err(BuildError::Failed { said: why, code: Some(MISFIT), .. }) => said = why,
                Err(BuildError::Failed { what, said, .. }) => {
                    return Err(BuildError::Machine { what, said });
                }
                Err(error) => return Err(error),
            }
        }
        Err(BuildError::Patch { patch: self.name, said })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::DEFAULT_HZ;

    /// The files that a patch changes, made from its own lines: before (`-`) or after (`+`).
    fn files(text: &str, sign: char) -> BTreeMap<String, String> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut name = String::new();
        for line in text.lines().skip_while(|line| !line.starts_with("--- ")) {
            if let Some(path) = line.strip_prefix("+++ b/") {
                name = path.into();
            } else if line.starts_with([' ', sign]) && !line.starts_with("---") {
                let content = files.entry(name.clone()).or_default();
                content.push_str(&line[1..]);
                content.push('\n');
            }
        }
        files
    }

    fn write(tree: &Path, files: &BTreeMap<String, String>) {
        for (name, content) in files {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    #[test]
    fn each_form_applies_to_what_it_was_made_from() {
        let stop = AtomicBool::new(false);
        for patch in &PATCHES {
            for text in patch.texts {
                let tree = tempfile::tempdir().unwrap();
                write(tree.path(), &files(text, '-'));
                let log = tree.path().join("log");
                patch.apply(tree.path(), DEFAULT_HZ, &Runner::new(&log, &stop)).unwrap();
                for (name, content) in files(text, '+') {
                    let found = fs::read_to_string(tree.path().join(&name)).unwrap();
                    assert_eq!(found, content, "{}: {name}", patch.name);
                }
            }
        }
    }

    /// They change what TCP does and when, which developers of kernels must know.
    #[test]
    fn docs_name_each_patch() {
        let docs = include_str!("../../../../docs/virtual-kernel.md");
        for patch in &PATCHES {
            assert!(docs.contains(&format!("| `{}` |", patch.name)), "{}", patch.name);
        }
    }

    #[test]
    fn patched_source_needs_no_patch() {
        for patch in &PATCHES {
            let tree = tempfile::tempdir().unwrap();
            write(tree.path(), &files(patch.texts[0], '-'));
            assert!(patch.need.is_there(tree.path()), "{}", patch.name);
            write(tree.path(), &files(patch.texts[0], '+'));
            assert!(!patch.need.is_there(tree.path()), "{}", patch.name);
        }
    }

    #[test]
    fn patch_that_does_not_fit_is_named() {
        let (tree, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let file = BTreeMap::from([("arch/um/Kconfig".to_owned(), "config OTHER\n".to_owned())]);
        write(tree.path(), &file);
        let log = tree.path().join("log");
        let runner = Runner::new(&log, &stop);
        let error = PATCHES[1].apply(tree.path(), DEFAULT_HZ, &runner).unwrap_err();
        assert!(matches!(error, BuildError::Patch { patch: "hz", .. }), "{error}");
        assert_eq!(
            fs::read_to_string(tree.path().join("arch/um/Kconfig")).unwrap(),
            "config OTHER\n"
        );
    }

    #[test]
    fn ticks_are_those_that_are_asked_for() {
        let (tree, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let patch = PATCHES.iter().find(|patch| patch.name == HZ).unwrap();
        assert!(patch.texts.iter().all(|text| text.contains(HZ_LINE)));
        write(tree.path(), &files(patch.texts[0], '-'));
        let log = tree.path().join("log");
        patch.apply(tree.path(), 1000, &Runner::new(&log, &stop)).unwrap();
        let found = fs::read_to_string(tree.path().join("arch/um/Kconfig")).unwrap();
        assert!(found.contains("\tdefault 1000\n") && !found.contains("default 250"), "{found}");
    }

    #[test]
    fn each_patch_states_its_licence() {
        for text in PATCHES.iter().flat_map(|patch| patch.texts) {
            assert!(text.starts_with("SPDX-License-Identifier: GPL-2.0\n"));
        }
    }
}
