//! Sources of Linux: what is taken of them, and where from.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::error::BuildError;
use crate::process::Runner;

/// Architectures whose files no build of user-mode Linux reads.
const ARCHITECTURES: [&str; 20] = [
    "alpha",
    "arc",
    "arm",
    "arm64",
    "csky",
    "hexagon",
    "ia64",
    "loongarch",
    "m68k",
    "microblaze",
    "mips",
    "nds32",
    "nios2",
    "openrisc",
    "parisc",
    "powerpc",
    "riscv",
    "s390",
    "sh",
    "sparc",
];

/// Folders of drivers of which only what configures them is read.
const DRIVERS: [&str; 31] = [
    "accel",
    "bluetooth",
    "clk",
    "comedi",
    "crypto",
    "gpu",
    "hid",
    "hwmon",
    "iio",
    "infiniband",
    "input",
    "iommu",
    "media",
    "mfd",
    "mmc",
    "mtd",
    "net/can",
    "net/dsa",
    "net/ethernet",
    "net/wireless",
    "nvme",
    "phy",
    "pinctrl",
    "platform",
    "remoteproc",
    "scsi",
    "soc",
    "staging",
    "thermal",
    "usb",
    "video",
];

/// Other parts that are not read.
const OTHERS: [&str; 6] = [
    "Documentation/*/*",
    "tools/testing/*",
    "tools/perf/*",
    "sound/*.[ch]",
    "scripts/dtc/include-prefixes/*",
    "arch/xtensa/*.[chS]",
];

/// Files that a source must have.
const LANDMARKS: [&str; 3] = ["Kbuild", "arch/um/Makefile", "arch/um/kernel/time.c"];

/// Unpacks the tarball in a source package of Debian.
pub(crate) fn unpack(
    package: &Path,
    name: &str,
    into: &Path,
    runner: &Runner<'_>,
    tick: &mut dyn FnMut(),
) -> Result<(), BuildError> {
    let mut open = Command::new("dpkg-deb");
    open.arg("--fsys-tarfile").arg(package);
    let mut tarball = Command::new("tar");
    tarball.args(["-xO", &format!("./usr/src/{name}.tar.xz")]);
    let mut xz = Command::new("xz");
    xz.args(["-dc", "-T0"]);
    runner
        .run(vec![open, tarball, xz, extract_source(into)], "unpacking the source", &mut |_| tick())
}

/// Unpacks what a build reads of a source whose files stand in one folder.
pub(crate) fn extract_source(into: &Path) -> Command {
    let mut tar = extract(into);
    tar.arg("--strip-components=1").args(exclusions());
    tar
}

/// Copies a tree of the user's, which stays as it is; what was built in it is left out.
pub(crate) fn copy(
    tree: &Path,
    into: &Path,
    runner: &Runner<'_>,
    tick: &mut dyn FnMut(),
) -> Result<(), BuildError> {
    let mut pack = Command::new("tar");
    pack.arg("-cC").arg(tree).args(exclusions());
    pack.args(["--exclude=*.o", "--exclude=*.a", "--exclude=*.cmd", "--exclude=./.git"]);
    pack.args(["./.config", "./include/config", "./include/generated"].map(exclusion));
    pack.args(["./vmlinux*", "./linux", "./arch/*/include/generated"].map(exclusion));
    pack.arg(".");
    runner.run(vec![pack, extract(into)], "copying the source", &mut |_| tick())
}

fn extract(into: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["-x", "--no-same-owner", "--wildcards", "-C"]).arg(into);
    tar
}

fn exclusion(pattern: &str) -> String {
    format!("--exclude={pattern}")
}

fn exclusions() -> Vec<String> {
    let architectures = ARCHITECTURES
        .iter()
        .flat_map(|name| [format!("*/arch/{name}/*.[chS]"), format!("*/arch/{name}/*.dts*")]);
    let drivers = DRIVERS.iter().map(|name| format!("*/drivers/{name}/*.[ch]"));
    let others = OTHERS.iter().map(|pattern| format!("*/{pattern}"));
    let patterns = architectures.chain(drivers).chain(others);
    ["--wildcards".into()].into_iter().chain(patterns.map(|it| exclusion(&it))).collect()
}

/// Whether this is a source of Linux with user-mode Linux and time travel.
pub(crate) fn check(tree: &Path) -> Result<(), BuildError> {
    fs::metadata(tree).map_err(BuildError::file("open", tree))?;
    match LANDMARKS.into_iter().find(|file| !tree.join(file).is_file()) {
        Some(lacks) => Err(BuildError::NotLinux { path: tree.into(), lacks }),
        None => Ok(()),
    }
}

/// The version that the tree's Makefile states, such as `6.12.117`.
pub(crate) fn version(tree: &Path) -> Result<String, BuildError> {
    let path = tree.join("Makefile");
    let makefile = fs::read_to_string(&path).map_err(BuildError::file("read", &path))?;
    let value = |key: &str| {
        let line =
            makefile.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='));
        line.map(str::trim).unwrap_or_default()
    };
    let numbers = [value("VERSION"), value("PATCHLEVEL"), value("SUBLEVEL")].join(".");
    Ok(numbers + value("EXTRAVERSION"))
}

/// The first two numbers of a version.
pub(crate) fn major_minor(version: &str) -> (u32, u32) {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map_while(|it| it.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Hash of the names, sizes and times of a tree's sources: what changes when one is edited.
pub(crate) fn fingerprint(tree: &Path) -> Result<String, BuildError> {
    let mut hasher = blake3::Hasher::new();
    add(tree, Path::new(""), &mut hasher).map_err(BuildError::file("read", tree))?;
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

/// Folders that hold no sources, at the top of a tree.
const NO_SOURCES: [&str; 4] = [".git", "Documentation", "sound", "tools"];

fn add(root: &Path, inside: &Path, hasher: &mut blake3::Hasher) -> io::Result<()> {
    let mut entries = fs::read_dir(root.join(inside))?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, found) = (entry.file_name(), entry.metadata()?);
        let path = inside.join(&name);
        if found.is_dir() {
            let is_skipped = NO_SOURCES.iter().any(|skipped| path.as_os_str() == *skipped)
                || path.ends_with("include/generated")
                || path.ends_with("include/config");
            if !is_skipped {
                add(root, &path, hasher)?;
            }
        } else if found.is_file() && is_source(&name.to_string_lossy()) {
            let modified = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(&[0]);
            hasher.update(&found.len().to_le_bytes());
            hasher.update(&modified.as_nanos().to_le_bytes());
        }
    }
    Ok(())
}

/// How names of sources end: code, tables and scripts that code is made from.
const KINDS: [&str; 13] =
    [".c", ".h", ".S", ".tbl", ".bc", ".sh", ".pl", ".awk", ".py", ".y", ".l", ".lds", ".include"];

fn is_source(name: &str) -> bool {
    let is_made = name.starts_with('.') || name.ends_with(".mod.c");
    let is_kind = KINDS.iter().any(|ending| name.ends_with(ending));
    let is_named = |begin: &str| name.starts_with(begin);
    !is_made && (is_kind || ["Makefile", "Kbuild", "Kconfig"].into_iter().any(is_named))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn sample() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("Makefile", "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n"),
            ("Kbuild", ""),
            ("arch/um/Makefile", ""),
            ("arch/um/kernel/time.c", "int time;\n"),
            ("arch/arm64/kernel/a.c", ""),
            ("arch/arm64/Kconfig", ""),
            ("drivers/gpu/drm/x.c", ""),
            ("drivers/gpu/drm/Kconfig", ""),
            ("net/ipv4/tcp.c", "int tcp;\n"),
            ("net/ipv4/tcp.o", ""),
            (".config", ""),
            (".git/HEAD", ""),
        ] {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        tree
    }

    #[test]
    fn copy_takes_what_a_build_reads() {
        let (tree, into, stop) = (sample(), tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let log = into.path().join("log");
        copy(tree.path(), into.path(), &Runner::new(&log, &stop), &mut || {}).unwrap();
        for (name, is_there) in [
            ("Makefile", true),
            ("net/ipv4/tcp.c", true),
            ("arch/arm64/Kconfig", true),
            ("drivers/gpu/drm/Kconfig", true),
            ("arch/arm64/kernel/a.c", false),
            ("drivers/gpu/drm/x.c", false),
            ("net/ipv4/tcp.o", false),
            (".config", false),
            (".git", false),
        ] {
            assert_eq!(into.path().join(name).exists(), is_there, "{name}");
        }
    }

    #[test]
    fn version_is_the_makefiles() {
        let tree = sample();
        assert_eq!(version(tree.path()).unwrap(), "6.12.117");
        for (text, numbers) in [("6.12.117", (6, 12)), ("7.2-rc1", (7, 2)), ("next", (0, 0))] {
            assert_eq!(major_minor(text), numbers);
        }
    }

    #[test]
    fn fingerprint_changes_with_sources_only() {
        let tree = sample();
        let before = fingerprint(tree.path()).unwrap();
        fs::write(tree.path().join("net/ipv4/tcp.o"), "built").unwrap();
        fs::write(tree.path().join(".config"), "CONFIG_A=y").unwrap();
        assert_eq!(fingerprint(tree.path()).unwrap(), before);
        let mut seen = vec![before];
        for name in ["net/ipv4/tcp.c", "kernel/time/timeconst.bc", "arch/um/syscall.tbl", "a.sh"] {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "int tcp, other;\n").unwrap();
            let after = fingerprint(tree.path()).unwrap();
            assert!(!seen.contains(&after), "{name}");
            seen.push(after);
        }
    }

    #[test]
    fn other_directories_are_refused() {
        check(sample().path()).unwrap();
        let error = check(tempfile::tempdir().unwrap().path()).unwrap_err();
        assert!(matches!(error, BuildError::NotLinux { lacks: "Kbuild", .. }), "{error}");
    }
}
