//! Why a bisection could not be made.

use std::path::{Path, PathBuf};

use tcplab_path::tc::quoted;
use tcplab_results::Claim;
use tcplab_scenario::nearest;

use super::commit::Commit;
use crate::error::LabError;

/// Why a bisection could not be begun or finished.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant explains it")]
pub enum BisectError {
    #[error("there is no program `git`")]
    NoGit,
    #[error("{} is not a git repository: {said}", path.display())]
    NotARepository { path: PathBuf, said: String },
    #[error("git: {said}")]
    Git { said: String },
    #[error("`{name}` is no commit of {}", path.display())]
    UnknownRevision { name: String, path: PathBuf, is_shallow: bool },
    #[error("good and bad are the same commit, {0}")]
    SameCommit(String),
    #[error("neither of {good} and {bad} is an ancestor of the other")]
    NotRelated { good: String, bad: String, base: Option<Box<Commit>> },
    #[error("no commit between good and bad changes {paths}")]
    NothingToTest { paths: String },
    #[error("scenario {scenario} has no claims")]
    NoClaims { scenario: String },
    #[error("scenario {scenario} has no claim `{asked}`")]
    NoClaim { scenario: String, asked: String, known: Vec<String> },
    #[error(
        "no end of scenario {scenario} has the stack `linux`, which the tested kernel stands for"
    )]
    NoKernelUnderTest { scenario: String },
    #[error("claim `{claim}` needs {needs} trials, and there are {trials}")]
    NotJudged { claim: String, needs: u32, trials: u32 },
    #[error("{} is given as good, and a claim fails there\n{}", commit.in_words(), listed(claims))]
    NotGood { commit: Box<Commit>, claims: Vec<Claim> },
    #[error("{} is given as bad, and no claim fails there\n{}", commit.in_words(), listed(claims))]
    NotBad { commit: Box<Commit>, claims: Vec<Claim> },
    #[error("{} cannot be tested: {reason}", commit.in_words())]
    Untested { commit: Box<Commit>, reason: String },
    #[error("{} cannot be read: {what}", path.display())]
    Record { path: PathBuf, what: String },
    #[error(transparent)]
    Lab(Box<LabError>),
}

impl From<LabError> for BisectError {
    fn from(error: LabError) -> BisectError {
        BisectError::Lab(error.into())
    }
}

/// What git says of a repository that belongs to another user.
pub(super) const FOREIGN: &str = "dubious ownership";

/// A path as a shell reads it as one word.
fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// How claims went, a line each.
fn listed(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let sign = claim.outcome().sign();
        format!("  {sign} {} ({}): {}", claim.claim, claim.check, claim.found)
    };
    claims.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl BisectError {
    /// What the user can do about it, where something can be done.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            BisectError::NoGit => "apt-get install git".into(),
            // git names the command that lets it read the repository.
            BisectError::Git { said } if said.contains(FOREIGN) => {
                said.lines().find(|line| line.contains("safe.directory"))?.trim().into()
            }
            BisectError::NotARepository { .. } => "pass a clone of Linux: git clone \
                 https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git"
                .into(),
            BisectError::UnknownRevision { path, is_shallow: true, .. } => {
                format!("fetch the whole history: git -C {} fetch --unshallow", word(path))
            }
            BisectError::UnknownRevision { path, .. } => format!(
                "name a commit, a tag or a branch of it (`git -C {} tag`), or fetch it first",
                word(path)
            ),
            BisectError::SameCommit(_) => "name two commits".into(),
            BisectError::NotRelated { base: Some(base), .. } => format!(
                "use their common ancestor {} as good: --good {}",
                base.in_words(),
                base.short()
            ),
            BisectError::NotRelated { base: None, .. } => "name two commits of one history".into(),
            BisectError::NothingToTest { .. } => {
                "name files or folders as they are in the repository, such as `--path net/ipv4`"
                    .into()
            }
            BisectError::NoClaims { .. } => {
                "add an `[[expect]]` that holds at the good commit and fails at the bad one \
                 (docs/bisect.md)"
                    .into()
            }
            BisectError::NoClaim { asked, known, .. } => {
                match nearest(asked, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("one of: {}", known.join("; ")),
                }
            }
            BisectError::NoKernelUnderTest { .. } => {
                "leave `stack` out, or set it to \"linux\", at the end to be tested; the other may \
                 have \"linux-VERSION\" or a model"
                    .into()
            }
            BisectError::NotJudged { needs, .. } => format!("--trials {needs}"),
            BisectError::NotGood { claims, .. } => not_good(claims),
            BisectError::NotBad { .. } => {
                "name another bad commit, or make the claim stricter, so that it fails there".into()
            }
            BisectError::Untested { .. } => "name a commit beside it".into(),
            BisectError::Record { path, .. } => {
                format!("remove it, to begin anew: rm -r {}", word(path))
            }
            BisectError::Git { .. } => return None,
            BisectError::Lab(error) => return error.remedy(),
        })
    }

    /// Whether the user asked for it.
    pub fn is_stop(&self) -> bool {
        matches!(self, BisectError::Lab(error) if error.is_stop())
    }
}

/// The remedy where a claim fails at the good commit.
fn not_good(claims: &[Claim]) -> String {
    let held = claims.iter().find(|claim| claim.held);
    let one =
        held.map(|claim| format!(", name the claim to look at (--claim \"{}\")", claim.claim));
    format!(
        "name another good commit{}, or swap --good and --bad if the claims were repaired",
        one.unwrap_or_default()
    )
}
