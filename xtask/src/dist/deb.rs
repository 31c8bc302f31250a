//! The package for Debian and what descends from it.

use std::fs;
use std::path::Path;

use super::build::Workspace;
use super::command::run;

/// Builds the package of what is below `root`.
pub(super) fn build(workspace: &Workspace, root: &Path, processor: &str) -> anyhow::Result<()> {
    let bytes = size(root)?;
    let control = root.join("DEBIAN");
    fs::create_dir(&control)?;
    fs::write(control.join("control"), fields(&workspace.version, processor, bytes))?;
    let to = workspace.dist().join(format!("tcplab_{}_{processor}.deb", workspace.version));
    run(workspace
        .command("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(root)
        .arg(to)
        .stdout(std::process::Stdio::null()))
}

/// The file `control` (deb-control(5)): the program is static and depends on nothing.
fn fields(version: &str, processor: &str, bytes: u64) -> String {
    format!(
        "Package: tcplab\n\
         Version: {version}\n\
         Architecture: {processor}\n\
         Maintainer: the authors of tcplab <tcplab@example.invalid>\n\
         Installed-Size: {}\n\
         Section: net\n\
         Priority: optional\n\
         Suggests: iproute2, kmod, librsvg2-bin, python3\n\
         Description: laboratory for TCP\n \
         Runs experiments on this machine's TCP and on models of others, behind\n \
         a path that it emulates; captures every packet at both ends, explains\n \
         what TCP did, and compares.\n",
        bytes.div_ceil(1024)
    )
}

/// Of all files below a directory, bytes.
fn size(directory: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { size(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_file_has_the_mandatory_fields() {
        let text = fields("1.2.3", "arm64", 2049);
        for field in ["Package: tcplab", "Version: 1.2.3", "Architecture: arm64", "Maintainer: "] {
            assert!(text.lines().any(|line| line.starts_with(field)), "{field}: {text}");
        }
        // In units of 1024 bytes, rounded up.
        assert!(text.contains("\nInstalled-Size: 3\n"), "{text}");
        // A line is a field or goes on with the one before; none is empty; the last ends.
        assert!(text.ends_with(".\n") && !text.contains("\n\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with(' ') || line.contains(": ")), "{text}");
        let (_, description) = text.split_once("Description: ").unwrap();
        assert!(description.lines().skip(1).all(|line| line.starts_with(' ')), "{text}");
    }
}
