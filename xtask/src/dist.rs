//! What is handed out: programs for each system, archives, packages, symbols, lists of contents
//! and checksums, in `target/packages`. The same commit and tools give the same bytes.

mod archive;
mod build;
mod checksums;
mod command;
mod deb;
mod files;
mod rpm;
mod sbom;
mod system;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use build::Workspace;
use command::{run, said};
use files::{Documents, Layout};
use system::{Packages, SYSTEMS, System};

/// Builds for the systems named, or for all. `--check` builds twice, the second time from a copy
/// of the repository in another place, and compares.
pub(crate) fn make(repository: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let (flags, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|word| word.starts_with('-'));
    ensure!(flags.iter().all(|flag| *flag == "--check"), "unknown flag: {}", flags.join(" "));
    let systems = named(&names)?;
    let workspace = Workspace::of(repository)?;
    build_all(&workspace, &systems)?;
    if !flags.is_empty() {
        check(&workspace, &systems)?;
    }
    Ok(())
}

/// The systems, that of this machine first: its program writes the completions and pages of all.
fn named(names: &[&str]) -> anyhow::Result<Vec<&'static System>> {
    for name in names {
        if !SYSTEMS.iter().any(|system| system.name == *name) {
            let known: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
            bail!("no system is called `{name}`: {}", known.join(", "));
        }
    }
    let own = SYSTEMS.iter().find(|system| system.runs_here()).context(
        "the completions and pages are written by tcplab itself: this needs Linux on x86-64 or \
         aarch64",
    )?;
    let is_wanted = |it: &&System| names.is_empty() || names.contains(&it.name);
    let others = SYSTEMS.iter().filter(|system| system.name != own.name).filter(is_wanted);
    Ok(std::iter::once(own).chain(others).collect())
}

/// Every system is tried; one that fails is named at the end.
fn build_all(workspace: &Workspace, systems: &[&System]) -> anyhow::Result<()> {
    let place = workspace.dist();
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let mut documents = None;
    let mut failed = Vec::new();
    for system in systems {
        let began = Instant::now();
        match build_one(workspace, system, &mut documents) {
            Ok(bytes) => println!(
                "{}: program of {:.1} MB, {:.0} s",
                system.name,
                bytes as f64 / 1e6,
                began.elapsed().as_secs_f64()
            ),
            // Without the first there are no documents.
            Err(error) if documents.is_none() => return Err(error),
            Err(error) => {
                println!("{}: failed: {error:#}", system.name);
                failed.push(system.name);
            }
        }
    }
    checksums::write(&place)?;
    println!("{}", place.display());
    ensure!(failed.is_empty(), "not built: {}", failed.join(", "));
    Ok(())
}

/// Returns the size of the program, bytes.
fn build_one(
    workspace: &Workspace,
    system: &System,
    documents: &mut Option<Documents>,
) -> anyhow::Result<u64> {
    let built = build::program(workspace, system)?;
    if documents.is_none() {
        *documents = Some(Documents::written_by(&built.program, workspace)?);
    }
    let documents = documents.as_ref().context("they were just written")?;
    let bytes = fs::metadata(&built.program)?.len();
    let contents = sbom::write(workspace, system)?;
    let stem = format!("tcplab-{}-{}", workspace.version, system.name);
    let place = workspace.dist();
    fs::copy(&contents, place.join(format!("{stem}.cdx.json")))?;
    if let Some(symbols) = &built.symbols {
        let packed = place.join(format!("{stem}-symbols.tar.gz"));
        archive::pack_file(workspace, symbols, &packed)?;
    }
    let unpacked = workspace.work().join(&stem);
    let staged = files::stage(&unpacked, &built.program, &contents, documents, Layout::Folder)?;
    archive::pack(workspace, &staged, &place.join(format!("{stem}.{}", system.archive)))?;
    if let Some(Packages { deb, rpm }) = &system.packages {
        let root = workspace.work().join(format!("{stem}-deb"));
        let staged = files::stage(&root, &built.program, &contents, documents, Layout::Debian)?;
        deb::build(workspace, &staged, deb)?;
        let root = workspace.work().join(format!("{stem}-rpm"));
        let staged = files::stage(&root, &built.program, &contents, documents, Layout::Fedora)?;
        rpm::build(workspace, &staged, rpm)?;
    }
    Ok(bytes)
}

/// Builds the commit once more, from a copy in another place, and compares the checksums.
fn check(workspace: &Workspace, systems: &[&System]) -> anyhow::Result<()> {
    let changed = said(workspace.command("git").args(["status", "--porcelain"]))?;
    ensure!(changed.is_empty(), "commit first: the copy is made of the last commit");
    let copy = Copy::of(workspace)?;
    let again = Workspace::of(&copy.place)?;
    build_all(&again, systems)?;
    let sums = [workspace, &again].map(|it| fs::read_to_string(it.dist().join(checksums::NAME)));
    let [first, second] = sums;
    let (first, second) = (first?, second?);
    let differing: Vec<&str> =
        first.lines().filter(|line| !second.lines().any(|other| other == *line)).collect();
    ensure!(differing.is_empty(), "not the same in two builds:\n{}", differing.join("\n"));
    println!("two builds, the same bytes: {} files", first.lines().count());
    Ok(())
}

/// The last commit in another place, removed when it is dropped.
struct Copy {
    place: PathBuf,
}

impl Copy {
    fn of(workspace: &Workspace) -> anyhow::Result<Copy> {
        let place = workspace.target.join("packages-copy");
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        let copy = Copy { place };
        run(workspace
            .command("git")
            .args(["clone", "--quiet", "--depth", "1"])
            .arg(format!("file://{}", workspace.repository.display()))
            .arg(&copy.place))?;
        Ok(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.place);
    }
}
