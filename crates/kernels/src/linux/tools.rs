//! The programs that a build needs.

use std::env;
use std::path::Path;

/// A program, and the package of Debian that has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    pub(crate) program: &'static str,
    package: &'static str,
}

const fn tool(program: &'static str, package: &'static str) -> Tool {
    Tool { program, package }
}

/// For every build.
pub(crate) const ALWAYS: [Tool; 9] = [
    tool("make", "make"),
    tool("gcc", "gcc"),
    tool("ld", "binutils"),
    tool("flex", "flex"),
    tool("bison", "bison"),
    tool("bc", "bc"),
    tool("patch", "patch"),
    tool("tar", "tar"),
    tool("perl", "perl"),
];

/// For builds from Debian's packages.
pub(crate) const PACKAGES: [Tool; 3] =
    [tool("xz", "xz-utils"), tool("apt-get", "apt"), tool("dpkg-deb", "dpkg")];

/// For builds of commits.
pub(crate) const COMMITS: [Tool; 1] = [tool("git", "git")];

/// What of these is missing on this machine.
pub(crate) fn missing(lists: &[&'static [Tool]]) -> Vec<&'static Tool> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<_> = env::split_paths(&path).collect();
    let is_missing =
        |tool: &&Tool| !places.iter().any(|place| is_program(&place.join(tool.program)));
    lists.iter().copied().flatten().filter(is_missing).collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The command that installs them.
pub(crate) fn install(tools: &[&Tool]) -> String {
    if tools.iter().any(|tool| matches!(tool.package, "apt" | "dpkg")) {
        return "build on Debian or a system made from it, or pass a tree with --source DIR".into();
    }
    let mut packages: Vec<_> = tools.iter().map(|tool| tool.package).collect();
    if packages.contains(&"gcc") {
        packages.push("libc6-dev");
    }
    format!("apt-get install {}", packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_tools_are_in_one_command() {
        let missing: Vec<&Tool> =
            ALWAYS.iter().filter(|it| matches!(it.program, "flex" | "bison" | "bc")).collect();
        assert_eq!(install(&missing), "apt-get install flex bison bc");
        let gcc: Vec<&Tool> = ALWAYS.iter().filter(|it| it.program == "gcc").collect();
        assert_eq!(install(&gcc), "apt-get install gcc libc6-dev");
    }

    #[test]
    fn without_apt_a_tree_is_the_remedy() {
        let apt: Vec<&Tool> = PACKAGES.iter().collect();
        assert!(install(&apt).contains("--source DIR"));
    }
}
