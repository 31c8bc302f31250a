//! The history of a repository, read with git. Nothing is written: no ref, no index, no work tree.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use super::commit::Commit;
use super::error::{BisectError, FOREIGN};

/// Hash, author, date and subject, each on a line, as `git log` writes them.
const FORMAT: &str = "--format=%H%n%an <%ae>%n%aI%n%s";

/// A repository of git's.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that a directory is part of.
    ///
    /// # Errors
    /// If it is part of none, or there is no git.
    pub fn open(directory: &Path) -> Result<Repository, BisectError> {
        let inside = Repository { root: directory.to_owned() };
        // A bare repository has no work tree.
        for flag in ["--show-toplevel", "--absolute-git-dir"] {
            let ended = inside.run(&["rev-parse", flag])?;
            let root = lines(&ended.stdout).into_iter().find(|line| !line.is_empty());
            if let (true, Some(root)) = (ended.status.success(), root) {
                return Ok(Repository { root: root.into() });
            }
            if flag == "--absolute-git-dir" {
                let said = said(&ended);
                if said.contains(FOREIGN) {
                    return Err(BisectError::Git { said });
                }
                return Err(BisectError::NotARepository { path: directory.into(), said });
            }
        }
        unreachable!("the second flag returned")
    }

    /// Its topmost directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit of this name: a hash, a tag, a branch, or an expression as in gitrevisions(7).
    ///
    /// # Errors
    /// If there is none.
    pub fn commit(&self, name: &str) -> Result<Commit, BisectError> {
        let unknown = |is_shallow| BisectError::UnknownRevision {
            name: name.into(),
            path: self.root.clone(),
            is_shallow,
        };
        if name.is_empty() || name.starts_with('-') {
            return Err(unknown(false));
        }
        let ended =
            self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        let Some(hash) = lines(&ended.stdout).into_iter().next().filter(|_| ended.status.success())
        else {
            let shallow = self.run(&["rev-parse", "--is-shallow-repository"])?;
            return Err(unknown(shallow.stdout.starts_with(b"true")));
        };
        let found = self.log(&["--no-walk", &hash])?.pop();
        found.ok_or_else(|| unknown(false))
    }

    /// Whether the first commit is an ancestor of the second.
    ///
    /// # Errors
    /// If git fails.
    pub fn is_ancestor(&self, of: &Commit, later: &Commit) -> Result<bool, BisectError> {
        let ended = self.run(&["merge-base", "--is-ancestor", &of.hash, &later.hash])?;
        match ended.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(BisectError::Git { said: said(&ended) }),
        }
    }

    /// The nearest common ancestor of two commits, if they have one.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn common_ancestor(
        &self,
        one: &Commit,
        other: &Commit,
    ) -> Result<Option<Commit>, BisectError> {
        let ended = self.run(&["merge-base", &one.hash, &other.hash])?;
        let base = lines(&ended.stdout).into_iter().next();
        base.filter(|_| ended.status.success()).map(|hash| self.commit(&hash)).transpose()
    }

    /// The commits that `newer` has and none of `older` has, the one first that halves them best;
    /// with `paths`, those alone that change one of these files or folders.
    pub(super) fn by_distance(
        &self,
        newer: &str,
        older: &[&str],
        paths: &[String],
    ) -> Result<Vec<String>, BisectError> {
        let found = self.between(&["rev-list", "--bisect-all"], newer, older, paths)?;
        let hash = |line: String| line.split(' ').next().map(str::to_owned);
        Ok(found.into_iter().filter_map(hash).collect())
    }

    /// The commits that `newer` has and none of `older` has, newest first.
    pub(super) fn suspects(&self, newer: &str, older: &[&str]) -> Result<Vec<Commit>, BisectError> {
        let log = ["log", "--encoding=UTF-8", "--no-show-signature", FORMAT];
        Ok(commits(&self.between(&log, newer, older, &[])?))
    }

    fn between(
        &self,
        command: &[&str],
        newer: &str,
        older: &[&str],
        paths: &[String],
    ) -> Result<Vec<String>, BisectError> {
        let not: Vec<String> = older.iter().map(|hash| format!("^{hash}")).collect();
        let mut arguments = command.to_vec();
        arguments.push(newer);
        arguments.extend(not.iter().map(String::as_str));
        arguments.push("--");
        arguments.extend(paths.iter().map(String::as_str));
        self.lines(&arguments)
    }

    fn log(&self, arguments: &[&str]) -> Result<Vec<Commit>, BisectError> {
        let log = ["log", "--encoding=UTF-8", "--no-show-signature", FORMAT];
        Ok(commits(&self.lines(&[&log, arguments].concat())?))
    }

    /// Hashes of a commit's parents.
    pub(super) fn parents(&self, commit: &str) -> Result<Vec<String>, BisectError> {
        self.lines(&["rev-parse", &format!("{commit}^@")])
    }

    /// Names of the files that a commit changes; of a merge, beside its first parent.
    pub(super) fn files(&self, commit: &str) -> Result<Vec<String>, BisectError> {
        let parents = self.parents(commit)?;
        let mut arguments = vec!["diff-tree", "-r", "-z", "--name-only", "--no-commit-id"];
        match parents.first() {
            Some(parent) => arguments.extend([parent.as_str(), commit]),
            None => arguments.extend(["--root", commit]),
        }
        let text = self.answer(&arguments)?;
        let names = text.split('\0').map(str::trim).filter(|name| !name.is_empty());
        Ok(names.map(str::to_owned).collect())
    }

    fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, BisectError> {
        Ok(lines(self.answer(arguments)?.as_bytes()))
    }

    fn answer(&self, arguments: &[&str]) -> Result<String, BisectError> {
        let ended = self.run(arguments)?;
        if !ended.status.success() {
            return Err(BisectError::Git { said: said(&ended) });
        }
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, BisectError> {
        let mut git = tcplab_kernels::git(&self.root);
        let ended = git.env("LC_ALL", "C").stdin(Stdio::null()).args(arguments).output();
        ended.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => BisectError::NoGit,
            _ => BisectError::Git { said: error.to_string() },
        })
    }
}

fn commits(lines: &[String]) -> Vec<Commit> {
    let of = |four: &[String]| {
        let [hash, author, date, subject] = four else { return None };
        Some(Commit {
            hash: hash.clone(),
            author: author.clone(),
            date: date.clone(),
            subject: subject.clone(),
        })
    };
    lines.chunks(4).filter_map(of).collect()
}

/// Lines of text, empty ones among them.
fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
}

/// What git said of its failure, without the word that begins it.
fn said(ended: &Output) -> String {
    let text = String::from_utf8_lossy(&ended.stderr);
    let text = tcplab_units::visible(text.trim()).into_owned();
    text.strip_prefix("fatal: ").map(str::to_owned).unwrap_or(text)
}
