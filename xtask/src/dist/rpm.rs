//! The package for Fedora, openSUSE and what descends from them.

use std::fs;
use std::path::Path;

use super::build::Workspace;
use super::command::run;

/// Builds the package of what is below `root`.
pub(super) fn build(workspace: &Workspace, root: &Path, processor: &str) -> anyhow::Result<()> {
    let place = workspace.work().join(format!("rpm-{processor}"));
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let spec = place.join("tcplab.spec");
    fs::write(&spec, specification(&workspace.version))?;
    let defined = |name: &str, value: &str| format!("--define={name} {value}");
    run(workspace
        .command("rpmbuild")
        .args(["-bb", "--quiet"])
        .arg(format!("--target={processor}-linux"))
        .arg(defined("_topdir", &place.display().to_string()))
        .arg(defined("_rpmdir", &workspace.dist().display().to_string()))
        .arg(defined("_dbpath", &place.join("db").display().to_string()))
        .arg(defined("staged", &root.display().to_string()))
        .arg(&spec))
}

/// How the package is made: the files are there, and are packed as they are. Neither this machine's
/// name nor the time is in it.
fn specification(version: &str) -> String {
    format!(
        "%define _buildhost reproducible\n\
         %define use_source_date_epoch_as_buildtime 1\n\
         %define clamp_mtime_to_source_date_epoch 1\n\
         %define _build_name_fmt %%{{NAME}}-%%{{VERSION}}-%%{{RELEASE}}.%%{{ARCH}}.rpm\n\
         %define _build_id_links none\n\
         %define _binary_payload w9.gzdio\n\
         %global debug_package %{{nil}}\n\
         %global __os_install_post %{{nil}}\n\
         AutoReqProv: no\n\
         Name: tcplab\n\
         Version: {version}\n\
         Release: 1\n\
         Summary: Laboratory for TCP\n\
         License: Apache-2.0 OR MIT\n\
         \n\
         %description\n\
         Runs experiments on this machine's TCP and on models of others, behind\n\
         a path that it emulates; captures every packet at both ends, explains\n\
         what TCP did, and compares.\n\
         \n\
         %install\n\
         cp -a %{{staged}}/. %{{buildroot}}\n\
         \n\
         %files\n\
         %defattr(-,root,root)\n\
         /usr/bin/tcplab\n\
         /usr/share/man/man1/*\n\
         /usr/share/doc/tcplab\n\
         /usr/share/bash-completion/completions/tcplab\n\
         /usr/share/zsh/site-functions/_tcplab\n\
         /usr/share/fish/vendor_completions.d/tcplab.fish\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specification_names_version_and_every_installed_place() {
        let text = specification("1.2.3");
        assert!(text.contains("\nVersion: 1.2.3\n"), "{text}");
        let (_, files) = text.split_once("%files\n").unwrap();
        assert_eq!(files.lines().filter(|line| line.starts_with("/usr/")).count(), 6, "{files}");
        // Macros are written with one percent sign each, but in the format of the name.
        assert!(text.contains("%{nil}") && text.contains("%%{NAME}"), "{text}");
    }
}
