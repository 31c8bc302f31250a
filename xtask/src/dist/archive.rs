//! Archives whose bytes depend on their files alone.

use std::path::Path;

use anyhow::Context as _;

use super::build::Workspace;
use super::command::{run, said};

/// Packs a directory, by the ending of the archive's name.
pub(super) fn pack(workspace: &Workspace, directory: &Path, to: &Path) -> anyhow::Result<()> {
    if to.extension().is_some_and(|ending| ending == "zip") {
        return zip(workspace, directory, to);
    }
    tar(workspace, directory, to)
}

/// Packs a single file.
pub(super) fn pack_file(workspace: &Workspace, file: &Path, to: &Path) -> anyhow::Result<()> {
    tar(workspace, file, to)
}

fn tar(workspace: &Workspace, what: &Path, to: &Path) -> anyhow::Result<()> {
    let (parent, name) = split(what)?;
    run(workspace
        .command("tar")
        .args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=ustar", "--use-compress-program=gzip --best --no-name"])
        .arg(format!("--mtime=@{}", workspace.epoch))
        .arg("--file")
        .arg(to)
        .arg("--directory")
        .arg(parent)
        .arg(name))
}

fn zip(workspace: &Workspace, directory: &Path, to: &Path) -> anyhow::Result<()> {
    let (parent, name) = split(directory)?;
    let listed =
        said(workspace.command("find").current_dir(parent).arg(name).args(["-type", "f"]))?;
    let mut files: Vec<&str> = listed.lines().collect();
    files.sort_unstable();
    let time = format!("--date=@{}", workspace.epoch);
    run(workspace.command("touch").current_dir(parent).arg(time).args(&files))?;
    run(workspace
        .command("zip")
        .current_dir(parent)
        .args(["--quiet", "-X", "-9"])
        .arg(to)
        .args(&files))
}

fn split(what: &Path) -> anyhow::Result<(&Path, &Path)> {
    let name = what.file_name().context("what is packed has a name")?;
    Ok((what.parent().context("what is packed is in a directory")?, Path::new(name)))
}
