//! git, which only reads.

use std::path::Path;
use std::process::Command;

/// Variables that would have git read another repository.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_COMMON_DIR",
];

/// A command of git's on the repository that a directory is part of, whatever the environment says;
/// it writes nothing beside what is asked.
pub fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    for name in FOREIGN {
        git.env_remove(name);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0").arg("--literal-pathspecs").arg("-C").arg(directory);
    git
}
