//! A tree of sources that follows the commits of a repository, so that a build compiles only what
//! differs from the one before.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::store::note_patches;
use crate::cache::remove_all;
use crate::error::BuildError;
use crate::event::Event;
use crate::git::git;
use crate::manifest::DEFAULT_HZ;
use crate::process::Runner;
use crate::work::{Work, write_json};
use crate::{patches, tree};

/// In a tree: the commits whose files it may hold. More than one while files are replaced.
const COMMITS: &str = ".tcplab-commits.json";
/// From so many changed files on, the whole source is unpacked to compare with: the names would be
/// more than a command line takes.
const MANY: usize = 2000;

/// What is needed to change a tree.
pub(super) struct Checkout<'a> {
    pub(super) repository: &'a Path,
    pub(super) work: &'a Work,
    pub(super) runner: &'a Runner<'a>,
}

impl Checkout<'_> {
    /// Makes the tree that of `commit`, patched. A file with the same content keeps its time.
    pub(super) fn move_to(
        &self,
        commit: &str,
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), BuildError> {
        let tree = self.work.tree();
        let held = commits_of(&tree);
        if !self.work.has_tree() || held.is_empty() {
            return self.begin(commit, tell);
        }
        if held != [commit] {
            self.change(&held, commit, tell)?;
        }
        Ok(())
    }

    /// The first tree, or one in the place of one that cannot be used.
    fn begin(&self, commit: &str, tell: &mut dyn FnMut(Event)) -> Result<(), BuildError> {
        tell(Event::Unpacking);
        remove_all(&self.work.tree())?;
        let partial = self.work.new_tree()?;
        self.extract(commit, None, &partial)?;
        tree::check(&partial)?;
        let names = patches::apply(&partial, DEFAULT_HZ, self.runner)?;
        note_patches(&partial, &names)?;
        tell(Event::Patched { names });
        write_json(&partial.join(COMMITS), &[commit])?;
        fs::rename(&partial, self.work.tree()).map_err(BuildError::file("rename", &partial))
    }

    /// Replaces the files that differ. After an interruption the next call replaces what this one
    /// would have, and what it did.
    fn change(
        &self,
        held: &[String],
        commit: &str,
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), BuildError> {
        let mut names = BTreeSet::new();
        for from in held {
            names.extend(self.changed(from, commit)?);
        }
        tell(Event::Updating { files: names.len() as u64 });
        // Patched files differ from those of any commit.
        names.extend(patches::files().map(str::to_owned));
        let present = self.present(commit, &names)?;
        let staging = self.work.new_staging()?;
        self.extract(commit, Some(&present), &staging)?;
        let patched = patches::apply(&staging, DEFAULT_HZ, self.runner)?;
        let tree = self.work.tree();
        let both: Vec<&str> =
            held.iter().map(String::as_str).filter(|it| *it != commit).chain([commit]).collect();
        write_json(&tree.join(COMMITS), &both)?;
        for name in &names {
            replace(&staging.join(name), &tree.join(name))
                .map_err(BuildError::file("write", &tree.join(name)))?;
        }
        tree::check(&tree)?;
        note_patches(&tree, &patched)?;
        write_json(&tree.join(COMMITS), &[commit])?;
        remove_all(&staging)?;
        Ok(())
    }

    /// Names of the files that differ between two commits.
    fn changed(&self, from: &str, to: &str) -> Result<Vec<String>, BuildError> {
        self.names(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to])
    }

    /// Those of the files that the commit has.
    fn present(&self, commit: &str, of: &BTreeSet<String>) -> Result<Vec<String>, BuildError> {
        let all = self.names(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])?;
        Ok(all.into_iter().filter(|name| of.contains(name)).collect())
    }

    fn names(&self, arguments: &[&str]) -> Result<Vec<String>, BuildError> {
        let mut git = git(self.repository);
        git.args(arguments);
        let text = self.runner.output(git, "git").map_err(of_repository)?;
        Ok(text.split(['\0', '\n']).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Unpacks a commit's files, all or those of these names, as far as a build reads them.
    fn extract(
        &self,
        commit: &str,
        names: Option<&[String]>,
        into: &Path,
    ) -> Result<(), BuildError> {
        let mut archive = git(self.repository);
        archive.args(["archive", "--format=tar", "--prefix=linux/", commit]);
        match names {
            Some([]) => return Ok(()),
            Some(names) if names.len() < MANY => {
                archive.arg("--").args(names);
            }
            _ => {}
        }
        let commands = vec![archive, tree::extract_source(into)];
        self.runner.run(commands, "reading the commit's files", &mut |_| {}).map_err(of_repository)
    }
}

/// The failure of a git command: nothing that another commit would change.
fn of_repository(error: BuildError) -> BuildError {
    match error {
        BuildError::Failed { said, .. } => BuildError::Repository { said },
        other => other,
    }
}

fn commits_of(tree: &Path) -> Vec<String> {
    let text = fs::read(tree.join(COMMITS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Makes `place` what `new` is, unless it is; removes it where there is no `new`.
fn replace(new: &Path, place: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(new) else { return remove(place) };
    if is_same(new, &found, place) {
        return Ok(());
    }
    remove(place)?;
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    if found.is_symlink() {
        return symlink(fs::read_link(new)?, place);
    }
    // Copied, not moved: the time is then that of the change, as `make` needs it.
    fs::copy(new, place).map(drop)
}

fn is_same(new: &Path, found: &fs::Metadata, place: &Path) -> bool {
    let Ok(old) = fs::symlink_metadata(place) else { return false };
    if found.is_symlink() || old.is_symlink() {
        let link = |path: &Path| fs::read_link(path).ok();
        return link(new).is_some() && link(new) == link(place);
    }
    let mode = |of: &fs::Metadata| of.permissions().mode() & 0o777;
    let content = |path: &Path| fs::read(path).ok();
    old.is_file()
        && (old.len(), mode(&old)) == (found.len(), mode(found))
        && content(new).is_some_and(|new| content(place) == Some(new))
}

fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
