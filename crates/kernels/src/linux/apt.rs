//! Debian's source packages, by apt and without a change to the system's lists.
//!
//! A package that the machine's own suites lack is looked for in others of the same mirror. Their
//! lists go to a directory of ours, and `apt-get` is told to read only those.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BuildError;
use crate::process::Runner;

mod sources;
mod suites;

use sources::{Mirror, mirrors};
use suites::SUITES;

/// A package that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) package: String,
    pub(crate) version: String,
    /// The name that apt gives the file.
    pub(crate) file: String,
    pub(crate) bytes: u64,
    /// None for the machine's own suites.
    pub(crate) suite: Option<String>,
    /// The options that apt finds it with.
    options: Vec<String>,
}

/// Finds the package with the source of a version, such as `6.12`.
pub(crate) fn find(
    version: &str,
    work: &Path,
    runner: &Runner<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<Candidate, BuildError> {
    let package = format!("linux-source-{version}");
    tell("the machine's own suites");
    let own = options(&work.join("apt-own"))?;
    if let Ok(found) = candidate(&package, None, own, runner) {
        return Ok(found);
    }
    runner.check_stop()?;
    let mut looked = vec!["the machine's own suites".to_owned()];
    let mirrors = mirrors(&configured());
    for suite in ordered_suites(version) {
        if mirrors.is_empty() {
            break;
        }
        tell(&suite);
        match of_suite(&package, &suite, &mirrors, work, runner) {
            Ok(found) => return Ok(found),
            Err(BuildError::Failed { what, .. }) if what.starts_with(UPDATE) => {
                looked.push(format!("{suite} (its lists cannot be read)"));
            }
            Err(BuildError::Failed { .. }) => looked.push(suite),
            Err(error) => return Err(error),
        }
    }
    Err(BuildError::NoPackage { package, looked })
}

/// Downloads it into a directory; apt checks its hash. `progress` gets the bytes so far.
pub(crate) fn download(
    candidate: &Candidate,
    into: &Path,
    runner: &Runner<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<PathBuf, BuildError> {
    let file = into.join(&candidate.file);
    let name = format!("{}={}", candidate.package, candidate.version);
    let command = apt(&candidate.options, &["-qq", "download", &name], into);
    let size = || fs::metadata(&file).map_or(0, |found| found.len());
    runner.run(vec![command], "downloading the source", &mut |_| progress(size()))?;
    Ok(file)
}

/// What reading the lists of a suite is called in errors.
const UPDATE: &str = "reading the lists of";

fn of_suite(
    package: &str,
    suite: &str,
    mirrors: &[Mirror],
    work: &Path,
    runner: &Runner<'_>,
) -> Result<Candidate, BuildError> {
    let place = work.join(format!("apt-{suite}"));
    let mut options = options(&place)?;
    let (lists, list) = (place.join("lists"), place.join("sources.list"));
    let partial = lists.join("partial");
    fs::create_dir_all(&partial).map_err(BuildError::file("make", &partial))?;
    let lines: String = mirrors.iter().filter_map(|mirror| mirror.line(suite)).collect();
    fs::write(&list, lines).map_err(BuildError::file("write", &list))?;
    for (key, path) in [("Dir::State::Lists", &lists), ("Dir::Etc::SourceList", &list)] {
        options.push(format!("{key}={}", path.display()));
    }
    options.push("Dir::Etc::SourceParts=/dev/null".into());
    let update = apt(&options, &["-qq", "update"], &place);
    runner.output(update, &format!("{UPDATE} {suite}"))?;
    candidate(package, Some(suite), options, runner)
}

/// Options of apt for every call: caches in a directory of ours.
fn options(place: &Path) -> Result<Vec<String>, BuildError> {
    let cache = place.join("cache");
    let partial = cache.join("archives/partial");
    fs::create_dir_all(&partial).map_err(BuildError::file("make", &partial))?;
    let mut options = vec![
        format!("Dir::Cache={}", cache.display()),
        "Acquire::Languages=none".into(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false".into(),
    ];
    if rustix::process::geteuid().is_root() {
        // The user `_apt`, which root would become, may not write here.
        options.push("APT::Sandbox::User=root".into());
    }
    Ok(options)
}

fn apt(options: &[String], arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new("apt-get");
    command.args(options.iter().flat_map(|option| ["-o", option])).args(arguments);
    command.current_dir(directory);
    command
}

fn candidate(
    package: &str,
    suite: Option<&str>,
    options: Vec<String>,
    runner: &Runner<'_>,
) -> Result<Candidate, BuildError> {
    let command = apt(&options, &["--print-uris", "download", package], Path::new("/"));
    let printed = runner.output(command, "looking for the source")?;
    let found = printed.lines().find_map(|line| parse_candidate(line, package));
    let (file, version, bytes) = found.ok_or_else(|| BuildError::Failed {
        what: "looking for the source".into(),
        said: "apt-get named no file".into(),
        code: None,
    })?;
    let (package, suite) = (package.to_owned(), suite.map(str::to_owned));
    Ok(Candidate { package, version, file, bytes, suite, options })
}

/// File name, version and size in a line of `apt-get --print-uris`: `'URI' FILE SIZE HASH`.
fn parse_candidate(line: &str, package: &str) -> Option<(String, String, u64)> {
    let mut words = line.strip_prefix('\'')?.split_once("' ")?.1.split(' ');
    let (file, bytes) = (words.next()?, words.next()?.parse().ok()?);
    let rest = file.strip_prefix(package)?.strip_prefix('_')?.strip_suffix(".deb")?;
    let version = rest.rsplit_once('_')?.0;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-~_%".contains(c);
    let is_name = file.chars().all(is_plain);
    is_name.then(|| (file.to_owned(), version.replace("%3a", ":"), bytes))
}

/// The suites to look into, the likeliest first.
fn ordered_suites(version: &str) -> Vec<String> {
    let (likely, others): (Vec<_>, Vec<_>) =
        SUITES.iter().partition(|(_, kernel)| *kernel == Some(version));
    likely.into_iter().chain(others).map(|(suite, _)| (*suite).to_owned()).collect()
}

/// The texts of the machine's lists of sources, each with whether it is in the newer format.
fn configured() -> Vec<(bool, String)> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    files.extend(parts.map(|entry| entry.path()));
    files.sort();
    let kind = |path: &Path| match path.extension()?.to_str()? {
        "sources" => Some(true),
        "list" => Some(false),
        _ => None,
    };
    let read = |path: PathBuf| Some((kind(&path)?, fs::read_to_string(path).ok()?));
    files.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::suites::CODENAMES;
    use super::*;

    #[test]
    fn candidate_is_read_from_what_apt_prints() {
        let line = "'http://mirror.example/pool/l/linux-source-6.12_6.12.117-1~deb12u1_all.deb' \
                    linux-source-6.12_6.12.117-1~deb12u1_all.deb 153476148 SHA256:00";
        assert_eq!(
            parse_candidate(line, "linux-source-6.12"),
            Some((
                "linux-source-6.12_6.12.117-1~deb12u1_all.deb".into(),
                "6.12.117-1~deb12u1".into(),
                153_476_148
            ))
        );
        for line in [
            "",
            "E: Unable to locate package linux-source-9.9",
            "'http://mirror.example/x' ../../linux-source-6.12_1_all.deb 1 SHA256:00",
            "'http://mirror.example/x' linux-source-6.12_/../1_all.deb 1 SHA256:00",
            "'http://mirror.example/x' linux-source-6.12_1_all.deb many SHA256:00",
        ] {
            assert_eq!(parse_candidate(line, "linux-source-6.12"), None, "{line}");
        }
    }

    #[test]
    fn likeliest_suite_comes_first() {
        assert_eq!(ordered_suites("6.1")[0], "bookworm");
        assert_eq!(ordered_suites("5.10")[0], "bullseye");
        assert_eq!(ordered_suites("7.2")[0], "sid");
        assert_eq!(ordered_suites("7.2").len(), SUITES.len());
        assert!(
            SUITES
                .iter()
                .all(|(suite, _)| CODENAMES.contains(&suite.trim_end_matches("-backports")))
        );
    }
}
