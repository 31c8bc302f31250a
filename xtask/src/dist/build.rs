//! The program of a system, and its symbols.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::command::{run, said};
use super::system::{Linker, System};

/// The profile in Cargo.toml.
const PROFILE: &str = "dist";

/// The linker that comes with the compiler, and its ways to a smaller program: addresses to correct
/// at the start as a bitmap (DT_RELR) and functions with equal code once: 2 MB in all.
const SMALL_LINK: [&str; 4] = [
    "-Clinker=rust-lld",
    "-Clink-self-contained=yes",
    "-Clink-arg=--pack-dyn-relocs=relr",
    "-Clink-arg=--icf=all",
];

/// A repository, and what is the same for all that is made of it.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) repository: PathBuf,
    pub(super) target: PathBuf,
    pub(super) version: String,
    /// The time of the last commit, seconds since 1970: that of every file handed out.
    pub(super) epoch: u64,
}

/// A program without symbols, and these.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: PathBuf,
    /// Where the format has them in a file of their own.
    pub(super) symbols: Option<PathBuf>,
}

impl Workspace {
    pub(super) fn of(repository: &Path) -> anyhow::Result<Workspace> {
        let manifest = fs::read_to_string(repository.join("Cargo.toml"))?;
        let manifest: toml::Table = toml::from_str(&manifest).context("Cargo.toml")?;
        let version = manifest["workspace"]["package"]["version"].as_str();
        let version = version.context("Cargo.toml has a version")?.to_owned();
        let time =
            said(Command::new("git").current_dir(repository).args(["log", "-1", "--format=%ct"]))?;
        let epoch = time.trim().parse().context("the time of the last commit")?;
        // A copy builds below itself, so that its paths differ.
        let is_own = std::env::var_os("CARGO_MANIFEST_DIR")
            .is_some_and(|own| Path::new(&own).starts_with(repository));
        let chosen = std::env::var_os("CARGO_TARGET_DIR").filter(|_| is_own);
        let target = chosen.map_or_else(|| repository.join("target"), PathBuf::from);
        Ok(Workspace { repository: repository.to_owned(), target, version, epoch })
    }

    /// What is handed out.
    pub(super) fn dist(&self) -> PathBuf {
        self.target.join("packages")
    }

    /// What it is made from.
    pub(super) fn work(&self) -> PathBuf {
        self.target.join("packages-work")
    }

    /// A command whose result depends on the commit alone.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.repository)
            .env("SOURCE_DATE_EPOCH", self.epoch.to_string())
            .envs([("TZ", "UTC"), ("LC_ALL", "C")]);
        command
    }
}

pub(super) fn program(workspace: &Workspace, system: &System) -> anyhow::Result<Built> {
    ensure_library(workspace, system.target)?;
    run(&mut cargo(workspace, system)?)?;
    let made = workspace.target.join(system.target).join(PROFILE).join(system.program);
    let place = workspace.work().join(format!("{}-program", system.name));
    fs::create_dir_all(&place)?;
    let program = place.join(system.program);
    let objcopy = objcopy()?;
    let symbols = place.join(format!("{}.debug", system.program));
    let has_symbols_apart = system.linker != Linker::MacOs;
    if has_symbols_apart {
        let packed = ["--only-keep-debug", "--compress-debug-sections=zlib"];
        let wanted = if system.linker == Linker::Musl { &packed[..] } else { &packed[..1] };
        run(Command::new(&objcopy).args(wanted).arg(&made).arg(&symbols))?;
    }
    let mut strip = Command::new(&objcopy);
    strip.arg("--strip-all");
    if system.linker == Linker::Musl {
        // The link is the name of the file alone, without a directory.
        strip.arg(format!("--add-gnu-debuglink={}", symbols.display()));
    }
    run(strip.arg(&made).arg(&program))?;
    Ok(Built { program, symbols: has_symbols_apart.then_some(symbols) })
}

/// The standard library for a system, from rustup where it is missing.
fn ensure_library(workspace: &Workspace, target: &str) -> anyhow::Result<()> {
    let place =
        said(workspace.command("rustc").args(["--print", "target-libdir", "--target", target]))?;
    if Path::new(place.trim()).exists() {
        return Ok(());
    }
    run(workspace.command("rustup").args(["target", "add", target]))
        .with_context(|| format!("Rust's standard library for {target} is missing"))
}

fn cargo(workspace: &Workspace, system: &System) -> anyhow::Result<Command> {
    let mut command = workspace.command("cargo");
    command.arg(if system.linker == Linker::MinGw { "build" } else { "zigbuild" });
    command.args(["--locked", "--package", "tcplab", "--profile", PROFILE]);
    command.args(["--target", system.target]).arg("--target-dir").arg(&workspace.target);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(workspace, system)?);
    command.env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0");
    Ok(command)
}

/// Flags of the compiler: no path of this machine stays in the program.
fn flags(workspace: &Workspace, system: &System) -> anyhow::Result<OsString> {
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo_home = cargo_home.or(home).context("neither CARGO_HOME nor HOME is set")?;
    // Later ones win: what was built is often below the repository.
    let mut flags = vec![
        remapped(&workspace.repository, "/tcplab"),
        remapped(&workspace.target, "/target"),
        remapped(&cargo_home, "/cargo"),
    ];
    if system.linker == Linker::Musl {
        flags.extend(SMALL_LINK.map(OsString::from));
    }
    if system.linker == Linker::MacOs {
        let frameworks = workspace.repository.join("scripts/macos");
        flags.push(OsString::from(format!("-Clink-arg=-F{}", frameworks.display())));
    }
    Ok(flags.join("\x1f".as_ref()))
}

fn remapped(from: &Path, to: &str) -> OsString {
    let mut flag = OsString::from("--remap-path-prefix=");
    flag.push(from);
    flag.push("=");
    flag.push(to);
    flag
}

/// LLVM's, which comes with the compiler and knows the formats of all systems.
fn objcopy() -> anyhow::Result<PathBuf> {
    let sysroot = said(Command::new("rustc").args(["--print", "sysroot"]))?;
    let about = said(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc -vV names its host")?;
    let place = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin/rust-objcopy");
    ensure!(place.exists(), "no {}: it comes with Rust of rustup", place.display());
    Ok(place)
}
