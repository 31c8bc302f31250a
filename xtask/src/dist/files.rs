//! The files of an archive or a package, where each system looks for them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::build::Workspace;
use super::command::{run, said};

/// What the program writes of itself: completions by shell, and pages of the manual.
#[derive(Debug)]
pub(super) struct Documents {
    completions: Vec<(&'static str, String)>,
    pages: PathBuf,
    /// Of the repository: licences, README, CHANGELOG.
    texts: Vec<PathBuf>,
}

/// How the files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One folder.
    Folder,
    Debian,
    Fedora,
}

impl Documents {
    pub(super) fn written_by(program: &Path, workspace: &Workspace) -> anyhow::Result<Documents> {
        let completions = ["bash", "zsh", "fish", "powershell"].into_iter().map(|shell| {
            let script = said(Command::new(program).args(["completions", shell]))?;
            Ok((shell, script))
        });
        let completions = completions.collect::<anyhow::Result<_>>()?;
        let pages = workspace.work().join("man");
        renew(&pages)?;
        run(Command::new(program).arg("man").arg(&pages))?;
        let names = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
        let texts = names.map(|name| workspace.repository.join(name)).to_vec();
        Ok(Documents { completions, pages, texts })
    }

    fn pages(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.pages)?;
        let mut pages = entries.map(|it| Ok(it?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        pages.sort();
        Ok(pages)
    }
}

/// Makes `root` anew with all files below it; returns it.
pub(super) fn stage(
    root: &Path,
    program: &Path,
    contents: &Path,
    documents: &Documents,
    layout: Layout,
) -> anyhow::Result<PathBuf> {
    renew(root)?;
    let (programs, pages, texts) = match layout {
        Layout::Folder => ("", "man", ""),
        Layout::Debian | Layout::Fedora => {
            ("usr/bin", "usr/share/man/man1", "usr/share/doc/tcplab")
        }
    };
    let name = program.file_name().context("a program has a name")?;
    put(program, &root.join(programs).join(name), 0o755)?;
    for text in &documents.texts {
        let name = text.file_name().context("a file has a name")?;
        put(text, &root.join(texts).join(name), 0o644)?;
    }
    put(contents, &root.join(texts).join("tcplab.cdx.json"), 0o644)?;
    if layout == Layout::Debian {
        write(&root.join(texts).join("copyright"), COPYRIGHT)?;
    }
    for (shell, script) in &documents.completions {
        if let Some(place) = place_of_completion(shell, layout) {
            write(&root.join(place), script)?;
        }
    }
    for page in documents.pages()? {
        let name = page.file_name().context("a page has a name")?;
        let place = root.join(pages).join(name);
        put(&page, &place, 0o644)?;
        if layout != Layout::Folder {
            run(Command::new("gzip").args(["--best", "--no-name"]).arg(&place))?;
        }
    }
    Ok(root.to_owned())
}

/// Where a shell looks for it.
fn place_of_completion(shell: &str, layout: Layout) -> Option<&'static str> {
    Some(match (shell, layout) {
        ("bash", Layout::Folder) => "completions/tcplab.bash",
        ("zsh", Layout::Folder) => "completions/_tcplab",
        ("fish", Layout::Folder) => "completions/tcplab.fish",
        ("powershell", Layout::Folder) => "completions/tcplab.ps1",
        ("bash", _) => "usr/share/bash-completion/completions/tcplab",
        ("zsh", Layout::Debian) => "usr/share/zsh/vendor-completions/_tcplab",
        ("zsh", Layout::Fedora) => "usr/share/zsh/site-functions/_tcplab",
        ("fish", _) => "usr/share/fish/vendor_completions.d/tcplab.fish",
        _ => return None,
    })
}

/// What Debian's policy (12.5) wants in words.
const COPYRIGHT: &str = "\
tcplab is copyrighted by its authors, and the crates in it, listed in tcplab.cdx.json, by theirs.

tcplab may be used under the Apache License 2.0 or the MIT License, as you like. Their texts are in
LICENSE-APACHE and LICENSE-MIT beside this file, and the first one is also in
/usr/share/common-licenses/Apache-2.0.
";

fn put(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    make_parent(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::set_permissions(to, Permissions::from_mode(mode))?;
    Ok(())
}

fn write(to: &Path, text: &str) -> anyhow::Result<()> {
    make_parent(to)?;
    fs::write(to, text)?;
    fs::set_permissions(to, Permissions::from_mode(0o644))?;
    Ok(())
}

/// Directories are for all, whatever the umask.
fn make_parent(of: &Path) -> anyhow::Result<()> {
    let parent = of.parent().context("a file is in a directory")?;
    for directory in parent.ancestors().collect::<Vec<_>>().into_iter().rev() {
        if !directory.exists() {
            fs::create_dir(directory)?;
            fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

fn renew(directory: &Path) -> anyhow::Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    make_parent(&directory.join("."))
}
